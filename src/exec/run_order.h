// Which part of a plan this process runs, and what starts next: the largest case that fits beside the running ones.
#pragma once

#include <cstdint>
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

// All waiting cases of a run. Order: largest memory first, so that what is hard to place is not left for the end; where
// the next does not fit, the largest that does, so that small cases fill the other workers meanwhile. Cases of about
// the same need come in the order of the plan. The same ends in the same order give the same starts.
class RunQueue {
 public:
  // `chosen`: indices into `cases`, each once; `cases` stays where it is as long as the queue. `cap` as of Admission.
  RunQueue(std::span<const PlannedCase> cases, std::vector<std::uint32_t> chosen, std::int64_t cap);

  // The index of a case, now counted as running. None while `empty()` is false: wait until a running one ends.
  std::optional<std::uint32_t> next();
  void ended(std::uint32_t index);  // exactly once for each `next`
  bool empty() const { return waiting_ == 0; }
  std::size_t waiting() const { return waiting_; }
  const Admission& admission() const { return admission_; }

 private:
  std::uint32_t first_waiting(std::uint32_t place);

  std::span<const PlannedCase> cases_;
  std::vector<std::uint32_t> order_;  // largest first
  // For each place of order_ a place at or behind it before which nobody waits: found again in almost no time.
  std::vector<std::uint32_t> skip_;
  std::size_t waiting_;
  Admission admission_;
};

// What a case counts as: estimates in steps of 32 MiB, which is also what the smallest worker takes.
std::int64_t counted_bytes(std::int64_t estimated);

}  // namespace opwright
