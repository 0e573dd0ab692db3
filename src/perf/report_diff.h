// Two reports compared: what runs now that did not, what runs otherwise, and what all of it costs; with an answer to
// whether a difference is more than noise (perf/noise.h).
#pragma once

#include <array>
#include <vector>

#include "perf/noise.h"
#include "perf/position_alignment.h"
#include "perf/report.h"
#include "perf/signature_diff.h"

namespace opwright::perf {

struct PositionDiff {
  AlignedStep step;
  // Of added and removed positions only one side is there. The gap before the first position of a side holds the wait
  // for the host: it is compared as `first_gap` below and nowhere else.
  Difference kernel, gap;
};

// What positions of one kind of change add to the difference of the totals, in ns an iteration.
struct ChangeSum {
  std::int64_t positions = 0;
  double kernel_ns = 0, gap_ns = 0;
};

struct ReportDiff {
  std::vector<PositionDiff> positions;
  std::array<ChangeSum, 4> by_change;  // by Change
  bool shortest = true;                // Alignment::shortest
  Difference kernel, op_to_op, first_gap;
  std::int64_t without_figure = 0;  // positions with a kernel time on one side only: the totals do not compare alike
  std::int64_t without_spread = 0;  // positions that too many iterations lack: they add nothing to the interval

  const ChangeSum& of(Change change) const { return by_change[static_cast<std::size_t>(change)]; }
  bool same_operations() const;
  bool times_differ() const;  // of the totals, or of a position
};

ReportDiff diff_reports(const Report& a, const Report& b, const std::vector<std::string>& ignored = {});

// The fields in which a changed position differs; empty for others.
std::vector<FieldDifference> fields_of(const Report& a, const Report& b, const AlignedStep& step);

}  // namespace opwright::perf
