#include "base/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace opwright {
namespace {

TEST(ProcessIdentity, ATextGivesItBack) {
  const ProcessIdentity me = own_identity();
  EXPECT_EQ(me.pid, getpid());
  EXPECT_GT(me.start, 0U);
  const auto back = parse_identity(to_text(me));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, me);
  for (const char* text : {"", "1", "1-2-3", "a-2-3-b", "1--2-3-b", "1-0-3-b", "1-2x-3-b"})
    EXPECT_FALSE(parse_identity(text)) << text;
}

TEST(ProcessIdentity, AProcessLivesUntilItEnds) {
  EXPECT_EQ(life_of(own_identity()), Life::kAlive);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto identity = identity_of(child);
  ASSERT_TRUE(identity);
  EXPECT_EQ(life_of(*identity), Life::kAlive);
  EXPECT_EQ(parent_of(child), getpid());
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(life_of(*identity), Life::kGone);  // dead, not yet reaped
  waitpid(child, nullptr, 0);
  EXPECT_EQ(life_of(*identity), Life::kGone);
}

TEST(ProcessIdentity, ANumberThatAnotherProcessGotIsNotTheSame) {
  ProcessIdentity before = own_identity();
  --before.start;
  EXPECT_EQ(life_of(before), Life::kGone);
}

TEST(ProcessIdentity, AnotherContainerOrMachineCannotBeSeen) {
  ProcessIdentity other = own_identity();
  other.space += 1;
  EXPECT_EQ(life_of(other), Life::kUnseen);
  other = own_identity();
  other.boot = "00000000";
  EXPECT_EQ(life_of(other), Life::kUnseen);
}

}  // namespace
}  // namespace opwright
