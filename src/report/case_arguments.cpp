#include "report/case_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "base/json_object.h"
#include "model/case_line.h"
#include "model/host_tensor.h"
#include "model/value.h"
#include "ops/all_ops.h"

namespace opwright::report {
namespace {

using Words = std::vector<std::string>;

struct Memory {
  std::string place, shard;  // "L1 HEIGHT_SHARDED", "[64,32] on (0,0)-(7,3) ROW_MAJOR"
};

// Split from the one text that a memory config has everywhere.
Memory memory_of(const TensorSpec& spec) {
  if (!spec.memory) return {std::string(spec.storage.name()), ""};
  constexpr std::string_view kOpen = "memory(", kShard = " shard ";
  std::string text = to_text(*spec.memory);
  if (text.starts_with(kOpen) && text.ends_with(')')) text = text.substr(kOpen.size(), text.size() - kOpen.size() - 1);
  const std::size_t at = text.find(kShard);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + kShard.size())};
}

std::string placement_of(const TensorSpec& spec) {
  std::string text;
  if (spec.placement && volume(spec.placement->mesh) == 1)
    text = "one chip";
  else if (spec.placement)
    text = fmt::format("{} on mesh {}", fmt::join(spec.placement->dims, ", "), to_text(spec.placement->mesh));
  if (spec.device_shape) text += fmt::format("{}{} a chip", text.empty() ? "" : ", ", to_text(*spec.device_shape));
  return text;
}

void add_rows(std::vector<std::string>& rows, const std::string& name, const Value& value) {
  if (const TensorSpec* spec = value.as_tensor()) {
    Memory memory = memory_of(*spec);
    rows.push_back(json_array(Words{name, spec->has_shape ? to_text(spec->shape) : "", std::string(spec->dtype.name()),
                                    spec->type.empty() ? std::string(spec->layout.name()) : spec->type,
                                    std::move(memory.place), std::move(memory.shard), placement_of(*spec)},
                              false));
    return;
  }
  bool has_tensors = false;
  for_each_tensor(value, [&](const TensorSpec&) { has_tensors = true; });
  const List* list = value.as_list();
  if (!has_tensors || list == nullptr) {
    rows.push_back(json_array(Words{name, to_text(value)}, false));
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) add_rows(rows, fmt::format("{}[{}]", name, i), (*list)[i]);
}

// Only of a call that ran: what a call adds up is asked of arguments that were found sound.
std::optional<std::int64_t> terms_of(const OpConfig& config) {
  const OpSpec* op = find_op(dotted(config.op));
  if (op == nullptr || op->sum == nullptr) return {};
  const Checked<BoundCall> call = bind(*op, config);
  if (!call) return {};
  return op->sum(*call).terms;
}

// With the names of Python's parameters, where every argument has one.
std::vector<Argument> named(const OpConfig& config) {
  if (const OpSpec* op = find_op(dotted(config.op)); op != nullptr) {
    if (Checked<BoundCall> call = bind(*op, config); call && call->args.size() == config.args.size()) return call->args;
  }
  return config.args;
}

}  // namespace

CaseArguments arguments_of(const CaseRecord& record) {
  CaseArguments out;
  const Result<OpConfig> config = parse_case(record.line);
  if (!config) return out;
  std::vector<std::string> rows;
  for (const Argument& argument : named(*config)) {
    add_rows(rows, argument.name, argument.value);
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (!out.rank && spec.has_shape) out.rank = static_cast<std::int64_t>(spec.shape.size());
    });
  }
  out.rows = json_array(rows, true);
  if (record.judged > 0) out.terms = terms_of(*config);
  return out;
}

}  // namespace opwright::report
