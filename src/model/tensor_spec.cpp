#include "model/tensor_spec.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace opwright {
namespace {

template <class E>
struct Name {
  E value;
  std::string_view name;    // ours
  std::string_view number;  // the enum number some tools print; "" none
};

constexpr std::array kLayouts{Name{Layout::kTile, "TILE", ""}, Name{Layout::kRowMajor, "ROW_MAJOR", ""}};
constexpr std::array kStorageTypes{Name{StorageType::kDevice, "DEVICE", ""}, Name{StorageType::kHost, "HOST", ""}};
constexpr std::array kMemoryLayouts{
    Name{MemoryLayout::kInterleaved, "INTERLEAVED", "0"}, Name{MemoryLayout::kHeightSharded, "HEIGHT_SHARDED", "2"},
    Name{MemoryLayout::kWidthSharded, "WIDTH_SHARDED", "3"}, Name{MemoryLayout::kBlockSharded, "BLOCK_SHARDED", "4"},
    Name{MemoryLayout::kNdSharded, "ND_SHARDED", "5"}};
constexpr std::array kBufferTypes{Name{BufferType::kDram, "DRAM", "0"}, Name{BufferType::kL1, "L1", "1"},
                                  Name{BufferType::kSystemMemory, "SYSTEM_MEMORY", "2"},
                                  Name{BufferType::kL1Small, "L1_SMALL", "3"}, Name{BufferType::kTrace, "TRACE", "4"}};
constexpr std::array kOrientations{Name{Orientation::kRowMajor, "ROW_MAJOR", "0"},
                                   Name{Orientation::kColMajor, "COL_MAJOR", "1"}};

// The rows of model/dtype.h that are names: neither the first, absent, nor the last, unknown.
constexpr auto kNamedDTypes = [] {
  std::array<Name<DType>, kDTypes.size() - 2> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kDTypes[i + 1].value, kDTypes[i + 1].name, ""};
  return names;
}();

template <class E, std::size_t N>
std::string_view find_name(const std::array<Name<E>, N>& names, E value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return value == E::kAbsent ? "absent" : "unknown";
}

bool equal_ignoring_case(std::string_view text, std::string_view upper) {
  return text.size() == upper.size() && std::equal(text.begin(), text.end(), upper.begin(), [](char a, char b) {
           return std::toupper(static_cast<unsigned char>(a)) == b;
         });
}

// A name outside the set has one spelling too: without its prefixes and suffix, in capitals.
std::string capitals(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

template <class E, std::size_t N>
Spelled<E> parse(const std::array<Name<E>, N>& names, std::string_view text, std::string_view suffix = "") {
  if (text.empty()) return {};
  std::string_view word = last_part(text);
  if (word.empty()) word = text;
  const bool whole = word.size() == text.size();  // a number counts only when it stands alone
  for (const auto& entry : names) {
    if (equal_ignoring_case(word, entry.name) || (whole && !entry.number.empty() && word == entry.number))
      return {entry.value, {}};
  }
  if (!suffix.empty() && word.size() > suffix.size() &&
      equal_ignoring_case(word.substr(word.size() - suffix.size()), suffix)) {
    return parse(names, word.substr(0, word.size() - suffix.size()));
  }
  return {E::kUnknown, capitals(word)};
}

}  // namespace

std::string_view name_of(Layout value) { return find_name(kLayouts, value); }
std::string_view name_of(StorageType value) { return find_name(kStorageTypes, value); }
std::string_view name_of(MemoryLayout value) { return find_name(kMemoryLayouts, value); }
std::string_view name_of(BufferType value) { return find_name(kBufferTypes, value); }
std::string_view name_of(Orientation value) { return find_name(kOrientations, value); }

Spelled<DType> parse_dtype(std::string_view text) { return parse(kNamedDTypes, text); }
Spelled<Layout> parse_layout(std::string_view text) { return parse(kLayouts, text, "_LAYOUT"); }
Spelled<StorageType> parse_storage_type(std::string_view text) { return parse(kStorageTypes, text); }
Spelled<MemoryLayout> parse_memory_layout(std::string_view text) { return parse(kMemoryLayouts, text); }
Spelled<BufferType> parse_buffer_type(std::string_view text) { return parse(kBufferTypes, text); }
Spelled<Orientation> parse_orientation(std::string_view text) { return parse(kOrientations, text); }

}  // namespace opwright
