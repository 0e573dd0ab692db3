#include "base/limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <set>
#include <thread>

#include "base/input.h"
#include "base/json.h"
#include "base/json_memory.h"
#include "base/test_folder.h"

namespace opwright {
namespace {

std::string read(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return "error: " + input.error().message;
  const auto text = std::move(*input).read_all();
  return text ? std::string(text->view()) : "error: " + text.error().message;
}

std::string last_line(const std::string& path) {
  auto input = Input::open(path);
  EXPECT_TRUE(input);
  std::string last;
  while (true) {
    const auto line = input->next_line();
    if (!line) return "error: " + line.error().message;
    if (!*line) return last;
    last = **line;
  }
}

std::string gzip(std::size_t zeros) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string plain(zeros, ' '), packed(deflateBound(&stream, zeros) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// A zstd frame of `blocks` blocks that repeat one byte: four bytes that mean 128 KiB.
std::string zstd_bomb(std::size_t blocks) {
  std::string frame("\x28\xb5\x2f\xfd\x00\x58", 6);  // no checksum, no size, a window of 2 MiB
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::uint32_t head = (i + 1 == blocks ? 1U : 0U) | 1U << 1U | (128U * 1024U) << 3U;
    frame += {static_cast<char>(head), static_cast<char>(head >> 8U), static_cast<char>(head >> 16U), ' '};
  }
  return frame;
}

TEST(Limits, SizesAreReadWithTheirUnits) {
  const LimitFlag& size = kLimitFlags[0];
  EXPECT_EQ(*parse_limit("512", size), 512u);
  EXPECT_EQ(*parse_limit("64k", size), 64u << 10);
  EXPECT_EQ(*parse_limit("500M", size), 500u << 20);
  EXPECT_EQ(*parse_limit("2GiB", size), std::uint64_t{2} << 30);
  EXPECT_EQ(*parse_limit("1T", size), std::uint64_t{1} << 40);
  for (const char* wrong : {"", "0", "-1", "x", "1X", "1.5G", "99999999999T", "1 G", "0x10", "G"}) {
    const auto parsed = parse_limit(wrong, size);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
    EXPECT_NE(parsed.error().message.find("--max-document"), std::string::npos);
  }
}

TEST(Limits, EachHasAFlagAndTheirDefaultsAreInTheHelp) {
  std::set<std::string_view> flags;
  for (const LimitFlag& flag : kLimitFlags) {
    flags.insert(flag.flag);
    const std::size_t at = flag.help.find("default ");
    ASSERT_NE(at, std::string_view::npos) << flag.flag;
    const std::string_view shown = flag.help.substr(at + 8, flag.help.find_first_of(",)", at) - at - 8);
    EXPECT_EQ(*parse_limit(shown, flag), Limits{}.*flag.limit) << flag.flag;
  }
  EXPECT_EQ(flags.size(), sizeof(Limits) / sizeof(std::uint64_t));
  EXPECT_FALSE(parse_limit("1001", kLimitFlags[5]));  // --max-depth: the stack is what it is
}

TEST(Limits, AMessageNamesPlaceLimitAndFlag) {
  EXPECT_EQ(over_limit("x.json", &Limits::line, "a line of 3 GiB").message,
            "x.json: a line of 3 GiB; the limit is 64 MiB (--max-line raises it)");
  EXPECT_EQ(size_words(1), "1 byte");
  EXPECT_EQ(size_words(1536), "1.5 KiB");
  EXPECT_EQ(size_words(std::uint64_t{1} << 30), "1 GiB");
}

TEST(InputLimits, ADocumentBeyondTheLimitIsAnErrorHoweverItComes) {
  const TestFolder folder;
  const ScopedLimits small({.document = 100'000});
  EXPECT_EQ(read(folder.write("fits", std::string(100'000, 'x'))), std::string(100'000, 'x'));
  for (const auto& [name, content] : {std::pair{"plain", std::string(100'001, ' ')},
                                      {"gz", gzip(100'001)},
                                      {"zst", zstd_bomb(1)},
                                      {"members", gzip(60'000) + gzip(60'000)}}) {
    const std::string message = read(folder.write(name, content));
    EXPECT_TRUE(message.starts_with("error: " + folder.file(name) + ": one document of ")) << message;
    EXPECT_TRUE(message.ends_with("; the limit is 97.7 KiB (--max-document raises it)")) << message;
  }
}

TEST(InputLimits, APackedFileStopsAtItsRatio) {
  const TestFolder folder;
  const std::string path = folder.write("bomb.zst", zstd_bomb(48'000));  // 192 kB that mean 6.3 GB
  const std::string message = read(path);
  EXPECT_TRUE(message.starts_with("error: " + path + ": 187.5 KiB unpack to ")) << message;
  EXPECT_TRUE(message.ends_with("the limit is 500 (--max-ratio raises it)")) << message;
  EXPECT_NE(last_line(path).find("--max-line"), std::string::npos);
}

TEST(InputLimits, PackedDataThatGivesNothingEndsToo) {
  const TestFolder folder;
  const ScopedLimits small({.total = 100'000});
  std::string empty;
  while (empty.size() < 150'000) empty += gzip(0);
  std::string skipped;  // frames that a reader must skip
  while (skipped.size() < 150'000) skipped += std::string("\x50\x2a\x4d\x18\x04\x00\x00\x00skip", 12);
  for (const std::string& content : {empty, zstd_bomb(1).substr(0, 6) + "\x01" + std::string(2, '\0') + skipped}) {
    const std::string message = read(folder.write("t", content));
    EXPECT_NE(message.find("of packed data and more; the limit is 97.7 KiB (--max-total"), std::string::npos)
        << message;
  }
}

TEST(InputLimits, ALineBeyondTheLimitIsAnErrorAndTheLinesBeforeItWereGiven) {
  const TestFolder folder;
  const ScopedLimits small({.line = 1'000'000});
  EXPECT_EQ(last_line(folder.write("fits", "a\n" + std::string(900'000, 'x') + "\nb")), "b");
  const std::string path = folder.write("long", "a\n" + std::string(3'000'000, 'x') + "\nb");
  const std::string message = last_line(path);
  EXPECT_TRUE(message.starts_with("error: " + path + ": the line at byte 2 has ")) << message;
  EXPECT_TRUE(message.ends_with("the limit is 976.6 KiB (--max-line raises it)")) << message;
}

TEST(InputLimits, AnInputIsReadByLinesUpToItsTotal) {
  const TestFolder folder;
  const ScopedLimits small({.total = 1'000'000});
  std::string text;
  while (text.size() < 2'000'000) text += "a line\n";
  const std::string message = last_line(folder.write("t", text));
  EXPECT_TRUE(message.ends_with("the limit is 976.6 KiB (--max-total raises it)")) << message;
}

TEST(InputLimits, OnlyRegularFilesOfAFolderAreOpened) {
  const TestFolder folder;
  const std::string fifo = folder.file("fifo"), link = folder.file("link");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(symlink("/dev/zero", link.c_str()), 0);
  EXPECT_EQ(Input::open(fifo, Input::Take::kRegular).error().message, fifo + ": a FIFO, not a regular file");
  EXPECT_EQ(Input::open(link, Input::Take::kRegular).error().message, link + ": a device, not a regular file");
  EXPECT_EQ(Input::open(folder.path(), Input::Take::kRegular).error().message,
            folder.path() + ": a folder, not a regular file");
  std::string text;
  EXPECT_EQ(read_file(fifo, text).error().message, fifo + ": a FIFO, not a regular file");
  EXPECT_EQ(read_file(link, text).error().message, link + ": a device, not a regular file");
  const ScopedLimits small({.document = 100'000});
  EXPECT_TRUE(read_file(folder.write("fits", std::string(100'000, 'x')), text));
  EXPECT_NE(read_file(folder.write("large", std::string(100'001, 'x')), text).error().message.find("--max-document"),
            std::string::npos);
}

TEST(InputLimits, AnEndlessDeviceThatWasNamedEnds) {
  const ScopedLimits small({.document = 1'000'000, .line = 1'000'000});
  EXPECT_NE(read("/dev/zero").find("--max-document"), std::string::npos);
  EXPECT_NE(last_line("/dev/zero").find("--max-line"), std::string::npos);
  auto input = Input::open("/dev/zero");
  EXPECT_NE(input->spool(&Limits::document).error().message.find("--max-document"), std::string::npos);
}

TEST(Input, ATextIsACopyOfItsFile) {
  const TestFolder folder;
  const std::string content(1'000'000, 'x'), path = folder.write("t", content);
  auto input = Input::open(path);
  const auto text = std::move(*input).read_all();
  ASSERT_TRUE(text);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);  // a mapped file would end us with a signal
  EXPECT_TRUE(text->view() == content);
  folder.write("t", std::string(1'000'000, 'y'));
  EXPECT_TRUE(text->view() == content);
}

TEST(Input, AFileThatIsWrittenWhileItIsReadIsNoDocument) {
  const TestFolder folder;
  for (const off_t size : {0, 500'000, 2'000'000}) {
    const std::string path = folder.write("t", std::string(1'000'000, 'x'));
    auto input = Input::open(path);
    ASSERT_TRUE(input->peek(10));
    ASSERT_EQ(truncate(path.c_str(), size), 0);
    const auto text = std::move(*input).read_all();
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message, path + ": somebody wrote it while it was read; try again when it is done");
    auto lines = Input::open(folder.write("t", std::string(1'000'000, 'x')));
    ASSERT_TRUE(lines->peek(10));
    ASSERT_EQ(truncate(path.c_str(), size), 0);
    const auto line = lines->next_line();
    EXPECT_EQ(line.has_value(), size > 1'000'000);
    EXPECT_TRUE(line || line.error().message.find("became shorter while it was read") != std::string::npos);
  }
  const std::string path = folder.write("t", "as it was");
  auto input = Input::open(path);
  ASSERT_TRUE(input->peek(1));
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_TRUE(std::move(*input).read_all(Input::Changes::kAllowed));  // a trace of a running program
}

TEST(Input, AStreamIsSpooledAndReadAsAFileIs) {
  const TestFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + "\n";
  const std::jthread writer([&] {
    FILE* pipe = fopen(path.c_str(), "wb");
    fwrite(text.data(), 1, text.size(), pipe);
    fclose(pipe);
  });
  auto input = Input::open(path);
  ASSERT_TRUE(input);
  EXPECT_TRUE(input->is_stream());
  EXPECT_EQ(*input->peek(4), "0\n1\n");
  ASSERT_TRUE(input->spool(&Limits::total));
  EXPECT_FALSE(input->is_stream());
  EXPECT_EQ(*input->peek(4), "0\n1\n");
  EXPECT_TRUE(std::move(*input).read_all()->view() == text);
  EXPECT_EQ(folder.entries(), 1u);  // what it was kept in has no name
}

TEST(InputLines, BlankLinesAreTakenTogether) {
  const TestFolder folder;
  auto input = Input::open(folder.write("t", "a\n\n\n \r\n\nb\n  c\n\n"));
  EXPECT_EQ(**input->next_line(), "a");
  EXPECT_EQ(input->blank_lines(), "\n\n \r\n\n");
  EXPECT_EQ(input->blank_lines(), "");
  EXPECT_EQ(**input->next_line(), "b");
  EXPECT_EQ(input->line_offset(), 8u);
  EXPECT_EQ(input->blank_lines(), "");
  EXPECT_EQ(**input->next_line(), "  c");
  EXPECT_EQ(input->blank_lines(), "\n");
  EXPECT_FALSE(*input->next_line());
}

TEST(JsonLimits, DepthCanBeRaised) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  json::Document document;
  const auto refused = document.parse(nested(300));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "nested more than 256 levels deep; the limit is 256 (--max-depth raises it)");
  EXPECT_TRUE(refused.error().too_deep);
  const ScopedLimits deep({.depth = kDeepestJson});
  EXPECT_TRUE(document.parse(nested(1000)));
  EXPECT_FALSE(document.parse(nested(1002)));
  EXPECT_FALSE(document.parse(std::string(1'000'000, '[')));
}

TEST(JsonLimits, WhatParsingTakesIsLimitedToo) {
  std::string ones = "[1";
  for (int i = 0; i < 500'000; ++i) ones += ",1";
  ones += ']';
  std::string objects = "[{}";
  for (int i = 0; i < 500'000; ++i) objects += ",{}";
  objects += ']';
  json::Document document;
  EXPECT_TRUE(document.parse(ones));
  const ScopedLimits small({.document = 16 << 20});
  for (const std::string& text : {ones, objects}) {  // a megabyte of text, 24 megabytes of values
    const auto parsed = document.parse(text);
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().what.find("more values than memory is meant for; the limit is 16 MiB (--max-document"),
              std::string::npos)
        << parsed.error().what;
  }
  const auto large = document.parse("\"" + std::string(20 << 20, 'x') + "\"");
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().what.find("20.0 MiB of JSON in one piece"), std::string::npos) << large.error().what;
  EXPECT_TRUE(document.parse("[1,2]"));  // the room of a large one is not held against the next
}

TEST(JsonLimits, TheIndexIsNeverEstimatedTooSmall) {
  EXPECT_EQ(json::index_bytes(std::string(100, '[')), 404u);
  EXPECT_GE(json::index_bytes("{\"a\": [1, 2, true]}"), 4u * 11);
  EXPECT_LE(json::index_bytes("{\"a\": \"" + std::string(1000, 'x') + "\"}"), 4u * 12);
  const ScopedLimits small({.document = 1000});
  EXPECT_TRUE(json::check_index(std::string(300, '['), "x"));
  EXPECT_FALSE(json::check_index(std::string(500, '['), "x"));
  EXPECT_TRUE(json::check_index(std::string(900, 'x'), "x"));
}

}  // namespace
}  // namespace opwright
