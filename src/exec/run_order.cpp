#include "exec/run_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <queue>
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

namespace {

constexpr std::int64_t kStep = std::int64_t{32} << 20;
constexpr std::uint32_t kGone = ~0U;

std::uint32_t steps_of(const PlannedCase& one) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(counted_bytes(one.bytes) / kStep, kGone - 1));
}

// Longest first; before them what leaves no room for another of its kind.
std::vector<std::uint32_t> longest_order(std::span<const PlannedCase> cases, std::vector<std::uint32_t> order,
                                         std::int64_t cap) {
  const auto is_hard = [&](const PlannedCase& one) { return cap > 0 && counted_bytes(one.bytes) > cap / 2; };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (is_hard(cases[a]) != is_hard(cases[b])) return is_hard(cases[a]);
    return cases[a].seconds != cases[b].seconds ? cases[a].seconds > cases[b].seconds : a < b;
  });
  return order;
}

}  // namespace

std::int64_t counted_bytes(std::int64_t estimated) {
  return std::max<std::int64_t>(1, (estimated + kStep - 1) / kStep) * kStep;
}

WaitingOrder::WaitingOrder(std::span<const PlannedCase> cases, std::vector<std::uint32_t> places)
    : order_(std::move(places)), place_(cases.size()) {
  while (leaves_ < order_.size()) leaves_ *= 2;
  least_.assign(2 * leaves_, kGone);
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    place_[order_[i]] = i;
    least_[leaves_ + i] = steps_of(cases[order_[i]]);
  }
  for (std::size_t node = leaves_ - 1; node > 0; --node)
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
}

std::optional<std::uint32_t> WaitingOrder::first(std::int64_t room) const {
  const auto steps = static_cast<std::uint32_t>(std::min<std::int64_t>(room / kStep, kGone - 1));
  if (least_[1] > steps) return std::nullopt;
  std::size_t node = 1;
  while (node < leaves_) node = least_[2 * node] <= steps ? 2 * node : 2 * node + 1;
  return order_[node - leaves_];
}

void WaitingOrder::remove(std::uint32_t index) {
  std::size_t node = leaves_ + place_[index];
  least_[node] = kGone;
  for (node /= 2; node > 0; node /= 2) least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
}

RunQueue::RunQueue(std::span<const PlannedCase> cases, std::vector<std::uint32_t> order, Options options)
    : cases_(cases),
      options_(options),
      first_(cases, order),
      longest_(cases, longest_order(cases, order, options.cap)),
      waiting_(order.size()),
      is_long_(cases.size()),
      admission_(options.cap) {}

std::uint32_t RunQueue::start(std::uint32_t index, bool is_long) {
  first_.remove(index);
  longest_.remove(index);
  --waiting_;
  ++started_;
  is_long_[index] = is_long;
  long_running_ += is_long ? 1 : 0;
  admission_.start(counted_bytes(cases_[index].bytes));
  return index;
}

std::optional<std::uint32_t> RunQueue::next(const std::function<bool(const PlannedCase&)>& fits) {
  // What needs more than there is starts alone.
  const std::int64_t room = admission_.running() == 0 ? std::numeric_limits<std::int64_t>::max() : admission_.room();
  const bool is_long = !options_.by_value && started_ >= options_.opening && long_running_ < options_.jobs / 2;
  while (const auto index = (is_long ? longest_ : first_).first(room)) {
    if (!fits || fits(cases_[*index])) return start(*index, is_long);
    first_.remove(*index);
    longest_.remove(*index);
    aside_.push_back(*index);
  }
  if (aside_.empty() || waiting_ > aside_.size()) return std::nullopt;
  // Only those are left that were thought to take too long; by now that may be known better.
  const auto found = std::ranges::find_if(aside_, [&](std::uint32_t index) {
    return fits(cases_[index]) && (admission_.running() == 0 || counted_bytes(cases_[index].bytes) <= room);
  });
  if (found == aside_.end()) return std::nullopt;
  const std::uint32_t index = *found;
  aside_.erase(found);
  return start(index, false);
}

void RunQueue::ended(std::uint32_t index) {
  admission_.end(counted_bytes(cases_[index].bytes));
  if (is_long_[index]) --long_running_;
  is_long_[index] = false;
}

bool RunQueue::again(std::uint32_t index) {
  const std::int64_t bytes = counted_bytes(cases_[index].bytes);
  if (!admission_.may_start(bytes)) return false;
  admission_.start(bytes);
  return true;
}

double longest_first_seconds(std::vector<double> seconds, int workers) {
  std::ranges::sort(seconds, std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (int i = 0; i < std::max(1, workers); ++i) free_at.push(0);
  double end = 0;
  for (const double one : seconds) {
    const double then = free_at.top() + one;
    free_at.pop();
    free_at.push(then);
    end = std::max(end, then);
  }
  return end;
}

}  // namespace opwright
