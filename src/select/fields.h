// The closed parts of the language: which names a field knows, which relations it takes, what its words are made of.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "select/fold.h"
#include "select/selector.h"

namespace opwright::select {

// A closed set of names that a field is compared with.
struct NameSet {
  std::string_view what;
  std::vector<std::string_view> names;
  std::optional<std::string_view> (*canonical)(std::string_view text);  // of every spelling
};

const NameSet& names_of(Field field);
std::span<const Relation> relations_of(FieldType type);

inline bool is_order(Relation relation) { return relation >= Relation::kLess && relation <= Relation::kGreaterEqual; }

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return (fold(c) >= 'a' && fold(c) <= 'z') || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c); }
// What a value may be made of without quotes: names, numbers, paths of models and tests.
inline bool is_bare(char c) {
  return is_word(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view(".:/-+@%").find(c) != std::string_view::npos;
}
template <class Is>
bool all(std::string_view text, Is is) {
  return std::all_of(text.begin(), text.end(), is);
}
inline bool is_identifier(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && all(text, is_word);
}

}  // namespace opwright::select
