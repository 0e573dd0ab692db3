#include "store/narrow.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "model/test_id.h"

namespace opwright::store {
namespace {

// `sure` is set to false where the index does not say enough.
Result<std::vector<std::int64_t>> any_of(Index& index, const AnyOf& any, bool& sure) {
  std::vector<std::int64_t> ids;
  OPWRIGHT_TRY(index.with_facts(any.doubtful, ids));
  sure = sure && ids.empty() && index.first_with_facts() <= 1;
  OPWRIGHT_TRY(index.with_facts(any.ranges, ids));
  for (const std::uint64_t term : any.terms) {
    OPWRIGHT_TRY_ASSIGN(const auto list, index.with_term(term));
    ids.insert(ids.end(), list.begin(), list.end());
  }
  if (index.first_with_facts() > 1) {  // of these nobody knows
    OPWRIGHT_TRY_ASSIGN(const auto all, index.all());
    ids.insert(ids.end(), all.begin(), std::lower_bound(all.begin(), all.end(), index.first_with_facts()));
  }
  return ascending(std::move(ids));
}

// What the index leaves of one way.
Result<std::vector<std::int64_t>> narrowed(Index& index, const Way& way, bool& sure) {
  sure = sure && way.is_exact;
  if (way.terms.empty() && way.facts.empty()) return index.all();
  std::vector<std::vector<std::int64_t>> lists;
  for (const std::uint64_t term : way.terms) {
    OPWRIGHT_TRY_ASSIGN(auto list, index.with_term(term));
    if (list.empty()) return list;
    lists.push_back(std::move(list));
  }
  for (const AnyOf& any : way.facts) {
    OPWRIGHT_TRY_ASSIGN(auto list, any_of(index, any, sure));
    if (list.empty()) return list;
    lists.push_back(std::move(list));
  }
  std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::int64_t> both;
  for (std::size_t i = 1; i < lists.size(); ++i) {
    both.clear();
    std::set_intersection(lists[0].begin(), lists[0].end(), lists[i].begin(), lists[i].end(), std::back_inserter(both));
    lists[0].swap(both);
  }
  return std::move(lists[0]);
}

}  // namespace

std::vector<std::int64_t> ascending(std::vector<std::int64_t> ids) {
  const auto [low, high] = std::minmax_element(ids.begin(), ids.end());
  if (ids.size() < 64 || static_cast<std::uint64_t>(*high - *low) / 64 > ids.size()) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  const std::int64_t first = *low;
  std::vector<std::uint64_t> marks(static_cast<std::size_t>(*high - first) / 64 + 1);
  for (const std::int64_t id : ids) {
    const auto place = static_cast<std::uint64_t>(id - first);
    marks[place / 64] |= std::uint64_t{1} << place % 64;
  }
  ids.clear();
  for (std::size_t i = 0; i < marks.size(); ++i) {
    for (std::uint64_t left = marks[i]; left != 0; left &= left - 1)
      ids.push_back(first + static_cast<std::int64_t>(i * 64) + std::countr_zero(left));
  }
  return ids;
}

Result<Candidates> narrow(Index& index, std::span<const Way> ways) {
  std::vector<std::int64_t> all;
  bool sure = !ways.empty();
  if (ways.empty()) {
    OPWRIGHT_TRY_ASSIGN(all, index.all());
  }
  for (const Way& way : ways) {
    OPWRIGHT_TRY_ASSIGN(const auto some, narrowed(index, way, sure));
    all.insert(all.end(), some.begin(), some.end());
  }
  if (ways.size() > 1) all = ascending(std::move(all));
  std::vector<ConfigId> ids;
  ids.reserve(all.size());
  for (const std::int64_t id : all) ids.push_back({id});
  return Candidates{std::move(ids), sure};
}

std::int64_t count_functions(std::span<const std::string_view> sources) {
  std::set<std::string> functions;
  for (const std::string_view source : sources) {
    if (!source.empty()) functions.insert(test_function(source));
  }
  return static_cast<std::int64_t>(functions.size());
}

}  // namespace opwright::store
