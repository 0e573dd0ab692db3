#include "normalize/recall.h"

#include <algorithm>
#include <array>

#include "model/position_name.h"

namespace opwright::normalize {
namespace {

constexpr std::size_t kMostKept = 4096;  // with long tensors some 6 MB

enum class Sign : std::uint8_t { kNone, kQuote, kOpen, kClose, kComma, kBlank };
constexpr auto kSigns = [] {
  std::array<Sign, 256> signs{};
  signs['"'] = Sign::kQuote;
  signs['{'] = signs['['] = Sign::kOpen;
  signs['}'] = signs[']'] = Sign::kClose;
  signs[','] = Sign::kComma;
  signs[' '] = signs['\t'] = signs['\n'] = signs['\r'] = Sign::kBlank;
  return signs;
}();
Sign sign_of(char c) { return kSigns[static_cast<unsigned char>(c)]; }

// Behind the string that begins at `at`; npos when it does not end.
std::size_t behind_string(std::string_view text, std::size_t at) {
  while (true) {
    const std::size_t quote = text.find('"', at + 1);
    if (quote == std::string_view::npos) return quote;
    std::size_t slash = quote;
    while (text[slash - 1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) return quote + 1;
    at = quote;
  }
}

// Behind the value that begins at `at`, as far as its brackets and strings tell; npos when there is none.
std::size_t behind_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (const std::size_t begin = at; at < text.size(); ++at) {
    switch (sign_of(text[at])) {
      case Sign::kNone:
        break;
      case Sign::kQuote:
        at = behind_string(text, at);
        if (at == std::string_view::npos) return at;
        --at;
        break;
      case Sign::kOpen:
        ++depth;
        break;
      case Sign::kClose:
        if (depth == 0) return at == begin ? std::string_view::npos : at;
        --depth;
        break;
      case Sign::kComma:
        if (depth == 0) return at == begin ? std::string_view::npos : at;
        break;
      case Sign::kBlank:
        if (depth == 0) return std::string_view::npos;
        break;
    }
  }
  return std::string_view::npos;
}

bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; });
}

}  // namespace

bool Recall::split(std::string_view text) {
  members_.clear();
  if (!text.starts_with('{')) return false;
  if (text == "{}") return true;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] != '"') return false;
    const std::size_t colon = behind_string(text, at);
    if (colon >= text.size() || text[colon] != ':') return false;
    const std::string_view name = text.substr(at + 1, colon - at - 2);
    at = behind_value(text, colon + 1);
    if (at == std::string_view::npos || !is_plain(name)) return false;
    members_.push_back({name, text.substr(colon + 1, at - colon - 1)});
    if (text[at] == '}') {
      std::ranges::sort(members_, {}, &Member::name);
      return at + 1 == text.size() && std::ranges::adjacent_find(members_, {}, &Member::name) == members_.end();
    }
    if (text[at] != ',') return false;
  }
  return false;
}

const Value* Recall::lifted(std::string_view text, const Dialect& dialect, format::LiftNotes& notes) {
  const Hash128 hash = xxh128(text, reinterpret_cast<std::uintptr_t>(&dialect));
  if (const auto found = known_.find(hash); found != known_.end()) return &found->second;
  wrapped_.assign(1, '[').append(text).append(1, ']');
  const auto root = document_.parse(wrapped_);
  if (!root || (*root)->count != 1) return nullptr;
  const auto noted = [&] { return notes.unparsed + notes.unknown_names + notes.duplicate_keys; };
  const std::size_t before = noted();
  notes.duplicate_keys += document_.duplicate_keys();
  Value value = format::lift_json((*root)->items[0], notes);
  if (noted() != before) return &(noted_ = std::move(value));
  if (known_.size() >= kMostKept) known_.clear();
  return &known_.emplace(hash, std::move(value)).first->second;
}

std::optional<std::vector<CallArgument>> Recall::arguments(std::string_view text, const Dialect& dialect,
                                                           format::LiftNotes& notes) {
  if (!split(text)) return std::nullopt;
  format::LiftNotes noted = notes;  // nobody is told of a text that is then left to the parser
  noted.dialect = &dialect;
  std::vector<CallArgument> arguments;
  arguments.reserve(members_.size());
  for (const Member& member : members_) {
    const Value* value = lifted(member.text, dialect, noted);
    if (value == nullptr) return std::nullopt;
    const int position = position_of_name(member.name);
    arguments.push_back({position, position < 0 ? std::string(member.name) : std::string(), *value});
  }
  notes = std::move(noted);
  return arguments;
}

}  // namespace opwright::normalize
