#include "base/read_ahead.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace opwright {
namespace {

namespace fs = std::filesystem;

class ReadAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "read_ahead_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::size_t i) const { return folder_ + "/" + std::to_string(i); }
  void write(std::size_t i, const std::string& text) const { std::ofstream(path(i)) << text; }

  std::string folder_;
};

TEST_F(ReadAheadTest, FilesComeInOrderWhateverTheirNumberAndSize) {
  const std::size_t kMost = 3 * ReadAhead::kLotFiles + 5;
  for (std::size_t i = 0; i < kMost; ++i) write(i, std::to_string(i) + std::string(i % 7 == 0 ? 200'000 : i % 11, 'x'));
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, ReadAhead::kLotFiles, ReadAhead::kLotFiles + 1, kMost}) {
    ReadAhead files(count, [this](std::size_t i) { return path(i); });
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(files.next(text)) << i << " of " << count;
      EXPECT_EQ(text, std::to_string(i) + std::string(i % 7 == 0 ? 200'000 : i % 11, 'x')) << i << " of " << count;
    }
  }
}

TEST_F(ReadAheadTest, OneThatCannotBeReadIsToldInItsPlace) {
  const std::size_t count = 2 * ReadAhead::kLotFiles;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 10 != 3) write(i, std::to_string(i));
  }
  ReadAhead files(count, [this](std::size_t i) { return path(i); });
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const Status read = files.next(text);
    EXPECT_EQ(read.has_value(), i % 10 != 3) << i;
    if (read)
      EXPECT_EQ(text, std::to_string(i));
    else
      EXPECT_NE(read.error().message.find(path(i)), std::string::npos) << read.error().message;
  }
}

TEST_F(ReadAheadTest, WhoeverStopsEarlyDoesNotWait) {
  const std::size_t count = 20 * ReadAhead::kLotFiles;
  for (std::size_t i = 0; i < count; ++i) write(i, "x");
  std::string text;
  {
    ReadAhead files(count, [this](std::size_t i) { return path(i); });
    ASSERT_TRUE(files.next(text));
  }
  {
    const ReadAhead unused(count, [this](std::size_t i) { return path(i); });
  }
  EXPECT_EQ(text, "x");
}

}  // namespace
}  // namespace opwright
