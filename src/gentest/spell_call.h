// A recorded call as the row of a generated test makes it: `t.call(t.tensor(…), dim=3)`, with `t` who makes tensors and
// handles (templates/op_testing.py).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gentest/python_expression.h"
#include "gentest/recorded.h"
#include "model/bound_call.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright::gentest {

// What our descriptions of operators know of a call; no op where they know nothing.
struct Understood {
  const OpSpec* op = nullptr;
  std::optional<BoundCall> bound;  // nothing where its arguments do not fit the description
  std::optional<Board> board;      // that it was traced on
};
Understood understand(const Recorded& recorded);

struct SpelledCall {
  std::string op;  // as Python finds it: "ttnn.add"
  Python call;
  Shape mesh;                        // {1, 1}: one chip
  std::vector<Argument> args;        // as they are called, for names and groups
  std::size_t positional = 0;        // how many of them go by position
  std::vector<std::string> remarks;  // what a reader of the row must know
};
// How a tensor of the call is written, by its number among those of the arguments; none: as one that is made for it.
using TensorSpelling = std::function<Python(std::size_t tensor)>;
// Refuses what cannot be made again, with the argument at fault.
Checked<SpelledCall> spell_call(const Recorded& recorded, const Understood& understood,
                                const TensorSpelling& tensor = {});
// A placement on the mesh, `Shard(3)`, as the library's class.
Checked<Python> spell_placement(const std::string& dim);

}  // namespace opwright::gentest
