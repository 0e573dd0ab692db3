#include "exec/run_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "base/hash.h"

namespace opwright {

bool Shard::holds(std::string_view vector_id) const { return count <= 1 || xxh64(vector_id) % count == index - 1; }

Result<Shard> parse_shard(std::string_view text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  bool good = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  if (good) {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    good = count.ec == std::errc() && count.ptr == end && shard.index >= 1 && shard.index <= shard.count;
  }
  if (!good)
    return fail(ErrorCode::kUsage,
                fmt::format("--shard: '{}' is no part; write I/N with 1 <= I <= N, such as 2/8", text));
  return shard;
}

void Admission::start(std::int64_t bytes) {
  in_use_ += bytes;
  ++running_;
}

void Admission::end(std::int64_t bytes) {
  in_use_ -= bytes;
  --running_;
}

std::int64_t Admission::room() const {
  return cap_ <= 0 ? std::numeric_limits<std::int64_t>::max() : std::max<std::int64_t>(0, cap_ - in_use_);
}

std::int64_t counted_bytes(std::int64_t estimated) {
  constexpr std::int64_t kStep = std::int64_t{32} << 20;
  return std::max<std::int64_t>(1, (estimated + kStep - 1) / kStep) * kStep;
}

RunQueue::RunQueue(std::span<const PlannedCase> cases, std::vector<std::uint32_t> chosen, std::int64_t cap)
    : cases_(cases), order_(std::move(chosen)), skip_(order_.size() + 1), waiting_(order_.size()), admission_(cap) {
  std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t bytes_a = counted_bytes(cases_[a].bytes);
    const std::int64_t bytes_b = counted_bytes(cases_[b].bytes);
    return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
  });
  std::iota(skip_.begin(), skip_.end(), 0U);
}

std::uint32_t RunQueue::first_waiting(std::uint32_t place) {
  std::uint32_t found = place;
  while (skip_[found] != found) found = skip_[found];
  while (skip_[place] != found) place = std::exchange(skip_[place], found);
  return found;
}

std::optional<std::uint32_t> RunQueue::next() {
  if (waiting_ == 0) return std::nullopt;
  std::uint32_t place = first_waiting(0);
  if (const std::int64_t room = admission_.room(); !admission_.may_start(counted_bytes(cases_[order_[place]].bytes))) {
    const auto fits = std::ranges::partition_point(
        order_, [&](std::uint32_t index) { return counted_bytes(cases_[index].bytes) > room; });
    place = first_waiting(static_cast<std::uint32_t>(fits - order_.begin()));
    if (place == order_.size()) return std::nullopt;
  }
  skip_[place] = place + 1;
  --waiting_;
  admission_.start(counted_bytes(cases_[order_[place]].bytes));
  return order_[place];
}

void RunQueue::ended(std::uint32_t index) { admission_.end(counted_bytes(cases_[index].bytes)); }

}  // namespace opwright
