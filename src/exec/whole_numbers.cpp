#include "exec/whole_numbers.h"

#include <algorithm>
#include <cmath>

namespace opwright {
namespace {

constexpr std::int64_t kHeld = 256;  // bfloat16 holds every whole number up to here
constexpr std::int64_t kLargest = 8;

std::int64_t terms_of(const OpSpec& op, const BoundCall& call) { return op.sum == nullptr ? 1 : op.sum(call).terms; }

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

bool holds_sums(DType dtype) { return dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kInt32; }

}  // namespace

bool fuses_activation(const BoundCall& call) {
  return std::ranges::any_of(call.args, [](const Argument& argument) {
    const List* list = argument.value.as_list();
    const bool named = argument.name.find("activation") != std::string::npos && !argument.value.is_null();
    return (named && !(list != nullptr && list->empty())) || has_activation(argument.value);
  });
}

Whole whole_numbers(const OpSpec& op, const BoundCall& call) {
  const Sum sum = op.sum == nullptr ? Sum{} : op.sum(call);
  const std::int64_t terms = std::max<std::int64_t>(1, sum.terms);
  Whole whole;
  if (op.on_whole == OnWhole::kSums) {
    whole.reach = std::clamp<std::int64_t>(kHeld / terms, 1, kLargest);
    return whole;
  }
  // Scores are sums too; beyond a few units a softmax knows only one key.
  if (call.tensor("input_tensor_k") != nullptr) whole.reach = 1;
  // Among few different numbers every row has the same largest one.
  if (op.on_whole == OnWhole::kSelects) whole.reach = 127;
  if (op.on_whole != OnWhole::kProducts) return whole;
  // reach^2 for each product, and a bias. Few terms leave room for large numbers, many for ones only.
  while (whole.reach > 1 && whole.reach * whole.reach * terms + whole.reach > kHeld) --whole.reach;
  if (sum.along_rows && terms + 1 > kHeld) whole.every = (terms + kHeld - 2) / (kHeld - 1);
  return whole;
}

bool exact_on_integers(const OpSpec& op, const BoundCall& call, std::span<const OutputSpec> outputs,
                       std::size_t output) {
  if (op.budget == nullptr || output >= outputs.size()) return false;
  const ErrorBudget budget = op.budget(call, outputs, output);
  if (budget.kind == ErrorBudget::Kind::kExact || budget.kind == ErrorBudget::Kind::kSelection) return true;
  const DType dtype = outputs[output].spec.dtype.value;
  if (!holds_sums(dtype) || fuses_activation(call) || !whole_scalar(call, "scalar")) return false;
  const Whole whole = whole_numbers(op, call);
  const std::int64_t terms = (terms_of(op, call) + whole.every - 1) / whole.every;
  switch (op.on_whole) {
    case OnWhole::kKept:  // operands that are numbers count too
      return std::ranges::all_of(op.params,
                                 [&](const Param& param) { return !param.role || whole_scalar(call, param.name); });
    case OnWhole::kSums:
      return terms * whole.reach <= kHeld;
    case OnWhole::kProducts:
      return terms * whole.reach * whole.reach + whole.reach <= kHeld;
    case OnWhole::kAsBudgeted:
    case OnWhole::kSelects:
      return false;
  }
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
