#include "shrink/rules.h"

#include <fmt/format.h>

#include "exec/case_data.h"
#include "exec/plan_call.h"
#include "model/tensor_facts.h"

namespace opwright::shrink {
namespace {

std::string name_of(const BoundCall& call, const TensorSlot& tensor) {
  const Value* value = call.find(tensor.param);
  const bool is_list = value != nullptr && value->as_list() != nullptr;
  return is_list ? fmt::format("{}#{}", tensor.param, tensor.item) : tensor.param;
}

}  // namespace

bool Rules::allow(const OpConfig& config) const {
  if (!asked_) return true;
  const auto planned = plan_call(config, board_);
  return planned || (planned.error().kind == Refusal::Kind::kUnsupported && planned.error().argument.empty());
}

std::optional<TensorSpec> Rules::output_of(const OpConfig& config) const {
  if (!asked_) return std::nullopt;
  const auto planned = plan_call(config, board_);
  if (!planned || planned->outputs.empty()) return std::nullopt;
  return planned->outputs.front().spec;
}

std::vector<Rules::Input> Rules::inputs_of(const OpConfig& config) const {
  std::vector<Input> out;
  const auto planned = plan_call(config, board_);
  if (!asked_ || !planned) return out;
  for (const TensorSlot& tensor : planned->call.tensors)
    if (!is_integer(tensor.spec.dtype.value))
      out.push_back({name_of(planned->call, tensor), volume(tensor.spec.shape)});
  return out;
}

std::optional<double> Rules::drawn(const OpConfig& config, const DataRecipe& recipe, const std::string& input,
                                   std::int64_t at) const {
  const auto planned = plan_call(config, board_);
  if (!asked_ || !planned) return std::nullopt;
  const std::vector<HostTensor> made = make_inputs(*planned->op, planned->call, recipe);
  for (std::size_t slot = 0; slot < made.size(); ++slot) {
    const std::vector<float>& floats = made[slot].floats;
    if (name_of(planned->call, planned->call.tensors[slot]) == input && at < static_cast<std::int64_t>(floats.size()))
      return floats[static_cast<std::size_t>(at)];
  }
  return std::nullopt;
}

}  // namespace opwright::shrink
