#include "model/case_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace opwright {
namespace {

constexpr std::size_t kShown = 8;
constexpr std::size_t kLeast = 4;

std::string whole_name(const CaseRecord& record) {
  return record.key.empty() ? fmt::format("{:016x}", xxh64(record.line)) : record.key;
}

}  // namespace

std::string case_name(const CaseRecord& record) { return "@" + whole_name(record).substr(0, kShown); }

bool is_case_name(std::string_view text) {
  return text.size() > kLeast && text.front() == '@' &&
         std::ranges::all_of(text.substr(1), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_named(const CaseRecord& record, std::string_view name) {
  return is_case_name(name) && whole_name(record).starts_with(name.substr(1));
}

}  // namespace opwright
