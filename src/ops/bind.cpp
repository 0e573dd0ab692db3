// Recorded arguments -> named parameters. Era-1 traces give C++ positions, Python traces give positions and keywords.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/near_names.h"
#include "dialect/dialect.h"
#include "model/position_name.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

bool is_lost(const Value& value) {
  if (value.as_opaque() != nullptr) return true;
  const List* list = value.as_list();
  return list != nullptr && std::ranges::any_of(*list, is_lost);
}

// A tensor whose layout the trace leaves out but whose alignment it names: rank 2 and more is what only tiles have.
Value with_known_layout(const Value& value) {
  if (const List* list = value.as_list()) {
    List out;
    for (const Value& item : *list) out.push_back(with_known_layout(item));
    return Value(std::move(out));
  }
  const TensorSpec* spec = value.as_tensor();
  if (spec == nullptr || spec->layout.present()) return value;
  for (const auto& [name, more] : spec->more) {
    const List* alignment = more.as_list();
    if (name != "alignment" || alignment == nullptr || alignment->empty()) continue;
    TensorSpec known = *spec;
    known.layout.value = alignment->size() >= 2 ? Layout::kTile : Layout::kRowMajor;
    return Value::tensor(std::move(known));
  }
  return value;
}

// The name of a Python position: as the signature says, or the operator where overloads disagree.
const Param* at_python_position(const OpSpec& op, std::size_t position) {
  const auto signature = signature_of(op.name);
  for (const Param& param : op.params)
    if (position < signature.size() ? param.name == signature[position] : param.place == static_cast<int>(position))
      return &param;
  return nullptr;
}

tl::unexpected<Refusal> unknown_argument(const OpSpec& op, const OpConfig& config, const Argument& argument) {
  if (position_of_name(argument.name) >= 0 && config.convention == Convention::kPython) {
    std::vector<std::string_view> names;
    for (const Param* next = nullptr; (next = at_python_position(op, names.size())) != nullptr;)
      names.push_back(next->name);
    return unsupported(argument.name,
                       fmt::format("{} takes only {} by position: give the others by name", op.name,
                                   names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))));
  }
  std::vector<std::string_view> names;
  for (const Param& param : op.params) names.push_back(param.name);
  return unsupported(argument.name, fmt::format("{} has no argument '{}' that is known here{}", op.name, argument.name,
                                                did_you_mean(near_names(argument.name, names))));
}

}  // namespace

const Param* find_param(const OpSpec& op, Convention convention, std::string_view name) {
  const int position = position_of_name(name);
  if (position >= 0 && convention == Convention::kPython)
    return at_python_position(op, static_cast<std::size_t>(position));
  for (const Param& param : op.params)
    if (param.name == name || (position >= 0 && param.era1 == position)) return &param;
  return nullptr;
}

std::optional<Role> role_of(const OpSpec& op, std::string_view param) {
  const auto found = std::ranges::find(op.params, param, &Param::name);
  return found == op.params.end() ? std::nullopt : found->role;
}

Checked<BoundCall> bind(const OpSpec& op, const OpConfig& config) {
  std::map<const Param*, Value> given;
  std::vector<std::string> assumed;
  for (const Argument& argument : config.args) {
    const Param* param = find_param(op, config.convention, argument.name);
    if (param == nullptr) {
      // Parameters that an operator got later are passed as None by old traces; None of a name nobody knows is nothing.
      if (argument.value.is_null()) continue;
      return unknown_argument(op, config, argument);
    }
    const bool is_gone = is_lost(argument.value) && param->lost != Lost::kHandle;
    if (is_gone && param->lost != Lost::kRefuse) {
      if (param->lost == Lost::kAssumeNone) assumed.emplace_back(param->name);
      continue;
    }
    if (is_gone) return lost(std::string(param->name), fmt::format("the trace lost {} of {}", param->name, op.name));
    if (given.contains(param))
      return refuse(fmt::format("{}() got multiple values for argument '{}'", op.name, param->name),
                    std::string(param->name));
    given.emplace(param, with_known_layout(argument.value));
  }
  BoundCall call;
  call.op = op.name;
  call.convention = config.convention;
  for (const Param& param : op.params)
    if (const auto found = given.find(&param); found != given.end()) call.set(param.name, std::move(found->second));
  call.assumed = std::move(assumed);
  if (op.rebind != nullptr) OPWRIGHT_CHECK(op.rebind(call));
  for (const Param& param : op.params)
    if (param.required && !call.passed(param.name))
      return refuse(fmt::format("{}(): incompatible function arguments: '{}' is missing", op.name, param.name),
                    std::string(param.name));
  return call;
}

}  // namespace opwright
