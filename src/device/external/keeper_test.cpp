#include "device/external/keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/process_identity.h"
#include "base/subprocess.h"
#include "base/test_folder.h"
#include "device/external/program_process.h"

namespace opwright {
namespace {

// A daemon that did all it could to leave its parent: own session, twice forked, nothing open. Its number is in $1.
constexpr std::string_view kDaemon =
    "setsid sh -c '(exec >/dev/null 2>&1 </dev/null; sleep 600 & echo $! > '\"$1\"'.new; mv '\"$1\"'.new '\"$1\"') &' "
    "& wait";

DeviceProgram shell(std::string script, const std::string& folder) {
  return {.name = "shell",
          .argv = {"/bin/sh", "-c", std::move(script), "sh", folder},
          .environment = process_environment()};
}

// The process whose number a program left in the file, once it has.
ProcessIdentity named_in(const std::string& path) {
  for (int i = 0; i < 3000; ++i) {
    pid_t pid = 0;
    if (std::ifstream(path) >> pid)
      if (const auto identity = identity_of(pid)) return *identity;
    poll(nullptr, 0, 10);
  }
  ADD_FAILURE() << path << " never came";
  return {};
}

bool is_gone(const ProcessIdentity& process) {
  for (int i = 0; i < 3000; ++i) {
    if (life_of(process) == Life::kGone) return true;
    poll(nullptr, 0, 10);
  }
  kill(process.pid, SIGKILL);
  return false;
}

// With a control group where the machine has one for us, and without.
class Keeper : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("OPWRIGHT_CGROUP", GetParam(), 1); }
  void TearDown() override { unsetenv("OPWRIGHT_CGROUP"); }

  std::string daemon(const std::string& more) const {
    std::string script(kDaemon);
    return "f() { " + script + "; }; f \"$1/daemon\"; while [ ! -e \"$1/daemon\" ]; do sleep 0.01; done; " + more;
  }
  TestFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(, Keeper, testing::Values("on", "off"));

TEST_P(Keeper, WhatAProgramLeavesGoesWhenItEnds) {
  // It ends when we have seen its daemon: what is gone has no identity any more.
  const std::string wait = "while [ ! -e \"$1/seen\" ]; do sleep 0.01; done; exit 3";
  auto process = ProgramProcess::start(shell(daemon(wait), folder_.path()));
  ASSERT_TRUE(process) << process.error().message;
  const ProcessIdentity left = named_in(folder_.file("daemon"));
  std::ofstream(folder_.file("seen")) << "yes";
  bool crashed = false;
  EXPECT_EQ(process->how_it_ended(crashed), "ended with exit status 3");
  EXPECT_EQ(process->left(), 0);
  EXPECT_EQ(life_of(left), Life::kGone);  // at once: the keeper says "ended" when all is over
}

TEST_P(Keeper, WhatAProgramLeavesGoesWhenItIsEnded) {
  auto process = ProgramProcess::start(shell(daemon("trap '' TERM; sleep 600; sleep 600"), folder_.path()));
  ASSERT_TRUE(process) << process.error().message;
  const ProcessIdentity left = named_in(folder_.file("daemon"));
  process->end(0);
  EXPECT_EQ(life_of(left), Life::kGone);
}

TEST_P(Keeper, AStoppedProgramIsEndedToo) {
  auto process = ProgramProcess::start(shell("echo $$ > \"$1/self\"; kill -STOP $$", folder_.path()));
  ASSERT_TRUE(process) << process.error().message;
  const ProcessIdentity program = named_in(folder_.file("self"));
  process->end(0);
  EXPECT_EQ(life_of(program), Life::kGone);
}

TEST_P(Keeper, AllGoesWhenWeAreKilled) {
  const pid_t child = fork();
  if (child == 0) {  // somebody with a device, killed without a warning
    const auto process = ProgramProcess::start(shell(daemon("sleep 600; sleep 600"), folder_.path()));
    pause();
    _exit(0);
  }
  const ProcessIdentity left = named_in(folder_.file("daemon"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(left));
}

TEST_P(Keeper, AllGoesWhenTheKeeperIsKilled) {
  std::string command = daemon("echo $PPID > \"$1/keeper\"; sleep 600; sleep 600");
  auto process = ProgramProcess::start(shell(std::move(command), folder_.path()));
  ASSERT_TRUE(process) << process.error().message;
  const ProcessIdentity left = named_in(folder_.file("daemon"));
  kill(named_in(folder_.file("keeper")).pid, SIGKILL);
  bool crashed = false;
  EXPECT_EQ(process->how_it_ended(crashed), "was ended by SIGKILL, killed");
  EXPECT_TRUE(is_gone(left));
}

TEST_P(Keeper, WhatIsLeftWhenAllOfUsAreKilledGoesWithTheNextProgram) {
  // Nobody of ours is there to end what is left; a program that another test starts just then does, so there are turns.
  for (int turn = 0; turn < 10; ++turn) {
    const TestFolder folder;
    const pid_t child = fork();
    if (child == 0) {
      const auto process =
          ProgramProcess::start(shell(daemon("echo $PPID > \"$1/keeper\"; sleep 600; sleep 600"), folder.path()));
      pause();
      _exit(0);
    }
    const ProcessIdentity left = named_in(folder.file("daemon"));
    const pid_t keeper = named_in(folder.file("keeper")).pid;
    kill(keeper, SIGSTOP);  // so that neither can do anything about the other
    kill(child, SIGKILL);
    kill(keeper, SIGKILL);
    waitpid(child, nullptr, 0);
    if (life_of(left) != Life::kAlive) continue;
    auto next = ProgramProcess::start(shell("exit 0", folder.path()));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_TRUE(is_gone(left));
    return;
  }
  ADD_FAILURE() << "what is left was gone each time before another program started";
}

TEST_P(Keeper, AProgramThatNeverStopsForkingIsEnded) {
  // Each process makes the next one in a session of its own, and stays.
  const std::string script =
      "cat > \"$1/next\" <<'END'\n[ $2 -gt 60 ] || setsid sh \"$1/next\" \"$1\" $(($2+1)) & echo $$ > \"$1/p$2\"; "
      "sleep 600\nEND\n"
      "exec sh \"$1/next\" \"$1\" 0";
  auto process = ProgramProcess::start(shell(script, folder_.path()));
  ASSERT_TRUE(process) << process.error().message;
  named_in(folder_.file("p5"));
  process->end(0);
  EXPECT_EQ(process->left(), 0);
  for (int i = 0; i < 70; ++i) {
    pid_t pid = 0;
    if (!(std::ifstream(folder_.file("p" + std::to_string(i))) >> pid)) continue;
    const auto identity = identity_of(pid);
    if (!identity) continue;
    std::ifstream command("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(command)), std::istreambuf_iterator<char>());
    EXPECT_EQ(text.find(folder_.path()), std::string::npos) << i << " lives";
  }
}

TEST_P(Keeper, TheFolderOfAKilledClientGoes) {
  const std::string handed = folder_.file("handed");
  std::filesystem::create_directory(handed);
  folder_.write("handed/file", "x");
  const pid_t child = fork();
  if (child == 0) {
    const auto process = ProgramProcess::start(shell("echo $$ > \"$1/self\"; sleep 600", folder_.path()), handed);
    pause();
    _exit(0);
  }
  named_in(folder_.file("self"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (int i = 0; i < 3000 && std::filesystem::exists(handed); ++i) poll(nullptr, 0, 10);
  EXPECT_FALSE(std::filesystem::exists(handed));
}

TEST(KeeperWords, AReportIsReadBackAndNothingElse) {
  const auto report = parse_keeper_report("ended 11 2\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, 11);
  EXPECT_EQ(report->left, 2);
  for (const char* line : {"", "ended", "ended 1", "started", "ended x y"}) EXPECT_FALSE(parse_keeper_report(line));
}

}  // namespace
}  // namespace opwright
