#include "jobs/config_diff.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kCommonField = 64;  // a field shared by more configurations says nothing about who is near whom

}  // namespace

OperationDiff diff_operation(const std::string& op, const std::vector<OpConfig>& a, const std::vector<OpConfig>& b) {
  OperationDiff diff;
  diff.op = op;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].key < b[j].key))
      diff.removed.push_back(&a[i++]);
    else if (i == a.size() || b[j].key < a[i].key)
      diff.added.push_back(&b[j++]);
    else
      ++diff.same, ++i, ++j;
  }
  if (diff.removed.empty() || diff.added.empty()) return diff;

  // Nearest pairs by shared fields, found through an index of fields, so that the work stays linear.
  std::vector<FlatConfig> added;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> having;
  const auto field_hash = [](const auto& field) { return xxh64(field.first + "=" + field.second); };
  for (const OpConfig* config : diff.added) {
    const auto number = static_cast<std::uint32_t>(added.size());
    added.push_back(flatten(*config));
    for (const auto& field : added.back()) {
      auto& list = having[field_hash(field)];
      if (list.size() <= kCommonField) list.push_back(number);
    }
  }
  std::vector<bool> taken(added.size());
  std::vector<const OpConfig*> removed;
  std::unordered_map<std::uint32_t, std::size_t> shared;
  for (const OpConfig* config : diff.removed) {
    const FlatConfig flat = flatten(*config);
    shared.clear();
    for (const auto& field : flat) {
      const auto list = having.find(field_hash(field));
      if (list == having.end() || list->second.size() > kCommonField) continue;
      for (const std::uint32_t number : list->second) {
        if (!taken[number]) ++shared[number];
      }
    }
    if (shared.empty()) {  // only common fields: any one left is as near as another
      for (std::uint32_t number = 0; number < added.size() && shared.size() < kCommonField; ++number) {
        if (!taken[number]) shared[number] = 1;
      }
    }
    std::size_t fewest = flat.size();
    std::uint32_t nearest = 0;
    std::vector<FieldChange> best;
    for (const auto& [number, count] : shared) {
      std::vector<FieldChange> changes = changes_between(flat, added[number]);
      if (best.empty() ? changes.size() * 2 <= std::max(flat.size(), added[number].size())
                       : changes.size() < fewest || (changes.size() == fewest && number < nearest)) {
        fewest = changes.size();
        nearest = number;
        best = std::move(changes);
      }
    }
    if (best.empty()) {
      removed.push_back(config);
    } else {
      taken[nearest] = true;
      diff.changed.push_back({config, diff.added[nearest], std::move(best)});
    }
  }
  std::vector<const OpConfig*> left;
  for (std::size_t k = 0; k < added.size(); ++k) {
    if (!taken[k]) left.push_back(diff.added[k]);
  }
  diff.removed = std::move(removed);
  diff.added = std::move(left);
  return diff;
}

}  // namespace opwright::jobs
