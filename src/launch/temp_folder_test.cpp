#include "launch/temp_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

namespace fs = std::filesystem;

class TempFolderTest : public testing::Test {
 protected:
  void SetUp() override { setenv("TMPDIR", parent_.path().c_str(), 1); }
  void TearDown() override { unsetenv("TMPDIR"); }
  TestFolder parent_;
};

TEST_F(TempFolderTest, IsGoneAtTheEndWithEverythingInIt) {
  std::string path;
  {
    auto folder = TempFolder::make("x-");
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    EXPECT_TRUE(path.starts_with(parent_.path() + "/x-"));
    fs::create_directories(path + "/a/b");
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TempFolderTest, IsRemovedOnceWhenItWasMoved) {
  auto first = TempFolder::make("x-");
  ASSERT_TRUE(first);
  TempFolder second = std::move(*first);
  EXPECT_TRUE(fs::exists(second.path()));
  auto third = TempFolder::make("x-");
  ASSERT_TRUE(third);
  second = std::move(*third);
  EXPECT_TRUE(fs::exists(second.path()));
}

TEST_F(TempFolderTest, KeptStaysAndIsNotSweptByTheNext) {
  std::string path;
  {
    auto folder = TempFolder::make("x-");
    ASSERT_TRUE(folder);
    folder->keep();
    path = folder->path();
  }
  ASSERT_TRUE(TempFolder::make("x-"));
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(TempFolderTest, WhatAKilledRunLeftIsSweptWhatARunningOneHasIsNot) {
  parent_.write("x-killed/.lock", "");
  parent_.write("x-running/.lock", "");
  parent_.write("x-being-made/file", "");
  parent_.write("y-other/.lock", "");
  const int lock = open(parent_.file("x-running/.lock").c_str(), O_RDWR);
  ASSERT_EQ(flock(lock, LOCK_SH), 0);
  ASSERT_TRUE(TempFolder::make("x-"));
  EXPECT_FALSE(fs::exists(parent_.file("x-killed")));
  EXPECT_TRUE(fs::exists(parent_.file("x-running")));
  EXPECT_TRUE(fs::exists(parent_.file("x-being-made")));
  EXPECT_TRUE(fs::exists(parent_.file("y-other")));
  close(lock);
}

TEST_F(TempFolderTest, NoPlaceForItIsAnErrorThatNamesTmpdir) {
  setenv("TMPDIR", "/no/such/folder", 1);
  const auto folder = TempFolder::make("x-");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("set TMPDIR"), std::string::npos) << folder.error().message;
}

}  // namespace
}  // namespace opwright::launch
