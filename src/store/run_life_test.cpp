#include "store/run_life.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_identity.h"

namespace opwright::store {
namespace {

RunRecord run_of(const ProcessIdentity& process) {
  RunRecord run;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  run.host = host;
  run.uid = "20261115T200921.123-" + std::to_string(process.pid);
  run.status = "running";
  run.facts = "{\"cores\": 2, \"process\": \"" + to_text(process) + "\"}";
  return run;
}

ProcessIdentity of_the_dead() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const ProcessIdentity identity = identity_of(child).value_or(ProcessIdentity{});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return identity;
}

TEST(RunLife, ARunningRunRunsWhileItsProcessLives) {
  EXPECT_EQ(status_now(run_of(own_identity())), "running");
  EXPECT_EQ(status_now(run_of(of_the_dead())), "interrupted");
  ProcessIdentity another_of_that_number = own_identity();
  another_of_that_number.start -= 1;
  EXPECT_EQ(status_now(run_of(another_of_that_number)), "interrupted");
}

TEST(RunLife, WhatEndedIsNotAskedAgain) {
  RunRecord run = run_of(of_the_dead());
  for (const char* status : {"complete", "interrupted"}) {
    run.status = status;
    EXPECT_EQ(status_now(run), status);
  }
}

TEST(RunLife, OfAnotherMachineOrContainerNobodyKnows) {
  ProcessIdentity elsewhere = own_identity();
  elsewhere.boot = "00000000";
  RunRecord run = run_of(elsewhere);
  EXPECT_EQ(status_now(run), "interrupted");  // this machine was started again since
  run.host = "another-machine";
  EXPECT_EQ(status_now(run), "unknown");
  ProcessIdentity beside = own_identity();
  beside.space += 1;
  EXPECT_EQ(status_now(run_of(beside)), "unknown");
}

TEST(RunLife, AnOlderStoreTellsByHostAndNumber) {
  RunRecord run = run_of(of_the_dead());
  run.facts = "{}";
  EXPECT_EQ(status_now(run), "interrupted");
  run.host = "another-machine";
  EXPECT_EQ(status_now(run), "unknown");
  run.uid = "imported by hand";
  EXPECT_EQ(status_now(run), "running");  // nothing says who ran it
}

}  // namespace
}  // namespace opwright::store
