// Which part of a plan this process runs, and what starts next: early what shows most, the longest beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/case_spool.h"

namespace opwright {

// Part `index` (from 1) of `count`. Which part a case is in follows from its vector's id alone: cases that are added or
// removed move no other.
struct Shard {
  std::uint32_t index = 1;
  std::uint32_t count = 1;
  bool holds(std::string_view vector_id) const;
};
Result<Shard> parse_shard(std::string_view text);  // "2/8"

// A share of memory for the cases that run at the same time.
class Admission {
 public:
  // 0: no cap.
  explicit Admission(std::int64_t cap) : cap_(cap) {}
  // A case that needs more than the whole cap may start alone: the limit of its worker decides, not an estimate.
  bool may_start(std::int64_t bytes) const { return running_ == 0 || bytes <= room(); }
  void start(std::int64_t bytes);
  void end(std::int64_t bytes);
  std::int64_t room() const;
  std::int64_t in_use() const { return in_use_; }
  std::int64_t running() const { return running_; }

 private:
  std::int64_t cap_;
  std::int64_t in_use_ = 0;
  std::int64_t running_ = 0;
};

// Waiting cases in one order: the first of them that has room, found and taken out in almost no time.
class WaitingOrder {
 public:
  // `places`: indices into `cases`.
  WaitingOrder(std::span<const PlannedCase> cases, std::vector<std::uint32_t> places);
  std::optional<std::uint32_t> first(std::int64_t room) const;  // needs no more bytes than `room`
  void remove(std::uint32_t index);

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> place_;  // of each index in order_
  std::vector<std::uint32_t> least_;  // a tree: what the smallest case below a node needs
  std::size_t leaves_ = 1;
};

// All waiting cases of a run. Two orders meet in the middle: the given one, which shows every kind of case early, and
// the longest first, so that no long case is left for the end. Of the cases that run at the same time half are taken
// from the end of the long ones (of a single worker none), once the first `opening` cases have started. Where the next
// of an order has no room in memory, the first that has is taken. What needs more than half of the memory is as hard to
// place as a long case, and comes before those. The same ends in the same order give the same starts.
class RunQueue {
 public:
  struct Options {
    std::int64_t cap = 0;     // of memory, as of Admission
    int jobs = 1;             // at the same time
    std::size_t opening = 0;  // so many start in the given order alone
    bool by_value = false;    // the given order alone: the run ends when its time is over
  };
  // `order`: indices into `cases`, each once; `cases` stays where it is as long as the queue.
  RunQueue(std::span<const PlannedCase> cases, std::vector<std::uint32_t> order, Options options);

  // The index of a case, now counted as running. None while `empty()` is false: wait until a running one ends. A case
  // that does not `fit` is put aside: it is asked for again when no other waits.
  std::optional<std::uint32_t> next(const std::function<bool(const PlannedCase&)>& fits = {});
  void ended(std::uint32_t index);  // exactly once for each `next`
  // A case that has ended runs again: whether there is room for it now, and then it counts as running.
  bool again(std::uint32_t index);
  bool empty() const { return waiting_ == 0; }
  std::size_t waiting() const { return waiting_; }
  const Admission& admission() const { return admission_; }

 private:
  std::uint32_t start(std::uint32_t index, bool is_long);

  std::span<const PlannedCase> cases_;
  Options options_;
  WaitingOrder first_, longest_;
  std::size_t waiting_;
  std::size_t started_ = 0;
  int long_running_ = 0;
  std::vector<bool> is_long_;         // of cases that run
  std::vector<std::uint32_t> aside_;  // in their order
  Admission admission_;
};

// What a case counts as: estimates in steps of 32 MiB, which is also what the smallest worker takes.
std::int64_t counted_bytes(std::int64_t estimated);

// When the last of these cases ends where the longest starts first and no worker is ever idle: the best that an order
// can do, to a few percent.
double longest_first_seconds(std::vector<double> seconds, int workers);

}  // namespace opwright
