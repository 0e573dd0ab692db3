// A process that works on a store and is killed without a warning. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>

namespace opwright::store {

// Runs `step` 0, 1, 2, … in a process of its own; each says, through its argument, when what it did is acknowledged.
// The process is killed after that many of them. Returns the last one that was acknowledged; -1 none. A step that
// returns false ends the process, which then was not killed: a failure.
using Acknowledge = std::function<void()>;
inline std::int64_t last_before_kill(int kill_after,
                                     const std::function<bool(std::int64_t, const Acknowledge&)>& step) {
  int ends[2];
  if (pipe(ends) != 0) {
    ADD_FAILURE() << "no pipe";
    return -1;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (std::int64_t i = 0;; ++i) {
      const bool done = step(i, [&] {
        if (write(ends[1], &i, sizeof i) != sizeof i) _exit(2);
      });
      if (!done) _exit(1);
    }
  }
  close(ends[1]);
  std::int64_t last = -1;
  for (int seen = 0; seen < kill_after && read(ends[0], &last, sizeof last) == sizeof last;) ++seen;
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the process ended by itself, with status " << status;
  while (read(ends[0], &last, sizeof last) == sizeof last) {  // acknowledged, but not yet read when it died
  }
  close(ends[0]);
  return last;
}

}  // namespace opwright::store
