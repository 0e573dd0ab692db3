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

// For people: what is run, what is left out. At most `most` lines of each list, and how many more there are. `unit`:
// what the weights of the cases count.
std::string budget_text(const BudgetPlan& plan, const CaseSpool& spool, std::size_t most,
                        std::string_view unit = "call");

}  // namespace opwright
