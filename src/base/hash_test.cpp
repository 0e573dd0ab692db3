#include "base/hash.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/stream_sha256.h"

namespace opwright {
namespace {

TEST(Hash, KnownValues) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string_view())), to_hex(sha256("")));
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("größe"), "fdbb3a56280acfa9031707622c599ccb");
  EXPECT_EQ(to_hex(xxh128("")), "99aa06d3014798d86001c324468d497f");  // of the specification of XXH3
  EXPECT_EQ(xxh64(""), 0x2d06800538d394c2u);
}

TEST(Hash, ASeedGivesAnotherHash) {
  EXPECT_EQ(xxh128("abc", 0), xxh128("abc"));
  EXPECT_NE(xxh128("abc", 1), xxh128("abc"));
  EXPECT_NE(xxh128("abc", 1), xxh128("abc", 2));
}

TEST(Hash, HexIsMostSignificantFirst) {
  EXPECT_EQ(to_hex(Hash128{0x0102030405060708, 0x090a0b0c0d0e0fff}), "0102030405060708090a0b0c0d0e0fff");
  const std::uint8_t bytes[] = {0x00, 0xf0, 0x0f};
  EXPECT_EQ(to_hex(bytes, 3), "00f00f");
  EXPECT_EQ(to_hex(bytes, 0), "");
}

TEST(Hash, HexIsReadBack) {
  Sha256 hash{};
  const std::string text = to_hex(sha256("abc"));
  ASSERT_TRUE(from_hex(text, hash));
  EXPECT_EQ(hash, sha256("abc"));
  std::string upper = text;
  upper[0] = 'B';
  EXPECT_FALSE(from_hex(upper, hash));  // lower case only: the files have nothing else
  EXPECT_FALSE(from_hex(text.substr(1), hash));
  EXPECT_FALSE(from_hex(text + "0", hash));
  EXPECT_FALSE(from_hex(std::string(63, '0') + "g", hash));
  EXPECT_FALSE(from_hex("", hash));
}

TEST(Hash, PiecesMakeTheHashOfTheWhole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "piece " + std::to_string(i);
  for (const std::size_t step : {1u, 7u, 255u, 256u, 1024u, 100000u}) {
    StreamHash hash;
    for (std::size_t at = 0; at < text.size(); at += step) hash.add(std::string_view(text).substr(at, step));
    EXPECT_EQ(hash.digest(), xxh128(text)) << step;
    EXPECT_EQ(hash.digest(), xxh128(text)) << "asking changes nothing";
  }
  EXPECT_EQ(StreamHash().digest(), xxh128(""));
}

TEST(Hash, Sha256InPieces) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "piece " + std::to_string(i);
  for (const std::size_t step : {1u, 63u, 64u, 65u, 100000u}) {
    StreamSha256 hash;
    for (std::size_t at = 0; at < text.size(); at += step) hash.add(std::string_view(text).substr(at, step));
    EXPECT_EQ(hash.digest(), sha256(text)) << step;
  }
  EXPECT_EQ(StreamSha256().digest(), sha256(""));
}

TEST(Hash, ThreadsDoNotDisturbEachOther) {
  const std::string text(10000, 'x');
  const Sha256 expected = sha256(text);
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (int& count : wrong) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) count += sha256(text) == expected && md5_hex("") != md5_hex("x") ? 0 : 1;
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace opwright
