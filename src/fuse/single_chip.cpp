#include "fuse/single_chip.h"

#include <fmt/format.h>

#include "exec/plan_call.h"
#include "fuse/call_graph.h"
#include "fuse/describe.h"
#include "model/host_tensor.h"
#include "ops/all_ops.h"

namespace opwright::fuse {
namespace {

Value on_one_chip(const Value& value) {
  if (const TensorSpec* spec = value.as_tensor()) return Value::tensor(fuse::on_one_chip(*spec));
  const List* list = value.as_list();
  if (list == nullptr) return value;
  List out;
  for (const Value& item : *list) out.push_back(on_one_chip(item));
  return Value(std::move(out));
}

}  // namespace

ParameterSet on_one_chip(const FusedTest&, const ParameterSet& set) {
  ParameterSet out = set;
  for (CallParameters& call : out.calls) {
    for (Argument& argument : call.config.args) argument.value = on_one_chip(argument.value);
    for (TensorSpec& result : call.results) result = fuse::on_one_chip(result);
  }
  for (auto* list : {&out.inputs, &out.outputs})
    for (TensorSpec& spec : *list) spec = fuse::on_one_chip(spec);
  return out;
}

SingleChip prove_single_chip(const FusedTest& test, const ParameterSet& set, const Board& board) {
  SingleChip out;
  out.skipped = set.no_single_device;
  if (!out.skipped.empty()) return out;
  if (volume(test.mesh) <= 1) {
    out.skipped = "it was recorded on one chip: the test itself is the one for a single device";
    return out;
  }
  const ParameterSet alone = on_one_chip(test, set);
  for (std::size_t c = 0; c < alone.calls.size(); ++c) {
    const CallParameters& call = alone.calls[c];
    if (find_op(test.calls[c].op) == nullptr) {
      if (is_transparent(test.calls[c].op)) continue;
      out.skipped = fmt::format("nothing is known of {}", test.calls[c].op);
      return out;
    }
    const auto plan = plan_call(call.config, board);
    if (!plan) {
      out.wrong =
          fmt::format("call {} ({}): one chip's part is refused: {}", c + 1, test.calls[c].op, plan.error().message);
      return out;
    }
    for (std::size_t o = 0; o < plan->outputs.size() && o < call.results.size(); ++o) {
      ++out.tensors;
      if (plan->outputs[o].spec.shape == call.results[o].shape) continue;
      out.wrong = fmt::format("call {} ({}): one chip makes {}, its part as recorded is {}", c + 1, test.calls[c].op,
                              to_text(plan->outputs[o].spec.shape), to_text(call.results[o].shape));
      return out;
    }
  }
  return out;
}

}  // namespace opwright::fuse
