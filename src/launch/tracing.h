// The environment in which a program is traced: the Python package is put in front of the program's own path, and it
// hooks the library when that is imported. Nothing else of the program changes.
#pragma once

#include <string>

#include "base/result.h"
#include "launch/environment.h"

namespace opwright::launch {

struct TraceOptions {
  std::string folder;        // absolute; one trace file a process goes there
  std::string uid;           // names the run
  std::string only;          // globs, comma separated; "" all
  std::string phase;         // "" all
  std::string first;         // a number; "" all
  std::string values;        // off, sketch, hash, full; "" off
  std::string max_overhead;  // a share, "0.05"; "" no limit
  bool device_ops = false;
  bool per_test = false;
};

Status add_tracing(Environment& environment, const TraceOptions& options);

}  // namespace opwright::launch
