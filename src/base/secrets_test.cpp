#include "base/secrets.h"

#include <gtest/gtest.h>

#include "base/input.h"
#include "base/json.h"

namespace opwright {
namespace {

// tests/fixtures/secrets.json: what the Python package is held to as well.
class Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_file(std::string(OPWRIGHT_SOURCE_DIR) + "/tests/fixtures/secrets.json", text_));
    const auto root = document_.parse(text_);
    ASSERT_TRUE(root);
    root_ = *root;
  }
  static std::vector<std::string> words(const json::Node& list) {
    std::vector<std::string> out;
    for (const json::Node& word : list) out.emplace_back(word.text);
    return out;
  }
  std::string text_;
  json::Document document_;
  const json::Node* root_ = nullptr;
};

TEST_F(Secrets, TextsAreMaskedAsTheSharedTableSays) {
  ASSERT_GT(root_->find("texts")->count, 20U);
  for (const json::Node& one : *root_->find("texts"))
    EXPECT_EQ(masked(one.items[0].text), one.items[1].text) << one.items[0].text;
}

TEST_F(Secrets, WordsAreMaskedAsTheSharedTableSays) {
  for (const json::Node& one : *root_->find("words"))
    EXPECT_EQ(masked_words(words(one.items[0])), words(one.items[1])) << one.items[0].items[0].text;
}

TEST_F(Secrets, MaskingTwiceChangesNothing) {
  for (const json::Node& one : *root_->find("texts")) EXPECT_EQ(masked(one.items[1].text), one.items[1].text);
}

TEST(SecretsOfAnyShape, AKeyInALetterIsMasked) {
  const std::string text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb";
  EXPECT_EQ(masked(text), "a\n-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nb");
}

TEST(SecretsOfAnyShape, HalfATextIsNoProblem) {
  for (const char* text : {"", "--token", "--token=", "--token='", "://", "http://a@", "-u", "-u a:", "\"token\":",
                           "\\", "token=\\", "Authorization:", "eyJ", "-----BEGIN PRIVATE KEY-----"})
    EXPECT_EQ(masked(masked(text)), masked(text)) << text;
}

}  // namespace
}  // namespace opwright
