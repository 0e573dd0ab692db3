// `fuse make`: a sequence of a trace as a finished test, proven stage by stage.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fuse/match.h"
#include "fuse/report.h"

namespace opwright::jobs {

struct FuseMakeRequest {
  std::string trace;         // a file, a folder, or a trace of the store
  std::string module_trace;  // of the module that the function goes into; "" the same
  std::string store;
  int wait_ms = 0;
  fuse::Wanted wanted;
  std::string name;
  std::string out;             // folder; "" ./NAME
  std::string device = "sim";  // sim without a board: that of the trace; ttnn:mock:BOARD: the emitted file on it, too
  std::string python;          // of ttnn:mock:BOARD: that has ttnn, torch and pytest; "" the first one on PATH
  bool real_weights = false;   // write recorded contents into data/
  bool strict = false;         // more than one reading is an error
  int seeds = 3;
  double most_work = 4e10;  // of a call of the module
  std::function<bool()> stop;
  std::function<void(const fuse::Section&)> on_stage;  // told when one is done
};

// Exit statuses of the fuse verbs.
inline constexpr int kFusePassed = 0, kFuseFailed = 1, kFuseUsage = 2, kFuseNoMatch = 3, kFuseAmbiguous = 4,
                     kFuseUnreadable = 5;

struct FuseMade {
  fuse::Report report;
  std::string folder;
  std::int64_t matches = 0;
  int exit = kFusePassed;
  std::string trouble;  // of kFuseNoMatch and kFuseAmbiguous: nothing was written
};
Result<FuseMade> make_fused(const FuseMakeRequest& request);

// Of an error of a fuse verb.
int fuse_exit_code(const Error& error);

}  // namespace opwright::jobs
