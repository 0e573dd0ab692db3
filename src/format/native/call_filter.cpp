#include "format/native/call_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace opwright::format {
namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return glob_matches(pattern, text); });
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Status parse_range(std::string_view text, CallFilter& filter) {
  const std::size_t colon = text.find(':');
  const std::string_view from = text.substr(0, colon);
  const std::string_view to = colon == std::string_view::npos ? from : text.substr(colon + 1);
  const bool sound =
      (from.empty() || parse_number(from, filter.first)) && (to.empty() || parse_number(to, filter.last));
  if (!sound || (from.empty() && to.empty()) || filter.first > filter.last) {
    return fail(ErrorCode::kUsage,
                fmt::format("{}: a range of call numbers is A:B, A:, :B or A, with A not greater than B", text));
  }
  return {};
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool CallChooser::takes(const NativeCall& call) {
  if (call.seq < filter_.first || call.seq > filter_.last) return false;
  if (!filter_.ops.empty() && !takes_op(call.call)) return false;
  if ((!filter_.phases.empty() || !filter_.labels.empty()) && !takes_context(call.context)) return false;
  return !filter_.also || filter_.also(call);
}

bool CallChooser::takes_op(ValueId call) {
  const auto [entry, added] = ops_.try_emplace(call, false);
  if (!added) return entry->second;
  const NativeValue* value = trace_.values().call(call);
  const std::string_view name = value != nullptr ? value->text : std::string_view();
  return entry->second = any_matches(filter_.ops, name) || any_matches(filter_.ops, last_part(name, "."));
}

bool CallChooser::takes_context(ValueId context) {
  const auto [entry, added] = contexts_.try_emplace(context, false);
  if (!added) return entry->second;
  const CallContext known = trace_.context(context);
  return entry->second = (filter_.phases.empty() || any_matches(filter_.phases, known.phase)) &&
                         (filter_.labels.empty() || any_matches(filter_.labels, known.label));
}

}  // namespace opwright::format
