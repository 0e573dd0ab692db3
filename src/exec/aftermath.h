// What a worker, or the device in it, does after an answer: it dies, or writes on. That belongs to the case that was
// answered, not to the next one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "exec/worker_process.h"
#include "model/outcome.h"

namespace opwright {

struct Aftermath {
  Outcome outcome = Outcome::kCrashed;
  std::string reason;
  bool device_fault = false;  // the device's program broke its protocol
};

// A worker's own word for it: the value of "late" (docs/formats/worker-protocol.md).
std::optional<Aftermath> parse_aftermath(const json::Node& late);

// In words: a line of a worker that is no word of its protocol.
std::string no_answer(std::string_view line);
// The same, after an answer.
Aftermath garbage_after(std::string_view line);

// Ends a worker that has nothing to do, in peace, and tells what happened after its last answer. With `patience` it is
// first given so many seconds to die by itself.
std::optional<Aftermath> farewell(WorkerProcess& worker, double patience = 0);

}  // namespace opwright
