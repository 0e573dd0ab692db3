#include "normalize/normalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "normalize/signatures.h"

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
  int position;
  std::string name;
  Value value;
};

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
  const auto signature =
      config.convention == Convention::kPython ? signature_of(config.op) : std::span<const std::string_view>();
  std::vector<Slot> slots;
  slots.reserve(lifted.size());
  for (format::LiftedArgument& argument : lifted) {
    if (argument.position < 0 && is_handle_argument(argument.name)) continue;
    Slot slot{2, argument.position, std::move(argument.name), std::move(argument.value)};
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
    slots.push_back(std::move(slot));
  }
  std::stable_sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.rank == 2 ? a.name < b.name : a.position < b.position;
  });
  config.args.reserve(slots.size());
  for (Slot& slot : slots) config.args.push_back({std::move(slot.name), std::move(slot.value)});
  text_.clear();
  append_canonical(text_, config);
  config.key = key_of(text_);
  return config;
}

}  // namespace opwright::normalize
