#include "select/arguments.h"

#include <utility>

#include "base/bytes.h"
#include "model/value_bytes.h"

namespace opwright::select {

std::string parts_of(const OpConfig& config) {
  std::string parts;
  thread_local std::string bytes;
  append_sized(parts, "");  // a call without arguments has parts, too
  for (const Argument& argument : config.args) {
    bytes.clear();
    append_bytes(bytes, argument);
    append_sized(parts, bytes);
  }
  return parts;
}

bool are_current(std::string_view parts) {
  for (ByteReader in(parts); !in.at_end();) {
    const std::string_view part = in.text();
    if (!part.empty() && part.front() != static_cast<char>(kBytesVersion)) return false;
  }
  return true;
}

Status Arguments::fill(const store::Card& card, OpConfig& config) {
  if (card.has_parts && fill_from_parts(card, config)) return {};
  OPWRIGHT_TRY_ASSIGN(const std::vector<store::FormRow> forms, reader_.forms(card.id));
  if (forms.empty()) return fail(ErrorCode::kBadInput, "a configuration has no form; the store is damaged");
  const store::FormRow& first = forms.front();
  OPWRIGHT_TRY_ASSIGN(OpConfig lifted, normalizer_.normalize(first.kind, first.op, first.text, notes_));
  config.args = std::move(lifted.args);
  return {};
}

bool Arguments::fill_from_parts(const store::Card& card, OpConfig& config) {
  if (card.block != block_) {
    known_.clear();
    known_.resize(card.table.size());
    block_ = card.block;
  }
  config.args.clear();
  config.args.reserve(card.parts.size());
  for (const std::uint32_t place : card.parts) {
    const std::string_view bytes = card.table[place];
    if (bytes.empty()) continue;
    std::optional<Argument>& known = known_[place];
    if (!known) known = argument_of(bytes);
    if (!known) return false;  // of another version
    config.args.push_back(*known);
  }
  return true;
}

}  // namespace opwright::select
