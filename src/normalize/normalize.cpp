#include "normalize/normalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/signatures.h"

namespace opwright::normalize {
namespace {

Convention convention_of(FormKind kind) {
  switch (kind) {
    case FormKind::kEra1:
    case FormKind::kGraph:
      return Convention::kCpp;
    case FormKind::kEra2:
    case FormKind::kOpJsonl:
    case FormKind::kPythonIo:
      return Convention::kPython;
  }
  return Convention::kPython;
}

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

int position_of_name(std::string_view name) {  // "arg12" -> 12, else -1
  if (!name.starts_with("arg")) return -1;
  name.remove_prefix(3);
  if (name.empty() || name.size() > 4 || (name.size() > 1 && name[0] == '0')) return -1;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

void arrange(OpConfig& config, std::vector<Slot> slots) {
  const auto signature =
      config.convention == Convention::kPython ? signature_of(config.op) : std::span<const std::string_view>();
  std::erase_if(slots, [](const Slot& slot) { return slot.position < 0 && is_handle_argument(slot.name); });
  for (Slot& slot : slots) {
    if (slot.position >= 0) {
      const auto at = static_cast<std::size_t>(slot.position);
      if (slot.name.empty() && at < signature.size()) {
        slot.rank = 0;
        slot.name = signature[at];
      } else {
        slot.rank = 1;
        if (slot.name.empty()) slot.name = fmt::format("arg{}", slot.position);
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

Result<OpConfig> Normalizer::normalize(FormKind kind, std::string_view op, std::string_view arguments,
                                       format::LiftNotes& notes) {
  const auto root = document_.parse(arguments);
  if (!root)
    return fail(root.error().too_deep ? ErrorCode::kUnsupported : ErrorCode::kBadInput,
                json::describe(arguments, root.error()));
  notes.duplicate_keys += document_.duplicate_keys();
  OPWRIGHT_TRY_ASSIGN(auto lifted, format::lift_arguments(kind, **root, notes));

  OpConfig config;
  config.op = dotted(op);
  config.convention = convention_of(kind);
  std::vector<Slot> slots;
  slots.reserve(lifted.size());
  for (format::LiftedArgument& argument : lifted)
    slots.push_back({2, argument.position, std::move(argument.name), std::move(argument.value)});
  arrange(config, std::move(slots));
  text_.clear();
  append_canonical(text_, config);
  config.key = key_of(text_);
  return config;
}

void settle(OpConfig& config) {
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
