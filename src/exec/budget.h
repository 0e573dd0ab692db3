// Which cases to run when there is not time for all: those that cover most of what the models call. Covered shall be
// every operator, and for each operator its dtypes, layouts, memory kinds and size classes, weighted by the calls that
// have them; time that is left goes to the cases with most calls a second.
//
// Greedy by gain a second, operators first. Deterministic; never over the budget by estimate; a larger budget covers at
// least as much: operators, and where those are the same all features together, and where those are the same calls.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/case_spool.h"

namespace opwright {

Result<double> parse_budget(std::string_view text);  // "60s", "5m", "1h30m", "90" (seconds)

enum class Covered : std::uint8_t { kOperator, kDType, kLayout, kMemory, kSize };
inline constexpr std::size_t kCoveredKinds = 5;
std::string_view name_of(Covered kind);  // "op", "dtype", "layout", "memory", "size"

// Something that no chosen case has.
struct NotCovered {
  std::uint32_t op = 0;
  Covered kind = Covered::kOperator;
  std::string value;       // "BFLOAT8_B", "TILE", "L1 HEIGHT_SHARDED", "huge"; "" of kOperator
  std::int64_t cases = 0;  // that would have it
  std::int64_t calls = 0;  // of them
};

struct LeftOut {
  std::uint32_t op = 0;
  std::int64_t cases = 0;
  std::int64_t calls = 0;
  double seconds = 0;  // estimated
};

struct BudgetPlan {
  std::vector<std::uint32_t> chosen;  // indices into the cases, ascending
  double seconds = 0;                 // estimated, of all chosen cases on one worker
  double wall_seconds = 0;            // no longer than this on the workers, by estimate
  std::int64_t calls = 0;             // of all cases
  std::int64_t chosen_calls = 0;      // of the chosen ones
  // Share of the calls whose operator (whose operator and dtype, …) a chosen case has, by Covered.
  std::array<double, kCoveredKinds> share{};
  std::vector<LeftOut> left_out;        // by operator, most calls first
  std::vector<NotCovered> not_covered;  // most calls first
};

// `seconds` of wall time on `workers` that run at the same time. A case without calls counts as one call.
BudgetPlan choose_within(std::span<const PlannedCase> cases, double seconds, int workers);

// The same coverage, of the cases that were run in the end: `seconds` is what they were estimated at.
BudgetPlan coverage_of(std::span<const PlannedCase> cases, const std::vector<bool>& was_run);

// All cases in the order in which they cover most soonest: the cheapest of each operator, then those that add a dtype,
// a layout, a memory kind or a size class to what is covered of their operator, then the others by calls a second.
// Small ones come before large ones of the same use, and who stops anywhere has covered the most that the time allowed.
struct CoverageOrder {
  std::vector<std::uint32_t> order;
  std::size_t operators = 0;  // so many of them, the first, show every operator once
  std::size_t classes = 0;    // … every class of every operator
  // So many, the first, are worth all workers: every operator, and of the classes what a twentieth of the time shows.
  std::size_t opening = 0;
};
CoverageOrder coverage_order(std::span<const PlannedCase> cases);

// For people: what is run, what is left out. At most `most` lines of each list, and how many more there are. `unit`:
// what weights count.
std::string budget_text(const BudgetPlan& plan, const CaseSpool& spool, std::size_t most,
                        std::string_view unit = "call");
// The same of a run that has ended: what was covered within `seconds`, and what was not.
std::string covered_text(const BudgetPlan& plan, const CaseSpool& spool, double seconds, std::size_t most,
                         std::string_view unit = "call");

}  // namespace opwright
