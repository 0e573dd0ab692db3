#include "exec/whole_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/shared/conv_call.h"

namespace opwright {
namespace {

constexpr std::int64_t kHeld = 256;  // bfloat16 holds every whole number up to here
constexpr std::int64_t kLargest = 8;

template <std::size_t N>
bool one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}
bool is_matmul(std::string_view op) { return op == "ttnn.matmul" || op == "ttnn.linear"; }
bool is_sum(std::string_view op) { return op == "ttnn.sum" || op == "ttnn.experimental.fast_reduce_nc"; }

// Terms of a sum over dimensions: all where none is named.
std::int64_t summed(const BoundCall& call, std::string_view input, std::string_view dims) {
  const TensorSpec* spec = call.tensor(input);
  if (spec == nullptr) return 1;
  const auto read = call.ints(dims);
  if (!read || !*read) return volume(spec->shape);
  std::int64_t terms = 1;
  for (std::int64_t dim : **read) {
    if (dim < 0) dim += static_cast<std::int64_t>(spec->shape.size());
    if (dim >= 0 && dim < static_cast<std::int64_t>(spec->shape.size()))
      terms *= spec->shape[static_cast<std::size_t>(dim)];
  }
  return terms;
}

std::int64_t terms_of(const OpSpec& op, const BoundCall& call) {
  if (is_matmul(op.name)) {
    const TensorSpec* a = call.tensor("input_tensor_a");
    if (a == nullptr || a->shape.empty()) return 1;
    const bool turned = call.flag("transpose_a", false).value_or(false) && a->shape.size() > 1;
    return a->shape[a->shape.size() - (turned ? 2 : 1)];
  }
  if (op.name == "ttnn.conv2d") {
    const auto conv = conv_call(call);
    return conv ? conv->window.kernel_h * conv->window.kernel_w *
                      std::max<std::int64_t>(1, conv->in_channels / std::max<std::int64_t>(1, conv->groups))
                : 1;
  }
  if (op.name == "ttnn.sum") return summed(call, "input_tensor", "dim");
  if (op.name == "ttnn.experimental.fast_reduce_nc") return summed(call, "input", "dims");
  return 1;
}

// A number that keeps whole numbers whole, and small.
bool whole_scalar(const BoundCall& call, std::string_view param) {
  if (!call.passed(param) || call.tensor(param) != nullptr) return true;
  const auto number = call.number(param, 0);
  return number && *number == std::trunc(*number) && std::abs(*number) <= static_cast<double>(kLargest);
}

bool has_activation(const Value& value) {
  if (const Struct* s = value.as_struct())
    return std::ranges::any_of(s->fields, [](const auto& field) {
      return (field.first.find("activation") != std::string::npos && !field.second.is_null()) ||
             has_activation(field.second);
    });
  return false;
}

bool no_activation(const BoundCall& call) {
  for (const Argument& argument : call.args) {
    const List* list = argument.value.as_list();
    if (argument.name.find("activation") != std::string::npos && !argument.value.is_null() &&
        !(list != nullptr && list->empty()))
      return false;
    if (has_activation(argument.value)) return false;
  }
  return true;
}

bool holds_sums(DType dtype) { return dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kInt32; }

}  // namespace

Whole whole_numbers(const OpSpec& op, const BoundCall& call) {
  const std::int64_t terms = std::max<std::int64_t>(1, terms_of(op, call));
  Whole whole;
  if (is_sum(op.name)) {
    whole.reach = std::clamp<std::int64_t>(kHeld / terms, 1, kLargest);
    return whole;
  }
  // Scores are sums too; beyond a few units a softmax knows only one key.
  if (call.tensor("input_tensor_k") != nullptr) whole.reach = 1;
  // Among few different numbers every row has the same largest one.
  constexpr std::array<std::string_view, 3> kSelects{"ttnn.max", "ttnn.min", "ttnn.max_pool2d"};
  if (one_of(op.name, kSelects)) whole.reach = 127;
  if (!is_matmul(op.name) && op.name != "ttnn.conv2d") return whole;
  // reach^2 for each product, and a bias. Few terms leave room for large numbers, many for ones only.
  while (whole.reach > 1 && whole.reach * whole.reach * terms + whole.reach > kHeld) --whole.reach;
  const bool turned = call.flag("transpose_a", false).value_or(false);
  if (is_matmul(op.name) && !turned && terms + 1 > kHeld) whole.every = (terms + kHeld - 2) / (kHeld - 1);
  return whole;
}

bool exact_on_integers(const OpSpec& op, const BoundCall& call, std::span<const OutputSpec> outputs,
                       std::size_t output) {
  constexpr std::array<std::string_view, 12> kElementwise{
      "ttnn.add",     "ttnn.subtract", "ttnn.multiply", "ttnn.add_", "ttnn.subtract_", "ttnn.multiply_",
      "ttnn.maximum", "ttnn.minimum",  "ttnn.neg",      "ttnn.abs",  "ttnn.relu",      "ttnn.square"};
  if (op.budget == nullptr || output >= outputs.size()) return false;
  const ErrorBudget budget = op.budget(call, outputs, output);
  if (budget.kind == ErrorBudget::Kind::kExact || budget.kind == ErrorBudget::Kind::kSelection) return true;
  const DType dtype = outputs[output].spec.dtype.value;
  if (!holds_sums(dtype) || !no_activation(call) || !whole_scalar(call, "scalar")) return false;
  if (one_of(op.name, kElementwise)) return whole_scalar(call, "input_tensor_b");
  const Whole whole = whole_numbers(op, call);
  const std::int64_t terms = (terms_of(op, call) + whole.every - 1) / whole.every;
  if (is_sum(op.name)) return terms * whole.reach <= kHeld;
  if (is_matmul(op.name) || op.name == "ttnn.conv2d") return terms * whole.reach * whole.reach + whole.reach <= kHeld;
  return false;
}

ErrorBudget budget_for(const DataRecipe& recipe, const OpSpec& op, const BoundCall& call,
                       std::span<const OutputSpec> outputs, std::size_t output) {
  ErrorBudget budget = op.budget(call, outputs, output);
  const bool rounds = budget.kind == ErrorBudget::Kind::kElementwise || budget.kind == ErrorBudget::Kind::kContraction;
  if (rounds && recipe.distribution == Distribution::kIntegers && exact_on_integers(op, call, outputs, output))
    return {.kind = ErrorBudget::Kind::kExact, .why = "whole numbers: no sum of them is rounded"};
  return budget;
}

}  // namespace opwright
