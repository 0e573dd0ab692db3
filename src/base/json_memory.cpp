#include "base/json_memory.h"

#include <fmt/format.h>

#include <array>

#include "base/limits.h"

namespace opwright::json {
namespace {

constexpr std::uint64_t kIndexEntry = 4;

enum : std::uint8_t { kInside, kSpace, kOperator };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n'}) classes[static_cast<unsigned char>(c)] = kSpace;
  for (const char c : {'{', '}', '[', ']', ',', ':', '"'}) classes[static_cast<unsigned char>(c)] = kOperator;
  return classes;
}();

}  // namespace

std::uint64_t index_bytes(std::string_view text) {
  std::uint64_t tokens = 1;
  std::uint8_t before = kOperator;
  for (const char c : text) {
    const std::uint8_t now = kClasses[static_cast<unsigned char>(c)];
    tokens += now == kOperator || (now == kInside && before != kInside) ? 1 : 0;
    before = now;
  }
  return tokens * kIndexEntry;
}

Status check_index(std::string_view text, std::string_view path) {
  const std::uint64_t most = limits().document;
  if (text.size() <= most / 3) return {};  // five times a third is less than twice
  const std::uint64_t bytes = text.size() + index_bytes(text);
  if (bytes / 2 <= most) return {};
  return fail(over_limit(
      path, &Limits::document,
      fmt::format("one document of {} that takes {} to be read", size_words(text.size()), size_words(bytes))));
}

}  // namespace opwright::json
