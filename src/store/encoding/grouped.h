// Configurations by a name, collected in any order of names and written name by name: cheaper than sorting millions of
// pairs, because there are few names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/flat_table.h"
#include "base/result.h"

namespace opwright::store {

template <class Name>
class Grouped {
 public:
  void add(const Name& name, std::uint64_t hash, std::int64_t id) {
    std::uint32_t group = index_.find(hash, [&](std::uint32_t at) { return names_[at] == name; });
    if (group == HashIndex::kNone) {
      group = static_cast<std::uint32_t>(names_.size());
      names_.push_back(name);
      index_.add(hash, group);
    }
    rows_.push_back({id, group});
  }
  std::size_t size() const { return rows_.size(); }

  // Calls use(name, ids) for each name in the order of `before`, its ids ascending; nothing is left afterwards.
  template <class Before, class Use>
  Status take(const Before& before, const Use& use) {
    std::vector<std::uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return before(names_[a], names_[b]); });
    std::vector<std::size_t> ends(names_.size() + 1);  // of a group: where the one behind it begins
    for (const Row& row : rows_) ++ends[row.group + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::int64_t> ids(rows_.size());
    std::vector<std::size_t> starts(ends.begin(), ends.end() - 1);
    for (const Row& row : rows_) ids[starts[row.group]++] = row.id;
    for (const std::uint32_t group : order) {
      const std::span<std::int64_t> of(ids.data() + ends[group], ends[group + 1] - ends[group]);
      if (!std::is_sorted(of.begin(), of.end())) std::sort(of.begin(), of.end());
      OPWRIGHT_TRY(use(names_[group], std::span<const std::int64_t>(of)));
    }
    names_.clear();
    rows_.clear();
    index_ = {};
    return {};
  }

 private:
  struct Row {
    std::int64_t id;
    std::uint32_t group;
  };
  std::vector<Name> names_;
  std::vector<Row> rows_;
  HashIndex index_;
};

}  // namespace opwright::store
