#include "base/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace opwright {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cut_text(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size() && used + 1 < width;) {
    std::size_t next = i + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    out += text.substr(i, next - i);
    i = next;
    ++used;
  }
  return out + "…";
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
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", sorted[i].first, grouped(sorted[i].second));
  if (sorted.size() > most) text += fmt::format(", and {} more", sorted.size() - most);
  return text;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n'\"\\$`;&|<>()*?[]{}~#!") == std::string_view::npos;
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
