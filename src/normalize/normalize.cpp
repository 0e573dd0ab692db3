#include "normalize/normalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/dialect.h"
#include "model/position_name.h"

namespace opwright::normalize {
namespace {

void append_canonical(std::string& text, const OpConfig& config) {
  text += fmt::format("{}:{}:", kKeyVersion, name_of(config.convention));
  append_name(text, config.op);
  text += '(';
  bool first = true;
  for (const Argument& argument : config.args) {
    if (!first) text += ',';
    first = false;
    append_name(text, argument.name);
    text += '=';
    append_text(text, argument.value);
  }
  text += ')';
}

// Named by the signature, in its order; then positions without a name; then keywords by name.
struct Slot {
  int rank;
  int position;  // -1: a keyword
  std::string name;
  Value value;
};

void arrange(OpConfig& config, std::vector<Slot> slots) {
  const Dialect& dialect = dialect_of(config.op);
  const auto signature = config.convention == Convention::kPython ? dialect.tables().signature(config.op)
                                                                  : std::span<const std::string_view>();
  std::erase_if(slots, [&](const Slot& slot) { return slot.position < 0 && is_handle_argument(dialect, slot.name); });
  if (dialect.normal_form != nullptr)
    for (Slot& slot : slots) slot.value = dialect.normal_form(std::move(slot.value));
  for (Slot& slot : slots) {
    if (slot.position >= 0) {
      const auto at = static_cast<std::size_t>(slot.position);
      if (slot.name.empty() && at < signature.size()) {
        slot.rank = 0;
        slot.name = signature[at];
      } else {
        slot.rank = 1;
        if (slot.name.empty()) slot.name = position_name(static_cast<std::size_t>(slot.position));
      }
    } else if (const auto found = std::find(signature.begin(), signature.end(), slot.name); found != signature.end()) {
      slot.rank = 0;
      slot.position = static_cast<int>(found - signature.begin());
    }
  }
  std::stable_sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.rank == 2 ? a.name < b.name : a.position < b.position;
  });
  config.args.clear();
  config.args.reserve(slots.size());
  for (Slot& slot : slots) config.args.push_back({std::move(slot.name), std::move(slot.value)});
}

}  // namespace

std::string canonical_text(const OpConfig& config) {
  std::string text;
  append_canonical(text, config);
  return text;
}

ConfigKey key_of(std::string_view canonical_text) { return sha256(canonical_text); }

OpConfig config_of(Call call) {
  OpConfig config;
  config.op = operation_name(call.op);
  config.convention = call.convention;
  std::vector<Slot> slots;
  slots.reserve(call.arguments.size());
  for (CallArgument& argument : call.arguments)
    slots.push_back({2, argument.position, std::move(argument.name), std::move(argument.value)});
  arrange(config, std::move(slots));
  config.key = key_of(canonical_text(config));
  return config;
}

Result<OpConfig> Normalizer::normalize(FormKind kind, std::string_view op, std::string_view arguments,
                                       format::LiftNotes& notes) {
  if (kind == FormKind::kEra2 || kind == FormKind::kNative) {
    if (auto lifted = recall_.arguments(arguments, dialect_of(op), notes)) {
      Call call;
      call.op = op;
      call.arguments = *std::move(lifted);
      return config_of(std::move(call));
    }
  }
  const auto root = document_.parse(arguments);
  if (!root)
    return fail(root.error().too_deep ? ErrorCode::kUnsupported : ErrorCode::kBadInput,
                json::describe(arguments, root.error()));
  notes.duplicate_keys += document_.duplicate_keys();
  OPWRIGHT_TRY_ASSIGN(Call call, format::lift_call(kind, op, **root, notes));
  return config_of(std::move(call));
}

Result<OpConfig> Normalizer::normalize(const Observed& observed, format::LiftNotes& notes) {
  if (observed.tree == nullptr) return normalize(observed.kind, observed.op, observed.arguments, notes);
  OPWRIGHT_TRY_ASSIGN(Call call, format::lift_call(observed.kind, observed.op, *observed.tree, notes));
  return config_of(std::move(call));
}

void settle(OpConfig& config) {
  config.op = operation_name(config.op);
  std::vector<Slot> slots;
  slots.reserve(config.args.size());
  for (Argument& argument : config.args) {
    const int position = position_of_name(argument.name);
    // In C++ every argument has its place, also one with a name: the place where it stands.
    if (position < 0 && config.convention == Convention::kCpp)
      slots.push_back({2, static_cast<int>(slots.size()), std::move(argument.name), std::move(argument.value)});
    else
      slots.push_back({2, position, position < 0 ? std::move(argument.name) : "", std::move(argument.value)});
  }
  arrange(config, std::move(slots));
  config.key = key_of(canonical_text(config));
}

}  // namespace opwright::normalize
