#include "base/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/visible_text.h"

namespace opwright {
namespace {

struct Range {
  std::uint32_t from, to;
};

// Coarse: blocks, not single characters. A column too many is harmless, one too few breaks a line.
constexpr std::array kWide{Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2E80, 0x303E},
                           Range{0x3041, 0xA4CF},   Range{0xA960, 0xA97C},   Range{0xAC00, 0xD7A3},
                           Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF01, 0xFF60},
                           Range{0xFFE0, 0xFFE6},   Range{0x16FE0, 0x18CFF}, Range{0x1B000, 0x1B2FF},
                           Range{0x1F000, 0x1FAFF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kCombining{Range{0x300, 0x36F},   Range{0x483, 0x489},   Range{0x591, 0x5BD},
                                Range{0x610, 0x61A},   Range{0x64B, 0x65F},   Range{0x1AB0, 0x1AFF},
                                Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE20, 0xFE2F}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::ranges::any_of(ranges, [code](const Range& one) { return code >= one.from && code <= one.to; });
}

std::size_t columns_of(const CodePoint& point) {
  if (point.code < 0x300) return 1;
  return is_in(kWide, point.code) ? 2 : is_in(kCombining, point.code) ? 0 : 1;
}

std::size_t skip(std::string_view text, std::string_view set) {
  return std::min(text.find_first_not_of(set), text.size());
}

// -1.5e3, .5, +2, inf, -nan
bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "inf" || text == "nan" || text == "Infinity" || text == "NaN") return true;
  const std::size_t whole = skip(text, "0123456789");
  std::size_t digits = whole;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    const std::size_t fraction = skip(text.substr(1), "0123456789");
    digits += fraction;
    text.remove_prefix(1 + fraction);
  }
  if (digits == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && skip(text, "0123456789") == text.size();
}

// What spreadsheets take for a formula, also behind blanks and quotes; the wide forms of the signs too.
bool begins_formula(std::string_view text) {
  if (is_number(text)) return false;
  text.remove_prefix(skip(text, " \n\"'`"));
  if (text.empty()) return false;
  if (std::string_view("=+-@").find(text.front()) != std::string_view::npos) return true;
  const std::uint32_t code = code_point_at(text, 0).code;
  return code == 0xFF1D || code == 0xFF0B || code == 0xFF0D || code == 0xFF20 || code == 0x2212;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    width += columns_of(point);
    at += point.bytes;
  }
  return width;
}

std::string cut_text(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t used = 0, at = 0;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (used + columns_of(point) + 1 > width) break;
    used += columns_of(point);
    at += point.bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::vector<std::pair<std::string, std::int64_t>> by_count(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string count_list(const std::map<std::string, std::int64_t>& counts, std::size_t most) {
  const auto sorted = by_count(counts);
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", visible(sorted[i].first), grouped(sorted[i].second));
  if (sorted.size() > most) text += fmt::format(", and {} more", sorted.size() - most);
  return text;
}

std::string csv_cell(std::string_view raw) {
  std::string text = visible_lines(raw);
  if (text.starts_with('\'') || begins_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string shell_quoted(std::string_view text) {
  if (const std::string shown = visible(text); shown != text) {
    std::string out = "$'";
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = code_point_at(text, at);
      const std::string_view bytes = text.substr(at, point.bytes);
      at += point.bytes;
      if (point.sound && !is_hidden(point.code)) {
        if (bytes == "'" || bytes == "\\") out += '\\';
        out += bytes;
        continue;
      }
      for (const char c : bytes)
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));  // three digits: no more
    }
    return out + "'";
  }
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n'\"\\$`;&|<>()*?[]{}~#!") == std::string_view::npos &&
                     visible(text) == text;
  return plain ? std::string(text) : shell_quoted(text);
}

std::string plural(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", grouped(count), one) : fmt::format("{} {}", grouped(count), many);
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return bytes < 1'000'000 ? fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace opwright
