#include "store/union.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/json_write.h"

namespace opwright::store {

std::string joined_facts(std::string_view a, std::string_view b) {
  std::map<std::string, std::string> facts;
  json::Document document;
  for (const std::string_view text : {a, b}) {
    const auto root = document.parse(text);
    if (!root || !(*root)->is(json::Kind::kObject)) continue;
    for (std::uint32_t i = 0; i < (*root)->count; ++i) {
      const auto [entry, added] = facts.try_emplace(std::string((*root)->fields[i].key), (*root)->fields[i].value.text);
      if (!added) entry->second = std::min<std::string>(entry->second, std::string((*root)->fields[i].value.text));
    }
  }
  std::string joined = "{";
  for (const auto& [name, value] : facts) {
    if (joined.size() > 1) joined += ", ";
    json::append_quoted(joined, name);
    joined += ": ";
    json::append_quoted(joined, value);
  }
  return joined + "}";
}

Stays what_stays(const Sequence& before, const Sequence& coming) {
  if (before.digest == coming.digest) return coming.name < before.name ? Stays::kBeforeRenamed : Stays::kBefore;
  return coming.weight() < before.weight() ? Stays::kBefore : Stays::kNew;
}

}  // namespace opwright::store
