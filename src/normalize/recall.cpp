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

std::optional<Recall::Outline> Recall::outline_of(std::string_view text, const Dialect& dialect) {
  if (!text.starts_with('{')) return std::nullopt;
  std::size_t begin = 0, end = 0;  // of what stands in the list
  for (std::size_t at = 1; at < text.size() && text[at] == '"'; ++at) {
    const std::size_t colon = behind_string(text, at);
    if (colon >= text.size() || text[colon] != ':') return std::nullopt;
    at = behind_value(text, colon + 1);
    if (at == std::string_view::npos) return std::nullopt;
    if (text[colon + 1] == '[') {
      if (begin != 0) return std::nullopt;  // two lists
      begin = colon + 2;
      end = at - 1;
    }
    if (text[at] != ',') break;
  }
  if (begin == 0) return std::nullopt;
  // Signs, fractions, leading zeros, lists of lists: the parser says what they are.
  constexpr std::size_t kMostDigits = 15;
  Outline outline;
  std::size_t digits = 0;
  std::int64_t number = 0;
  for (std::size_t at = begin; at <= end; ++at) {
    const char c = at == end ? ',' : text[at];
    if (c >= '0' && c <= '9' && !(digits == 1 && number == 0) && digits < kMostDigits) {
      number = 10 * number + (c - '0');
      ++digits;
    } else if (c == ',' && digits > 0) {
      outline.numbers.push_back(number);
      number = 0;
      digits = 0;
    } else {
      return std::nullopt;
    }
  }
  outline.before = text.substr(0, begin);
  outline.behind = text.substr(end);
  const std::uint64_t rank = outline.numbers.size();
  const Hash128 front = xxh128(outline.before, reinterpret_cast<std::uintptr_t>(&dialect) ^ rank << 48);
  outline.hash = xxh128(outline.behind, front.low ^ front.high);
  return outline;
}

std::optional<Value> Recall::parsed(std::string_view text, format::LiftNotes& notes) {
  wrapped_.assign(1, '[').append(text).append(1, ']');
  const auto root = document_.parse(wrapped_);
  if (!root || (*root)->count != 1) return std::nullopt;
  notes.duplicate_keys += document_.duplicate_keys();
  return format::lift_json((*root)->items[0], notes);
}

const Value* Recall::filled(const Outline& outline) {
  const std::optional<Value>* known = outlines_.find(outline.hash);
  if (known == nullptr || !known->has_value()) return nullptr;
  TensorSpec spec = *(*known)->as_tensor();
  spec.shape = outline.numbers;
  return &(filled_ = Value::tensor(std::move(spec)));
}

// Whether sizes go into the shape and nowhere else is tried out, with others.
void Recall::learn(const Outline& outline, const Value& value, const Dialect& dialect) {
  if (outlines_.find(outline.hash) != nullptr) return;
  if (outlines_.size() >= kMostKept) outlines_.clear();
  std::optional<Value>& learned = outlines_.add(outline.hash, std::nullopt);
  const TensorSpec* spec = value.as_tensor();
  if (spec == nullptr || !spec->has_shape || spec->shape != outline.numbers || spec->device_shape) return;
  for (const std::int64_t unlike : {1'000'003, 32}) {
    TensorSpec other = *spec;
    std::string text(outline.before);
    for (std::size_t i = 0; i < other.shape.size(); ++i) {
      other.shape[i] = unlike * (static_cast<std::int64_t>(i) + 1);
      text += (i > 0 ? "," : "") + std::to_string(other.shape[i]);
    }
    text += outline.behind;
    format::LiftNotes notes;
    notes.dialect = &dialect;
    const std::optional<Value> tried = parsed(text, notes);
    if (!tried || notes.unparsed + notes.unknown_names + notes.duplicate_keys > 0) return;
    if (!(*tried == Value::tensor(std::move(other)))) return;
  }
  learned = value;
}

const Value* Recall::lifted(std::string_view text, const Dialect& dialect, format::LiftNotes& notes) {
  const Hash128 hash = xxh128(text, reinterpret_cast<std::uintptr_t>(&dialect));
  if (const Value* found = known_.find(hash)) return found;
  const std::optional<Outline> outline = outline_of(text, dialect);
  if (outline) {
    if (const Value* value = filled(*outline)) return value;
  }
  const auto noted = [&] { return notes.unparsed + notes.unknown_names + notes.duplicate_keys; };
  const std::size_t before = noted();
  std::optional<Value> value = parsed(text, notes);
  if (!value) return nullptr;
  if (noted() != before) return &(noted_ = *std::move(value));
  if (outline) learn(*outline, *value, dialect);
  if (known_.size() >= kMostKept) known_.clear();
  return &known_.add(hash, *std::move(value));
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
