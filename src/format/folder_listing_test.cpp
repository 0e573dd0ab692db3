#include "format/folder_listing.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/test_folder.h"
#include "format/read_trace.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

constexpr std::string_view kLine = R"({"op_name": "ttnn.relu", "inputs": [1], "kwargs": {}})"
                                   "\n";

void make_socket(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(fd);
}

// A folder of everything a file system has; reading it must not wait for anybody.
void fill(const TestFolder& folder, const std::string& record) {
  const std::string outside = folder.write("outside", kLine);
  folder.write("in/a.jsonl", kLine);
  folder.write("in/" + record, R"({"operation_name": "ttnn.relu", "args": []})");
  ASSERT_EQ(symlink(outside.c_str(), folder.file("in/linked.jsonl").c_str()), 0);
  ASSERT_EQ(symlink("..", folder.file("in/up").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", folder.file("in/gone.jsonl").c_str()), 0);
  ASSERT_EQ(symlink("self.jsonl", folder.file("in/self.jsonl").c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", folder.file("in/zero.jsonl").c_str()), 0);
  ASSERT_EQ(mkfifo(folder.file("in/1_fifo.json").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(folder.file("in/fifo.jsonl").c_str(), 0600), 0);
  make_socket(folder.file("in/s.json"));
}

TEST(FolderListing, WhatIsNoRegularFileIsCountedByItsKind) {
  const TestFolder folder;
  fill(folder, "b.json");
  TestSink sink;
  const Status read = read_trace(folder.file("in"), {}, sink);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(sink.calls.size(), 3u);  // two files and a link to one
  EXPECT_EQ(sink.left_out.at("FIFOs"), 2u);
  EXPECT_EQ(sink.left_out.at("sockets"), 1u);
  EXPECT_EQ(sink.left_out.at("devices"), 1u);
  EXPECT_EQ(sink.left_out.at("links to folders"), 1u);
  EXPECT_EQ(sink.left_out.at("links that lead nowhere"), 2u);
}

TEST(FolderListing, TheSameInAPerOpFolder) {
  const TestFolder folder;
  fill(folder, "2_ttnn_relu_x.json");
  ASSERT_EQ(symlink("/dev/zero", folder.file("in/3_zero_x.json").c_str()), 0);
  ASSERT_EQ(mkfifo(folder.file("in/_trace_metadata.json").c_str(), 0600), 0);
  TestSink sink;
  const Status read = read_trace(folder.file("in"), {}, sink);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.left_out.at("FIFOs"), 3u);
  EXPECT_EQ(sink.left_out.at("devices"), 2u);
  EXPECT_EQ(sink.lost_kinds(), "unreadable_file");  // the metadata
}

TEST(FolderListing, AFolderOfTooManyFilesIsAnError) {
  const TestFolder folder;
  for (const char* name : {"in/a.jsonl", "in/b.jsonl", "in/more/c.jsonl", "in/more/d.jsonl"}) folder.write(name, kLine);
  for (const auto& [most, fits] : {std::pair{2u, false}, {4u, false}, {5u, true}}) {
    const ScopedLimits small({.files = most});
    TestSink sink;
    const Status read = read_trace(folder.file("in"), {}, sink);
    EXPECT_EQ(read.has_value(), fits) << most;
    if (!read) {
      EXPECT_NE(read.error().message.find("--max-files"), std::string::npos) << read.error().message;
    }
  }
}

TEST(FolderListing, AFileBeyondALimitIsALossAndTheRestIsRead) {
  const TestFolder folder;
  folder.write("in/a.jsonl", std::string(2'000'000, 'x'));
  folder.write("in/b.json", "[" + std::string(2'000'000, ' ') + "]");
  folder.write("in/c.jsonl", kLine);
  folder.write("in/d.jsonl", std::string(kLine) + R"({"op_name": ")" + std::string(2'000'000, 'x'));
  const ScopedLimits small({.document = 1'000'000, .line = 1'000'000});
  TestSink sink;
  const Status read = read_trace(folder.file("in"), {}, sink);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(sink.calls.size(), 2u);
  EXPECT_NE(sink.lost_kinds().find("unreadable_file"), std::string::npos);
}

}  // namespace
}  // namespace opwright::format
