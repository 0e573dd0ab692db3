#include "device/sim/memory/free_list.h"

#include <algorithm>

namespace opwright::sim {

FreeList::FreeList(std::int64_t size, std::int64_t alignment, Growth growth)
    : size_(size), alignment_(alignment), growth_(growth) {
  if (size > 0) holes_.push_back({0, size});
}

std::optional<std::int64_t> FreeList::take(std::int64_t bytes) {
  if (bytes <= 0) return 0;
  if (bytes > size_) return std::nullopt;
  const std::int64_t taken = (bytes + alignment_ - 1) / alignment_ * alignment_;
  for (std::size_t n = 0; n < holes_.size(); ++n) {
    const std::size_t i = growth_ == Growth::kUp ? n : holes_.size() - 1 - n;
    Hole& hole = holes_[i];
    const std::int64_t start = growth_ == Growth::kUp ? (hole.start + alignment_ - 1) / alignment_ * alignment_
                                                      : (hole.end - taken) / alignment_ * alignment_;
    if (start < hole.start || start + taken > hole.end) continue;
    const Hole before{hole.start, start};
    const Hole after{start + taken, hole.end};
    holes_.erase(holes_.begin() + static_cast<std::ptrdiff_t>(i));
    for (const Hole& rest : {after, before})
      if (rest.start < rest.end) holes_.insert(holes_.begin() + static_cast<std::ptrdiff_t>(i), rest);
    return start;
  }
  return std::nullopt;
}

void FreeList::give_back(std::int64_t offset, std::int64_t bytes) {
  if (bytes <= 0) return;
  Hole hole{offset, offset + (bytes + alignment_ - 1) / alignment_ * alignment_};
  auto at = std::ranges::find_if(holes_, [&](const Hole& other) { return other.start >= hole.end; });
  if (at != holes_.end() && at->start == hole.end) {
    hole.end = at->end;
    at = holes_.erase(at);
  }
  if (at != holes_.begin() && std::prev(at)->end == hole.start)
    std::prev(at)->end = hole.end;
  else
    holes_.insert(at, hole);
}

std::int64_t FreeList::free() const {
  std::int64_t sum = 0;
  for (const Hole& hole : holes_) sum += hole.end - hole.start;
  return sum;
}

std::int64_t FreeList::largest_hole() const {
  std::int64_t most = 0;
  for (const Hole& hole : holes_) most = std::max(most, hole.end - hole.start);
  return most;
}

}  // namespace opwright::sim
