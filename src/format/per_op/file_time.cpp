#include "format/per_op/file_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace opwright::format {
namespace {

int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

std::optional<std::int64_t> time_of_file(std::string_view name) {
  constexpr std::string_view kPattern = "_00000000_000000_000000.json";
  if (name.size() < kPattern.size()) return std::nullopt;
  const std::string_view end = name.substr(name.size() - kPattern.size());
  for (std::size_t i = 0; i < end.size(); ++i) {
    const bool digit = end[i] >= '0' && end[i] <= '9';
    if (kPattern[i] == '0' ? !digit : end[i] != kPattern[i]) return std::nullopt;
  }
  std::tm parts{};
  parts.tm_year = digits(end, 1, 4) - 1900;
  parts.tm_mon = digits(end, 5, 2) - 1;
  parts.tm_mday = digits(end, 7, 2);
  parts.tm_hour = digits(end, 10, 2);
  parts.tm_min = digits(end, 12, 2);
  parts.tm_sec = digits(end, 14, 2);
  parts.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&parts);
  if (seconds < 0) return std::nullopt;
  return static_cast<std::int64_t>(seconds) * 1'000'000'000 + static_cast<std::int64_t>(digits(end, 17, 6)) * 1000;
}

void FileTimes::append(std::int64_t unix_ns, std::string& out) {
  const std::int64_t second = std::max<std::int64_t>(0, unix_ns) / 1'000'000'000;
  if (second != second_) {
    second_ = second;
    const auto time = static_cast<std::time_t>(second);
    std::tm parts{};
    localtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts);
    text_ = text;
  }
  fmt::format_to(std::back_inserter(out), "{}_{:06}", text_, std::max<std::int64_t>(0, unix_ns) / 1000 % 1'000'000);
}

}  // namespace opwright::format
