#include "store/encoding/pack.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "base/limits.h"

namespace opwright::store {
namespace {

std::string compressed(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

TEST(Pack, TextsComeBack) {
  const std::string large(100000, 'x');
  const std::vector<std::vector<std::string_view>> lists{
      {}, {""}, {"a"}, {"a", "", "bc", ""}, {large, "é", large, std::string_view("\0\n", 2)}};
  for (const auto& texts : lists) {
    const auto opened = Unpacked::open(pack(texts));
    ASSERT_TRUE(opened);
    ASSERT_EQ(opened->size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(opened->text(i), texts[i]);
  }
}

TEST(Pack, RepeatedTextsTakeLittleRoom) {
  const std::string text = R"({"arg0": {"type": "ttnn.Tensor", "original_shape": [1, 1, 32, 64]}})";
  const std::vector<std::string_view> texts(kFormsPerPack, text);
  EXPECT_LT(pack(texts).size(), text.size() * 4);
}

TEST(Pack, OpenedTextsLiveInThePack) {
  auto opened = Unpacked::open(pack(std::vector<std::string_view>{"first", "second"}));
  const Unpacked moved = *std::move(opened);
  EXPECT_EQ(moved.text(1), "second");
}

TEST(Pack, DamagedBytesAreAnError) {
  const std::string good = pack(std::vector<std::string_view>{"one", "two", "three"});
  ASSERT_TRUE(Unpacked::open(good));
  EXPECT_FALSE(Unpacked::open(""));
  EXPECT_FALSE(Unpacked::open("not zstd at all"));
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(Unpacked::open(good.substr(0, size))) << size;
  EXPECT_EQ(Unpacked::open("x").error().code, ErrorCode::kBadInput);
}

TEST(Pack, WrongCountsAndLengthsAreAnError) {
  const auto u32 = [](std::uint32_t n) { return std::string(reinterpret_cast<const char*>(&n), 4); };
  EXPECT_TRUE(Unpacked::open(compressed(u32(1) + u32(2) + "ab")));
  EXPECT_FALSE(Unpacked::open(compressed(u32(1) + u32(3) + "ab")));  // longer than what is there
  EXPECT_FALSE(Unpacked::open(compressed(u32(1) + u32(1) + "ab")));  // bytes that belong to nobody
  EXPECT_FALSE(Unpacked::open(compressed(u32(9) + u32(2) + "ab")));  // more texts than lengths
  EXPECT_FALSE(Unpacked::open(compressed(u32(0xFFFFFFFF) + u32(2) + "ab")));
  EXPECT_FALSE(Unpacked::open(compressed(u32(2) + u32(0xFFFFFFFF) + u32(5) + "ab")));
  EXPECT_FALSE(Unpacked::open(compressed("abc")));  // not even a count
}

TEST(Pack, AnyDamageIsAnErrorOrTextsNeverACrash) {
  const std::string good = pack(std::vector<std::string_view>{"{\"arg0\": 1}", "{\"arg0\": 2}", std::string(500, 'z')});
  std::mt19937 random(5);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    // Behind the frame header: a false size in there only costs memory.
    bad[7 + random() % (bad.size() - 7)] = static_cast<char>(random());
    const auto opened = Unpacked::open(bad);
    errors += opened ? 0 : 1;
    for (std::size_t k = 0; opened && k < opened->size(); ++k) EXPECT_LE(opened->text(k).size(), 600u);
  }
  EXPECT_GT(errors, 100);
}

TEST(Pack, NoRoomIsMadeForAPackBeyondTheLimit) {
  const std::string packed = compressed(std::string(1'000'000, '\0'));
  const ScopedLimits small({.document = 100'000});
  const auto refused = Unpacked::open(packed);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--max-document"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace opwright::store
