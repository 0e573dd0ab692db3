#include "gentest/input_fill.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ops/all_ops.h"

namespace opwright::gentest {
namespace {

constexpr std::int64_t kWrittenOut = 16;       // values of a tensor that stand in the row themselves
constexpr std::int64_t kMostLooked = 1 << 22;  // elements of a tensor that is made to see its range

// Roles that are a function of templates/op_data.py, without a number.
std::string_view function_of(Role role) {
  switch (role) {
    case Role::kPositive:
    case Role::kStatistics:
      return "positive";
    case Role::kAboveOne:
      return "above_one";
    case Role::kUnbounded:
      return "unbounded";
    case Role::kNonZero:
      return "non_zero";
    case Role::kCoarse:
      return "halves";
    case Role::kGains:
      return "gains";
    case Role::kLogits:
      return "logits";
    case Role::kQueries:
      return "queries";
    case Role::kRanked:
      return "ranked";
    case Role::kReciprocals:
      return "reciprocals";
    case Role::kMask:
      return "mask";
    case Role::kPredicate:
    case Role::kChannels:
      return "predicate";
    case Role::kCosines:
      return "cosines";
    case Role::kSines:
      return "sines";
    case Role::kRotation:
      return "rotation";
    case Role::kIndices:
      return "indices";
    default:
      return "";
  }
}

Python written_out(const std::vector<std::int64_t>& values) {
  Python out = Python::call("op_data.values");
  for (const std::int64_t value : values) out.add(Python::atom(std::to_string(value)));
  return out;
}

Python in_range(Role role, const std::vector<std::int64_t>& values) {
  const std::int64_t most = *std::ranges::max_element(values);
  const std::unordered_set<std::int64_t> different(values.begin(), values.end());
  const bool once = different.size() == values.size() || role == Role::kPages || role == Role::kUsers;
  const char* name = once ? "pages" : role == Role::kTokenIds ? "token_ids" : "positions";
  return Python::call(std::string("op_data.") + name).add(Python::atom(std::to_string(most + 1)));
}

}  // namespace

Python fill_of(const OpSpec& op, const BoundCall& call, std::size_t slot) {
  const TensorSlot& tensor = call.tensors[slot];
  const Role role = role_of(op, tensor.param).value_or(Role::kPlain);
  if (const std::string_view name = function_of(role); !name.empty())
    return Python::atom("op_data." + std::string(name));
  const bool is_structure = role >= Role::kTokenIds && role != Role::kWeights;
  if (!is_structure || op.fill == nullptr || !is_integer(tensor.spec.dtype.value) ||
      volume(tensor.spec.shape) > kMostLooked)
    return {};
  HostTensor made{tensor.spec, {}, {}};
  Random random(0x100000001B3ULL + slot);  // as case_data.cpp seeds the first recipe
  if (!op.fill(call, slot, random, made) || made.ints.empty()) return {};
  if (static_cast<std::int64_t>(made.ints.size()) <= kWrittenOut || role == Role::kBounds)
    return written_out(made.ints);
  return in_range(role, made.ints);
}

}  // namespace opwright::gentest
