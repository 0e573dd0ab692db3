#include "vectors/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace opwright::vectors {

void Sample::offer(const std::string& op, TestVector&& vector) {
  if (count_ <= 0) return;
  auto& kept = by_operation_[op];
  const Rank rank{!vector.invalid.empty(), xxh64(fmt::format("{}:{}", seed_, vector.id))};
  if (static_cast<std::int64_t>(kept.size()) >= count_ && rank >= std::prev(kept.end())->first) return;
  kept.emplace(rank, std::move(vector));
  if (static_cast<std::int64_t>(kept.size()) > count_) kept.erase(std::prev(kept.end()));
}

std::vector<std::vector<TestVector>> Sample::take() && {
  std::map<std::string, std::int64_t> share;
  std::int64_t left = count_;
  while (left > 0) {
    std::vector<std::string> open;
    for (const auto& [op, kept] : by_operation_)
      if (share[op] < static_cast<std::int64_t>(kept.size())) open.push_back(op);
    if (open.empty()) break;
    if (static_cast<std::int64_t>(open.size()) > left) {
      std::stable_sort(open.begin(), open.end(), [&](const std::string& a, const std::string& b) {
        return by_operation_.at(a).size() > by_operation_.at(b).size();
      });
      open.resize(static_cast<std::size_t>(left));
    }
    for (const std::string& op : open) ++share[op];
    left -= static_cast<std::int64_t>(open.size());
  }
  std::vector<std::vector<TestVector>> taken;
  for (auto& [op, kept] : by_operation_) {
    std::vector<TestVector> vectors;
    for (auto& [rank, vector] : kept) {
      if (static_cast<std::int64_t>(vectors.size()) == share[op]) break;
      vectors.push_back(std::move(vector));
    }
    std::sort(vectors.begin(), vectors.end(), [](const TestVector& a, const TestVector& b) {
      return std::tie(a.config.key, a.group) < std::tie(b.config.key, b.group);
    });
    if (!vectors.empty()) taken.push_back(std::move(vectors));
  }
  return taken;
}

}  // namespace opwright::vectors
