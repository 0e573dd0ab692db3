#include "base/input.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "base/test_folder.h"

namespace opwright {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the program `zstd` does
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

// Does not compress well, so that packed texts are larger than the reader's chunks.
std::string noise(std::size_t bytes) {
  std::string text;
  std::uint64_t state = 88172645463325252u;
  while (text.size() < bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text += static_cast<char>(state % 61 == 0 ? '\n' : 'A' + state % 57);
  }
  return text;
}

// The whole text, or "error: …".
std::string read(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return "error: " + input.error().message;
  const auto text = std::move(*input).read_all();
  return text ? std::string(text->view()) : "error: " + text.error().message;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  auto input = Input::open(path);
  EXPECT_TRUE(input);
  while (true) {
    const auto line = input->next_line();
    if (!line) {
      lines.push_back("error: " + line.error().message);
      return lines;
    }
    if (!*line) return lines;
    lines.emplace_back(**line);
  }
}

TEST(Input, ReadsPlainAndPackedTextsAlike) {
  const TestFolder folder;
  for (const std::size_t size : {0u, 1u, 3u, 4096u, 262144u, 1000000u}) {
    const std::string text = noise(size).substr(0, size);
    EXPECT_TRUE(read(folder.write("plain", text)) == text) << size;
    EXPECT_TRUE(read(folder.write("any_name", gzip(text))) == text) << size;
    EXPECT_TRUE(read(folder.write("zstd.json", zstd(text))) == text) << size;
  }
}

TEST(Input, ReadsEveryMemberOfAPackedFile) {
  const TestFolder folder;
  const std::string a = noise(300000), b = "one line\n", c = noise(700000);
  EXPECT_TRUE(read(folder.write("a.gz", gzip(a) + gzip("") + gzip(b) + gzip(c))) == a + b + c);
  EXPECT_TRUE(read(folder.write("a.zst", zstd(a) + zstd("") + zstd(b) + zstd(c))) == a + b + c);
  EXPECT_EQ(read(fixture_path("compressed/ops.jsonl.gz")), fixture("jsonl/ops.jsonl"));
  EXPECT_EQ(read(fixture_path("compressed/ops.jsonl.zst")), fixture("jsonl/ops.jsonl"));
}

TEST(Input, ACutOrDamagedPackedFileIsAnError) {
  const TestFolder folder;
  for (const std::string& whole : {gzip(noise(5000)), zstd(noise(5000))}) {
    for (const std::size_t keep : {whole.size() - 1, whole.size() / 2, std::size_t{5}}) {
      const std::string path = folder.write("cut", whole.substr(0, keep));
      EXPECT_EQ(read(path), "error: " + path + ": the compressed data is cut; get the file again");
    }
    std::string damaged = whole;
    damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
    EXPECT_EQ(read(folder.write("damaged", damaged)).substr(0, 6), "error:");
    EXPECT_EQ(read(folder.write("second_cut", whole + whole.substr(0, 30))).substr(0, 6), "error:");
  }
}

TEST(Input, WhatCannotBeOpenedSaysSo) {
  const TestFolder folder;
  const auto missing = Input::open(folder.file("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("missing: cannot open"), std::string::npos);
  const auto directory = Input::open(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, ErrorCode::kIo);
}

TEST(Input, PeekConsumesNothing) {
  const TestFolder folder;
  const std::string text = noise(600000);
  for (const std::string& content : {text, gzip(text), zstd(text)}) {
    auto input = Input::open(folder.write("t", content));
    ASSERT_TRUE(input);
    EXPECT_EQ(*input->peek(5), text.substr(0, 5));
    EXPECT_TRUE(*input->peek(300000) == text.substr(0, 300000));
    EXPECT_EQ(*input->peek(2), text.substr(0, 2));
    EXPECT_TRUE(std::move(*input).read_all()->view() == text);
  }
  auto small = Input::open(folder.write("small", "ab"));
  EXPECT_EQ(*small->peek(100), "ab");
  EXPECT_EQ(**small->next_line(), "ab");
}

TEST(Input, AWholeTextHasReadableBytesBehindIt) {
  const TestFolder folder;
  for (const std::size_t size : {1u, 4096u, 8191u}) {
    for (const std::string& content : {std::string(size, 'x'), gzip(std::string(size, 'x'))}) {
      auto input = Input::open(folder.write("t", content));
      const auto text = std::move(*input).read_all();
      ASSERT_EQ(text->view().size(), size);
      int sum = 0;
      for (std::size_t i = 0; i < 64; ++i) sum += text->view().data()[size + i];  // the sanitizer judges
      EXPECT_EQ(sum, 0);
      EXPECT_EQ(text->view(), std::string(size, 'x'));
    }
  }
}

TEST(InputLines, LineEndsAndTheLastLine) {
  const TestFolder folder;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(folder.write("a", "")), Lines{});
  EXPECT_EQ(lines_of(folder.write("b", "\n")), Lines{""});
  EXPECT_EQ(lines_of(folder.write("c", "x\n\ny")), (Lines{"x", "", "y"}));
  EXPECT_EQ(lines_of(folder.write("d", "x\r\ny\n")), (Lines{"x\r", "y"}));
}

TEST(InputLines, LongLinesCrossChunks) {
  const TestFolder folder;
  std::vector<std::string> lines;
  std::string text;
  for (const std::size_t size : {10u, 262143u, 262144u, 0u, 262145u, 900000u, 1u}) {
    lines.emplace_back(size, static_cast<char>('a' + lines.size()));
    text += lines.back() + "\n";
  }
  for (const std::string& content : {text, gzip(text), zstd(text)}) {
    auto input = Input::open(folder.write("t", content));
    std::size_t offset = 0;
    for (const std::string& expected : lines) {
      const auto line = input->next_line();
      ASSERT_TRUE(line && *line);
      EXPECT_TRUE(**line == expected) << expected.size();
      EXPECT_EQ(input->line_offset(), offset);
      offset += expected.size() + 1;
    }
    EXPECT_FALSE(*input->next_line());
    EXPECT_FALSE(*input->next_line());  // the end stays the end
    EXPECT_EQ(input->bytes_read(), text.size());
  }
}

TEST(InputLines, LinesBeforeACutAreGiven) {
  const TestFolder folder;
  const std::string whole = gzip("first\nsecond\n");
  const auto lines = lines_of(folder.write("t", gzip("zero\n") + whole.substr(0, whole.size() - 4)));
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.front(), "zero");
  EXPECT_EQ(lines.back().substr(0, 6), "error:");
}

TEST(Input, APipeMayGiveTheMagicNumberInPieces) {
  const TestFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string packed = gzip("through a pipe");
  const std::jthread writer([&] {
    FILE* pipe = fopen(path.c_str(), "wb");
    for (const char c : packed) {
      fwrite(&c, 1, 1, pipe);
      fflush(pipe);
    }
    fclose(pipe);
  });
  EXPECT_EQ(read(path), "through a pipe");
}

TEST(ReadFile, ReplacesTheBufferWhateverItHeld) {
  const TestFolder folder;
  std::string buffer(50000, 'o');
  ASSERT_TRUE(read_file(folder.write("small", "new"), buffer));
  EXPECT_EQ(buffer, "new");
  const std::string large = noise(100000);
  ASSERT_TRUE(read_file(folder.write("large", large), buffer));
  EXPECT_TRUE(buffer == large);
  ASSERT_TRUE(read_file(folder.write("empty", ""), buffer));
  EXPECT_EQ(buffer, "");
  EXPECT_EQ(read_file(folder.file("missing"), buffer).error().code, ErrorCode::kIo);
}

TEST(WriteAtomically, WritesReplacesAndLeavesNothingBeside) {
  const TestFolder folder;
  const std::string path = folder.file("out.json");
  ASSERT_TRUE(write_atomically(path, "first"));
  ASSERT_TRUE(write_atomically(path, "second, longer"));
  EXPECT_EQ(content_of(path), "second, longer");
  ASSERT_TRUE(write_atomically(path, ""));
  EXPECT_EQ(content_of(path), "");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteAtomically, AFailedWriteKeepsTheOldFile) {
  const TestFolder folder;
  const std::string path = folder.write("out.json", "old");
  const auto missing = write_atomically(folder.file("no/such/folder/out.json"), "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_FALSE(write_atomically(folder.path(), "x"));  // a folder
  // A limit on the size of files stands for a full disk.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100000, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = write_atomically(path, std::string(300000, 'n'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(full);
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(folder.entries(), 1u);  // no temporary stays
}

TEST(WriteAtomically, ADeviceIsWrittenNotReplaced) {
  ASSERT_TRUE(write_atomically("/dev/null", "gone"));
  const auto full = write_atomically("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
  struct stat info{};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(WriteAtomically, ALinkIsFollowed) {
  const TestFolder folder;
  const std::string target = folder.write("target", "old");
  ASSERT_EQ(symlink(target.c_str(), folder.file("link").c_str()), 0);
  ASSERT_TRUE(write_atomically(folder.file("link"), "new"));
  EXPECT_EQ(content_of(target), "new");
}

}  // namespace
}  // namespace opwright
