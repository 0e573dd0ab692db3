#include "base/limits.h"

#include <fmt/format.h>

#include <charconv>

#include "base/broken.h"

namespace opwright {
namespace {

Limits current;

const LimitFlag& flag_of(Limit limit) {
  for (const LimitFlag& flag : kLimitFlags) {
    if (flag.limit == limit) return flag;
  }
  broken("every limit has its flag");
}

}  // namespace

const std::array<LimitFlag, 7> kLimitFlags{{
    {"--max-document", "SIZE", "bytes of one document or native trace, unpacked (default 1G)", &Limits::document, true},
    {"--max-line", "SIZE", "bytes of one line (default 64M)", &Limits::line, true},
    {"--max-total", "SIZE", "bytes of one input, unpacked (default 16G)", &Limits::total, true},
    {"--max-ratio", "N", "unpacked bytes a packed byte, beyond 64M (default 500)", &Limits::ratio, false},
    {"--max-files", "N", "files of one folder (default 1000000)", &Limits::files, false},
    {"--max-depth", "N", "nesting of JSON (default 256, at most 1000)", &Limits::depth, false},
    {"--max-distinct", "N", "different calls or values of one input (default 4000000)", &Limits::distinct, false},
}};

const Limits& limits() { return current; }
void set_limits(const Limits& limits) { current = limits; }

Result<std::uint64_t> parse_limit(std::string_view text, const LimitFlag& flag) {
  const auto wrong = [&](std::string_view wanted) {
    return fail(ErrorCode::kUsage, fmt::format("{} {}: {}", flag.flag, text.substr(0, 40), wanted));
  };
  const std::string_view wanted = flag.is_size ? "a size is needed, e.g. 500M, 2G" : "a whole number is needed";
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || number == 0) return wrong(wanted);
  if (flag.is_size) {
    constexpr std::string_view kUnits = "kmgt";
    const char letter = unit.empty() ? '\0' : static_cast<char>(unit.front() | 0x20);
    if (const std::size_t power = kUnits.find(letter); letter != '\0' && power != std::string_view::npos) {
      const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
      if (number > UINT64_MAX >> shift) return wrong("this is more than any machine has");
      number <<= shift;
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
    if (unit == "B" || unit == "b") unit = {};
  }
  if (!unit.empty()) return wrong(wanted);
  if (flag.limit == &Limits::depth && number > kDeepestJson)
    return wrong(fmt::format("at most {}: deeper texts would need more stack than there is", kDeepestJson));
  return number;
}

std::string size_words(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  const bool whole = size == static_cast<double>(static_cast<std::uint64_t>(size));
  return whole ? fmt::format("{:.0f} {}", size, kUnits[unit]) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string limit_words(Limit limit, std::string_view seen) {
  const LimitFlag& flag = flag_of(limit);
  const std::uint64_t value = current.*limit;
  return fmt::format("{}; the limit is {} ({} raises it)", seen,
                     flag.is_size ? size_words(value) : fmt::format("{}", value), flag.flag);
}

Error over_limit(std::string_view where, Limit limit, std::string_view seen) {
  return {ErrorCode::kUnsupported, fmt::format("{}: {}", where, limit_words(limit, seen))};
}

}  // namespace opwright
