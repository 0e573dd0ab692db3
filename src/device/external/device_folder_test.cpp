#include "device/external/device_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace opwright {
namespace {

namespace fs = std::filesystem;

DeviceFolder made() {
  auto folder = DeviceFolder::make();
  EXPECT_TRUE(folder) << folder.error().message;
  return *std::move(folder);
}

void write(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string refusal(const DeviceFolder& folder, std::string_view named) {
  const auto taken = folder.take(named);
  EXPECT_FALSE(taken) << named;
  return taken ? "" : taken.error().message;
}

TEST(DeviceFolder, IsForThisUserAloneAndGoesWithTheObject) {
  std::string path;
  {
    const DeviceFolder folder = made();
    path = folder.path();
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
    write(path + "/left behind", "x");
    fs::create_directories(path + "/a/b/c");
    write(path + "/a/b/c/deep", "x");
    chmod((path + "/a/b").c_str(), 0);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(DeviceFolder, AFileIsTakenByNameOrWholePathAndRemoved) {
  const DeviceFolder folder = made();
  write(folder.path() + "/one", "first");
  write(folder.path() + "/two", "");
  EXPECT_EQ(*folder.take("one"), "first");
  EXPECT_EQ(*folder.take(folder.path() + "/two"), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(DeviceFolder, WhatLiesElsewhereIsNotTouched) {
  const TestFolder elsewhere;
  const std::string victim = elsewhere.write("victim", "precious");
  const DeviceFolder folder = made();
  fs::create_directory(folder.path() + "/sub");
  write(folder.path() + "/sub/file", "x");
  const std::string up = "/../../../../../../..";
  for (const std::string& named :
       {victim, std::string("../victim"), folder.path() + up + victim, folder.path() + "/sub/file", std::string(".."),
        std::string("."), folder.path(), folder.path() + "/", std::string("/"), std::string("sub/file"),
        std::string("one\0two", 7), std::string("/dev/zero"), folder.path() + "x/file"})
    EXPECT_NE(refusal(folder, named).find("not its own to give"), std::string::npos) << named;
  EXPECT_EQ(fs::file_size(victim), 8U);
}

TEST(DeviceFolder, LinksPipesAndFoldersAreNoFiles) {
  const TestFolder elsewhere;
  const std::string victim = elsewhere.write("victim", "precious");
  const DeviceFolder folder = made();
  fs::create_symlink(victim, folder.path() + "/link");
  EXPECT_NE(refusal(folder, "link").find("it is a link"), std::string::npos);
  ASSERT_EQ(mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder, "pipe").find("it is a pipe"), std::string::npos);  // and nobody waits for its other end
  fs::create_directory(folder.path() + "/sub");
  EXPECT_NE(refusal(folder, "sub").find("it is a folder"), std::string::npos);
  write(folder.path() + "/file", "x");
  fs::create_hard_link(folder.path() + "/file", folder.path() + "/again");
  EXPECT_NE(refusal(folder, "again").find("a file of 2 names"), std::string::npos);
  EXPECT_TRUE(fs::exists(victim));
}

TEST(DeviceFolder, AFileBeyondTheLimitIsNotRead) {
  const DeviceFolder folder = made();
  write(folder.path() + "/file", "12345");
  const auto taken = folder.take("file", 4);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("it has 5 bytes, at most 4 are taken"), std::string::npos);
  const int sparse = open((folder.path() + "/sparse").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(ftruncate(sparse, off_t{1} << 40), 0);
  close(sparse);
  EXPECT_NE(refusal(folder, "sparse").find("at most"), std::string::npos);
}

TEST(DeviceFolder, NamesInMessagesAreShortAndPlain) {
  const DeviceFolder folder = made();
  const std::string message = refusal(folder, "/\x1b[2J" + std::string(5000, 'n'));
  EXPECT_LT(message.size(), 600U);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(DeviceFolder, RemovingFollowsNoLink) {
  const TestFolder elsewhere;
  const std::string victim = elsewhere.write("kept/victim", "precious");
  std::string path;
  {
    const DeviceFolder folder = made();
    path = folder.path();
    fs::create_directories(path + "/a/b");
    fs::create_directory_symlink(elsewhere.file("kept"), path + "/a/b/out");
    fs::create_directory_symlink(elsewhere.file("kept"), path + "/out");
    fs::create_symlink(victim, path + "/file");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(victim));
  // The folder itself replaced by a link.
  fs::create_directory_symlink(elsewhere.file("kept"), elsewhere.file("link"));
  remove_folder(elsewhere.file("link"));
  EXPECT_TRUE(fs::exists(victim));
}

TEST(DeviceFolder, AnyDepthIsRemoved) {
  std::string path;
  {
    const DeviceFolder folder = made();
    path = folder.path();
    int at = open(path.c_str(), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 3000; ++i) {
      ASSERT_EQ(mkdirat(at, "deeper", 0700), 0);
      const int next = openat(at, "deeper", O_RDONLY | O_DIRECTORY);
      close(at);
      at = next;
    }
    close(at);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(DeviceFolder, ThatOfAKilledProcessGoesWhenTheNextIsMade) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = DeviceFolder::make();
    if (folder) (void)!::write(ends[1], folder->path().data(), folder->path().size());
    close(ends[1]);
    pause();
    _exit(0);
  }
  close(ends[1]);
  char name[512] = "";
  ASSERT_GT(read(ends[0], name, sizeof name - 1), 0);
  close(ends[0]);
  {
    const DeviceFolder beside = made();
    EXPECT_TRUE(fs::exists(name));  // its process lives
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(name));
  const DeviceFolder next = made();
  EXPECT_FALSE(fs::exists(name));
}

}  // namespace
}  // namespace opwright
