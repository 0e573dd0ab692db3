// What calls of a configuration returned when they were traced, and who is wrong where a device, or our own rules, say
// something else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/outcome.h"
#include "model/output_spec.h"
#include "model/value.h"

namespace opwright {

struct RecordedReturn {
  std::vector<OutputSpec> outputs;  // fields that the trace does not say are absent, padded shapes always
  std::int64_t calls = 0;
  std::string board;  // "n150"; "" the trace names none that we know
};

// The tensors of what a call returned, in the order in which they stand there. False: it holds something else that may
// be one, and nobody knows what came.
bool tensors_of(const Value& value, std::vector<OutputSpec>& out);

std::string to_json(std::span<const RecordedReturn> returns);
Result<std::vector<RecordedReturn>> parse_returns(const json::Node& list);

// Three who speak of one call. Where a trace recorded it on another board, what hangs on the board (how a sharded
// tensor is spread) is not compared.
struct Returned {
  const std::vector<OutputSpec>* promised = nullptr;  // by our rules; null: they know nothing of the call
  const std::vector<OutputSpec>* came = nullptr;      // null: the device computes what it is asked for
  std::span<const RecordedReturn> recorded;           // one that agrees is enough
  std::string_view board;                             // of the device
};

struct SpecVerdict {
  Outcome outcome = Outcome::kPassed;  // kFailed: the device is wrong; kReferenceWrong: our rules are
  std::string reason;
  std::string evidence;
};
SpecVerdict judge_returned(const Returned& returned);

}  // namespace opwright
