// Small questions about JSON nodes that the readers of per-op values share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_write.h"

namespace opwright::format {

inline bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

inline bool keys_are(const json::Node& node, std::initializer_list<std::string_view> keys) {
  return node.is(json::Kind::kObject) && node.count == keys.size() &&
         std::equal(keys.begin(), keys.end(), node.fields,
                    [](std::string_view key, const json::Field& field) { return key == field.key; });
}

inline bool is_integers(const json::Node* node) {
  return node != nullptr && node->is(json::Kind::kArray) &&
         std::all_of(node->begin(), node->end(), [](const json::Node& item) { return item.is_integer(); });
}

inline bool same_json(const json::Node& a, const json::Node& b) {
  std::string left, right;
  json::append_python(left, a, {});
  json::append_python(right, b, {});
  return left == right;
}

}  // namespace opwright::format
