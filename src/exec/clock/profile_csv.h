// The clock's times as a profiler report: the CSV that a real chip's profiler gives (columns of 2026, "v2.1"), read by
// the same programs. One row a kernel, one chip, programs one after the other as in a replayed trace; signposts `start`
// and `stop` around them, as existing post-processing expects.
//
// What the clock does not model stays empty: host times, times by processor, kernel sources, congestion.
//
//   OPWRIGHT_TRY_ASSIGN(ProfileCsv csv, ProfileCsv::create("run.csv"));
//   csv.add(plan, board);        // counts what launches no kernel
//   OPWRIGHT_TRY(csv.commit());  // without it nothing was changed
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "base/atomic_file.h"
#include "base/result.h"
#include "exec/clock/clock.h"
#include "exec/plan_call.h"

namespace opwright {

class ProfileCsv {
 public:
  static Result<ProfileCsv> create(const std::string& path);
  ProfileCsv(ProfileCsv&& other) noexcept;
  ProfileCsv& operator=(ProfileCsv&&) = delete;
  ~ProfileCsv();

  Status add(const PlannedCall& plan, const Board& board);
  Status commit();

  struct Counts {
    std::int64_t rows = 0;
    std::int64_t no_kernel = 0;                           // names of shapes, tensors on the host
    std::map<std::string, std::int64_t> without_a_clock;  // operations that no table has
    double kernel_ns = 0, op_to_op_ns = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  ProfileCsv(AtomicFile file, std::FILE* rows) : file_(std::move(file)), rows_(rows) {}
  Status keep_row(const PlannedCall& plan, const KernelCall& call, const KernelWork& work);

  AtomicFile file_;
  std::FILE* rows_ = nullptr;  // without a name: how many tensor columns there are is known at the end
  std::size_t inputs_ = 1, outputs_ = 1;
  std::int64_t now_ns_ = 1'000'000;  // where the report begins
  std::set<std::uint64_t> programs_;
  Counts counts_;
};

// What a user is told of it: "12 rows, 0.153 ms on the chip; no kernel: 2 calls".
std::string words_of(const ProfileCsv::Counts& counts);

}  // namespace opwright
