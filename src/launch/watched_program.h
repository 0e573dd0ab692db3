// A program whose output is kept and whose time is limited: it is ended when it runs too long, or says nothing for too
// long. What it starts belongs to it, daemons too: they may finish behind it for a while, and are ended then.
//
//   auto end = run_watched(path, words, environment, {.log = "run.log"}, [](std::string_view text) { … });
//   if (end && end->stopped == Stopped::kSilent) …
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/program.h"

namespace opwright::launch {

struct WatchRules {
  std::string log;             // a new file that gets all output; standard output and error are one stream
  double total_seconds = 900;  // from its start to its end
  double silent_seconds = 300;
  double late_seconds = 60;  // for what it leaves behind
  double end_seconds = 10;   // between being asked to end and being killed
};

enum class Stopped {
  kNo,
  kTooLong,
  kSilent,
  kInterrupted,  // by a signal to us, which it got too
};

struct WatchedEnd {
  Ended ended;
  Stopped stopped = Stopped::kNo;
  double seconds = 0;
  std::size_t waited_for = 0;  // processes that were still there when it had ended
  std::size_t killed = 0;      // of them: those that did not end by themselves
};

// This process becomes the one that orphans of its children go to: for a verb that does nothing beside.
Result<WatchedEnd> run_watched(const std::string& path, const std::vector<std::string>& command,
                               const Environment& environment, const WatchRules& rules,
                               const std::function<void(std::string_view)>& output);

}  // namespace opwright::launch
