// One call of an operation, whichever format carried it (DESIGN §5): what every reader's records become before they are
// compared, selected or made into configurations.
//
// What a format does not say is absent: 0, an empty text, no entry. Masters say what was called and how often; native
// traces say all of it; the formats in between have an order, or a result, or a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/op_config.h"
#include "model/value.h"

namespace opwright {

struct CallArgument {
  int position = -1;  // from 0; -1: given by name only
  std::string name;   // "" where the call names none; in C++ an argument may have both
  Value value;
};

// Which tensor it was: a number that no other tensor of the run has, how often it was written before, and whose memory
// it lies in.
struct TensorIdentity {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
  std::uint64_t storage = 0;  // 0: not known
  std::uint64_t view_of = 0;  // the tensor whose storage it shares; 0 none
};

// An argument that the call left changed.
struct TensorChange {
  std::uint32_t slot = 0;  // in `tensors`
  std::uint64_t version = 0;
};

struct Call {
  std::string op;  // as the trace spells it: `ttnn.add`, `ttnn::add`
  Convention convention = Convention::kPython;
  std::vector<CallArgument> arguments;  // tensors as the call left them

  bool has_result = false;  // false: nobody looked, or it returned nothing
  Value result;
  std::string error;  // "RuntimeError: …"; "" it did not raise

  std::uint64_t sequence = 0;  // in the order in which calls began, from 1; 0: the format has no order
  std::uint64_t parent = 0;    // the call around it; 0 none
  std::uint64_t thread = 0;    // as the system numbers threads
  std::int64_t start_ns = 0;   // since the trace began
  std::int64_t duration_ns = 0;
  bool finished = true;  // false: the program ended during the call, or its end is lost

  std::vector<TensorIdentity> tensors;  // of the arguments, in the order in which they stand there
  std::vector<TensorIdentity> results;  // of the result, likewise
  std::vector<TensorChange> writes;     // arguments that are others after the call
  std::vector<std::uint32_t> frees;     // slots of tensors whose memory the call gave back
  std::string phase, label;             // set by the program; "" not set
  std::string source;                   // test or script
  std::string machine;                  // machine_info as JSON; "" unknown
};

}  // namespace opwright
