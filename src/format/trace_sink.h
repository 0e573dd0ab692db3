// Where readers put what they read. The importer is one; tests have their own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/observed.h"
#include "model/sequence.h"

namespace opwright::format {

// Something a trace holds that could not be taken. Kinds are words a script can rely on (docs/formats/README.md).
struct Loss {
  std::string_view kind;  // "unknown_shape", "unreadable_file", "damaged_line", …
  std::string_view path;
  std::size_t offset = 0;
  std::string example;
  std::size_t count = 1;  // how many of them this one stands for
};

// A native trace as it is kept. It may be larger than what shall be in memory: whoever walks through it says so.
struct TraceBytes {
  std::string_view bytes;
  std::function<void(std::size_t end)> passed = {};  // what lies before `end` may leave memory; may be empty
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // One configuration with its sightings. An error stops the reading.
  virtual Status observe(const Observed& observed) = 0;
  virtual void lose(const Loss& loss) = 0;
  // Left out on purpose and by rule: return values, tests that did not pass, side files. Counted, not lost.
  virtual void leave_out(std::string_view what, std::size_t count) = 0;
  // What is known about a trace with a uid of its own.
  virtual void describe(const TraceInfo& trace) = 0;
  // The end of one trace; sightings without a uid since the last end belong to it. `uid` is never empty here.
  virtual Status end_trace(const TraceInfo& trace) = 0;
  virtual void add_bytes(std::size_t bytes) = 0;
  virtual void add_file() = 0;
  // Whether the calls of a trace are wanted in their order too: a reader whose format has one then gives them once.
  virtual bool keeps_calls() const { return false; }
  // Digest and size of the sequence follow from the bytes and are not set yet.
  virtual Status keep(Sequence /*sequence*/, const TraceBytes& /*trace*/) { return {}; }
};

struct ReadOptions {
  bool include_failed = false;  // per-op folders: tests whose status is not "passed"
};

}  // namespace opwright::format
