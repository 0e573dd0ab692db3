#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_folder.h"

namespace opwright {
namespace {

namespace fs = std::filesystem;

TEST(AtomicFile, IsThereWholeOrNotAtAll) {
  const TestFolder folder;
  const std::string path = folder.write("f", "old");
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(std::string(1 << 20, 'x')));
    EXPECT_EQ(content_of(path), "old");
  }
  EXPECT_EQ(content_of(path), "old");  // not committed
  EXPECT_EQ(folder.entries(), 1u);
  auto file = AtomicFile::create(path);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(file->append("ab"));
  ASSERT_TRUE(file->append(std::string(1 << 20, 'x')));
  EXPECT_EQ(file->bytes(), 6u + (1 << 20));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(path), "ababab" + std::string(1 << 20, 'x'));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, AFolderThatIsNotThereIsNamed) {
  const TestFolder folder;
  const auto file = AtomicFile::create(folder.file("no/f"));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("no/f: cannot write"), std::string::npos);
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

void write_to(const std::string& path, Links links = Links::kFollow, mode_t mode = 0666) {
  auto file = AtomicFile::create(path, links, mode);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->append("new"));
  ASSERT_TRUE(file->commit());
}

TEST(AtomicFile, KeepsThePermissionsOfAFileThatWasThere) {
  const TestFolder folder;
  const std::string path = folder.write("f", "old");
  for (const mode_t mode : {0600, 0640, 0755}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    write_to(path);
    EXPECT_EQ(mode_of(path), mode);
  }
  write_to(folder.file("secret"), Links::kFollow, 0600);
  EXPECT_EQ(mode_of(folder.file("secret")), 0600U);
}

TEST(AtomicFile, ALinkThatTheUserNamedStaysALink) {
  const TestFolder folder;
  folder.write("target", "old");
  fs::create_symlink("target", folder.file("link"));
  fs::create_symlink("link", folder.file("second"));
  write_to(folder.file("second"));
  EXPECT_EQ(content_of(folder.file("target")), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_TRUE(fs::is_symlink(folder.file("second")));
}

TEST(AtomicFile, ALinkUnderANameOfOursIsReplacedAndNeverFollowed) {
  const TestFolder folder;
  const std::string precious = folder.write("precious", "old");
  fs::create_symlink(precious, folder.file("index.html"));
  ASSERT_TRUE(write_into(folder.path(), "index.html", "new"));
  EXPECT_EQ(content_of(precious), "old");
  EXPECT_FALSE(fs::is_symlink(folder.file("index.html")));
  EXPECT_EQ(content_of(folder.file("index.html")), "new");
}

TEST(AtomicFile, WhatLiesUnderTheNameOfATemporaryIsNotTouched) {
  const TestFolder folder;
  const std::string path = folder.write("f", "old"), precious = folder.write("precious", "old");
  // The name that the temporary of this process once had.
  const std::string planted = path + "." + std::to_string(getpid()) + ".tmp";
  fs::create_symlink(precious, planted);
  write_to(path);
  EXPECT_EQ(content_of(precious), "old");
  EXPECT_TRUE(fs::is_symlink(planted));
  EXPECT_EQ(content_of(path), "new");
}

TEST(AtomicFile, AnotherUsersLinkInACommonFolderIsRefused) {
  const TestFolder folder;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  const std::string precious = folder.write("precious", "old");
  const std::string common = folder.file("common");
  fs::create_directory(common);
  ASSERT_EQ(chmod(common.c_str(), 01777), 0);
  fs::create_symlink(precious, common + "/out");
  ASSERT_EQ(lchown((common + "/out").c_str(), 65534, 65534), 0);
  const auto file = AtomicFile::create(common + "/out");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("a link of another user"), std::string::npos);
  EXPECT_EQ(content_of(precious), "old");
}

TEST(AtomicFile, TheLongestNameHasRoomForItsTemporary) {
  const TestFolder folder;
  write_to(folder.file(std::string(255, 'n')));
  EXPECT_EQ(content_of(folder.file(std::string(255, 'n'))), "new");
}

TEST(AtomicFile, ALoopOfLinksIsAnError) {
  const TestFolder folder;
  fs::create_symlink("b", folder.file("a"));
  fs::create_symlink("a", folder.file("b"));
  EXPECT_FALSE(AtomicFile::create(folder.file("a")));
}

}  // namespace
}  // namespace opwright
