#include "fuse/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/near_names.h"
#include "format/native/call_filter.h"
#include "fuse/call_graph.h"
#include "model/op_config.h"

namespace opwright::fuse {
namespace {

constexpr std::size_t kLongest = 512;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_glob(std::string_view word) { return word.find_first_of("*?") != std::string_view::npos; }

bool means(std::string_view word, const std::string& op) {
  const auto same = [&](std::string_view name) {
    return is_glob(word) ? format::glob_matches(word, name) : word == name;
  };
  if (same(op) || same(short_name(op))) return true;
  const std::size_t dot = op.find('.');
  if (dot != std::string::npos && same(std::string_view(op).substr(dot + 1))) return true;
  return !is_glob(word) && (one_name(word) == op || one_name("ttnn." + std::string(word)) == op);
}

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
  Pattern out;
  out.text_ = text;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view word = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    std::size_t count = 1;
    const std::size_t star = word.rfind('*');
    if (star != std::string_view::npos && star > 0 && star + 1 < word.size()) {
      const std::string_view digits = word.substr(star + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
      if (error == std::errc() && end == digits.data() + digits.size())
        word = word.substr(0, star);
      else
        count = 1;
    }
    if (word.empty() || count == 0 || count > kLongest || out.words_.size() + count > kLongest)
      return fail(ErrorCode::kUsage,
                  fmt::format("--ops '{}': names with commas between them, such as 'linear,slice*3', "
                              "1 to {} in all",
                              text, kLongest));
    out.words_.insert(out.words_.end(), count, std::string(word));
  }
  return out;
}

Result<std::vector<std::vector<std::uint32_t>>> Pattern::resolve(const std::vector<std::string>& ops) const {
  std::vector<std::vector<std::uint32_t>> out;
  for (const std::string& word : words_) {
    std::vector<std::uint32_t>& meant = out.emplace_back();
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (means(word, ops[i])) meant.push_back(static_cast<std::uint32_t>(i));
    if (!meant.empty()) continue;
    const std::vector<std::string_view> names(ops.begin(), ops.end());
    const auto near = near_names(word, names);
    return fail(ErrorCode::kNotFound, fmt::format("--ops: the trace has no operation '{}'{}", word,
                                                  near.empty() ? "; 'opwright calls' lists them" : did_you_mean(near)));
  }
  return out;
}

std::string pattern_of(const std::vector<std::string>& ops) {
  std::string out;
  for (std::size_t i = 0; i < ops.size();) {
    std::size_t end = i;
    while (end < ops.size() && ops[end] == ops[i]) ++end;
    out += fmt::format("{}{}{}", out.empty() ? "" : ",", short_name(ops[i]),
                       end - i > 1 ? fmt::format("*{}", end - i) : "");
    i = end;
  }
  return out;
}

std::vector<std::size_t> find_in_row(const std::vector<std::uint32_t>& ops,
                                     const std::vector<std::vector<std::uint32_t>>& meant) {
  std::vector<std::size_t> found;
  const std::size_t length = meant.size();
  if (length == 0 || ops.size() < length) return found;
  const bool plain = std::ranges::all_of(meant, [](const auto& set) { return set.size() == 1; });
  if (!plain) {
    for (std::size_t at = 0; at + length <= ops.size(); ++at) {
      std::size_t i = 0;
      while (i < length && std::ranges::find(meant[i], ops[at + i]) != meant[i].end()) ++i;
      if (i == length) found.push_back(at);
    }
    return found;
  }
  // fall_back[i]: of the words before i, how many at the end are a beginning too.
  std::vector<std::size_t> fall_back(length + 1, 0);
  for (std::size_t i = 1, k = 0; i < length; ++i) {
    while (k > 0 && meant[i][0] != meant[k][0]) k = fall_back[k];
    if (meant[i][0] == meant[k][0]) ++k;
    fall_back[i + 1] = k;
  }
  for (std::size_t i = 0, k = 0; i < ops.size(); ++i) {
    while (k > 0 && (k == length || ops[i] != meant[k][0])) k = fall_back[k];
    if (ops[i] == meant[k][0]) ++k;
    if (k == length) found.push_back(i + 1 - length);
  }
  return found;
}

}  // namespace opwright::fuse
