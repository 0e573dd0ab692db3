#include "launch/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/subprocess.h"
#include "base/test_folder.h"

namespace opwright::launch {
namespace {

using testing::HasSubstr;

Result<Ended> sh(const std::string& program, const Environment& environment = Environment({"PATH=/usr/bin:/bin"})) {
  return run_program("/bin/sh", {"sh", "-c", program}, environment);
}

TEST(Program, TheExitStatusIsItsOwn) {
  EXPECT_EQ(sh("exit 0")->status, 0);
  const auto done = sh("exit 42");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 42);
  EXPECT_EQ(done->signal, 0);
}

TEST(Program, ASignalIsNamedAndBecomesTheStatusOfAShell) {
  const auto done = sh("kill -SEGV $$");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 128 + SIGSEGV);
  EXPECT_EQ(done->signal, SIGSEGV);
  EXPECT_EQ(signal_text(SIGSEGV), "SIGSEGV, segmentation fault");
  EXPECT_EQ(signal_text(4711), "signal 4711");
}

TEST(Program, ArgumentsAndEnvironmentArriveAsTheyAre) {
  const TestFolder folder;
  const auto done =
      run_program("/bin/sh", {"my sh", "-c", "printf '%s|' \"$0\" \"$@\" \"$V\" > \"$OUT\"", "a b", "--", "-x", ""},
                  Environment({"V=1 2", "OUT=" + folder.file("out")}));
  ASSERT_TRUE(done);
  EXPECT_EQ(content_of(folder.file("out")), "a b|--|-x||1 2|");
}

TEST(Program, ASignalForUsIsPassedOnAndDoesNotEndUs) {
  const TestFolder folder;
  const std::string ready = folder.file("ready");
  std::thread sender([&] {
    sigset_t all;  // the signal must reach the thread that waits for it, not this one
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!std::filesystem::exists(ready)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(getpid(), SIGTERM);
  });
  const auto done = sh("trap 'exit 9' TERM; : > " + ready + "; while :; do sleep 0.05; done");
  sender.join();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 9);
}

// The system may give a signal to any thread that does not hold it back, where the one that waits is not there yet: the
// busy threads see to that.
TEST(Program, AnotherThreadThatTakesTheSignalOfTheEndDoesNotKeepUsWaiting) {
  std::atomic<bool> done{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 4; ++i)
    busy.emplace_back([&] {
      while (!done.load()) {
      }
    });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(run_program("/bin/true", {"true"}, Environment({}))->status, 0);
  done.store(true);
  for (std::thread& thread : busy) thread.join();
}

TEST(Program, NoChildIsLeft) {
  ASSERT_TRUE(sh("true"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Program, WhatIgnoredItsSignalsBeforeStillDoes) {  // nohup
  signal(SIGHUP, SIG_IGN);
  const auto done = sh("kill -HUP $$; exit 5");
  signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 5);
}

TEST(Program, ACommandIsLookedUpInThePathOfTheProgram) {
  const TestFolder folder;
  const std::string tool = folder.write("tool", "#!/bin/sh\n");
  const Environment environment({"PATH=" + folder.path()});
  const auto unusable = find_command({tool}, environment);
  ASSERT_FALSE(unusable);
  EXPECT_THAT(unusable.error().message, HasSubstr("not an executable file"));
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  EXPECT_EQ(*find_command({"tool"}, environment), tool);
  EXPECT_THAT(find_command({"tol"}, environment).error().message, HasSubstr("no program 'tol' on PATH"));
  EXPECT_THAT(find_command({"/no/tool"}, environment).error().message, HasSubstr("check the path"));
}

TEST(Program, AFileThatCannotRunIsAnError) {
  const TestFolder folder;
  const std::string odd = folder.write("odd", "#!/no/such/interpreter\n");
  std::filesystem::permissions(odd, std::filesystem::perms::owner_all);
  const auto done = run_program(odd, {odd}, Environment({}));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("cannot start it"));
}

}  // namespace
}  // namespace opwright::launch
