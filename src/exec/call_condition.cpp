#include "exec/call_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "exec/call_facts.h"

namespace opwright {
namespace {

using Is = Need::Is;

struct Sign {
  std::string_view text;
  Is is;
};
// The longer ones first.
constexpr std::array kSigns{Sign{" != ", Is::kUnequal}, Sign{" <= ", Is::kAtMost}, Sign{" >= ", Is::kAtLeast},
                            Sign{" = ", Is::kEqual},    Sign{" < ", Is::kLess},    Sign{" > ", Is::kMore}};
constexpr std::string_view kPassed = " passed";
constexpr std::string_view kAnd = " and ";

Result<Need> parse_need(std::string_view text) {
  if (text.ends_with(kPassed))
    return Need{std::string(trimmed(text.substr(0, text.size() - kPassed.size()))), Is::kPassed, ""};
  for (const Sign& sign : kSigns) {
    const std::size_t at = text.find(sign.text);
    if (at == std::string_view::npos) continue;
    Need need{std::string(trimmed(text.substr(0, at))), sign.is,
              std::string(trimmed(text.substr(at + sign.text.size())))};
    if (const std::size_t percent = need.fact.find(" % "); percent != std::string::npos && need.value == "0") {
      need.value = trimmed(std::string_view(need.fact).substr(percent + 3));
      need.fact.resize(percent);
      need.is = sign.is == Is::kEqual ? Is::kMultiple : Is::kNoMultiple;
    }
    if (!need.fact.empty() && !need.value.empty()) return need;
  }
  return fail(ErrorCode::kUsage,
              fmt::format("'{}' is no condition on a call: FACT = VALUE (!=, <, >, <=, >=), FACT % N "
                          "= 0, FACT passed",
                          text));
}

}  // namespace

std::string to_text(const Need& need) {
  if (need.is == Is::kPassed) return need.fact + std::string(kPassed);
  if (need.is == Is::kMultiple || need.is == Is::kNoMultiple)
    return fmt::format("{} % {} {} 0", need.fact, need.value, need.is == Is::kMultiple ? "=" : "!=");
  return fmt::format("{}{}{}", need.fact, std::ranges::find(kSigns, need.is, &Sign::is)->text, need.value);
}

std::string to_text(const CallCondition& condition) {
  std::vector<std::string> parts;
  if (!condition.op.empty()) parts.push_back(condition.op);
  for (const Need& need : condition.needs) parts.push_back(to_text(need));
  return fmt::format("{}", fmt::join(parts, kAnd));
}

Result<CallCondition> parse_condition(std::string_view text) {
  CallCondition out;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const std::size_t end = rest.find(kAnd);
    const std::string_view part = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + kAnd.size());
    if (out.op.empty() && out.needs.empty() && part.find(' ') == std::string_view::npos) {
      out.op = dotted(part);
      continue;
    }
    OPWRIGHT_TRY_ASSIGN(Need need, parse_need(part));
    out.needs.push_back(std::move(need));
  }
  return out;
}

bool holds(const Need& need, std::span<const Argument> args) {
  const auto fact = fact_of(args, need.fact);
  if (need.is == Is::kPassed) return fact && *fact != "none";
  if (!fact) return need.is == Is::kUnequal;
  // A dimension may be held against another.
  const std::string value = need.value.ends_with(']') ? fact_of(args, need.value).value_or(need.value) : need.value;
  const auto actual = number_of(*fact), wanted = number_of(value);
  if (!actual || !wanted)
    return need.is == Is::kEqual ? *fact == value : need.is == Is::kUnequal ? *fact != value : false;
  switch (need.is) {
    case Is::kEqual:
      return *actual == *wanted;
    case Is::kUnequal:
      return *actual != *wanted;
    case Is::kLess:
      return *actual < *wanted;
    case Is::kMore:
      return *actual > *wanted;
    case Is::kAtMost:
      return *actual <= *wanted;
    case Is::kAtLeast:
      return *actual >= *wanted;
    case Is::kMultiple:
      return *wanted != 0 && std::fmod(*actual, *wanted) == 0;
    case Is::kNoMultiple:
      return *wanted != 0 && std::fmod(*actual, *wanted) != 0;
    case Is::kPassed:
      return true;
  }
  return false;
}

bool holds(const CallCondition& condition, std::string_view op, std::span<const Argument> args) {
  if (!condition.op.empty() && condition.op != op) return false;
  return std::ranges::all_of(condition.needs, [&](const Need& need) { return holds(need, args); });
}

}  // namespace opwright
