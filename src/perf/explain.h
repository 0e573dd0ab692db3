// What the time of a position is worth: work and bytes from its shapes, dtypes and fidelity, against what the board can
// do, and what it is bound by. Nothing is said where the figures do not prove it: a bound of kUnknown is an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "perf/positions.h"

namespace opwright::perf {

enum class Bound : std::uint8_t {
  kUnproven,      // no board, no shape, or nothing that proves one of the others
  kCompute,       // the matrix engine does kNearPeak or more of what it can at this fidelity
  kDram,          // DRAM moves kNearPeak or more of what it can
  kDataMovement,  // it computes nothing: values are moved between layouts or memories
  kGap,           // the gap before it is longer than its kernel
  kFewCores,      // it uses less than half of the cores
};
std::string_view name_of(Bound bound);   // "compute"
inline constexpr double kNearPeak = 65;  // percent

struct Explanation {
  double flops = kNoFigure;         // of the shapes; multiply and add are two. Products of matrices only
  double padded_flops = kNoFigure;  // of the tiles that are multiplied
  double dram_bytes = kNoFigure;    // at least so many are moved, of tensors that lie in DRAM
  double bytes = kNoFigure;         // of all tensors
  double l1_bytes = kNoFigure;      // of those in L1, all cores together; what else lies there a report does not say
  double fpu_percent = kNoFigure;   // of the peak of the cores that it used, at its fidelity
  double dram_percent =
      kNoFigure;  // of the board's peak; of several boards that it can be, the fastest: at least so much
  Bound bound = Bound::kUnproven;
  std::string advice;  // "" nothing proven
};

struct ReportBoard {
  std::vector<Board> boards;     // all that it can be; alike in what is asked of them, but for DRAM
  std::string how;               // "n150 (wormhole_b0, 64 cores)", or why there is none
  double dram_gb_per_s() const;  // of the fastest; 0: not known
};
// `told`: the name of a board, or "": from DEVICE ARCH and AVAILABLE WORKER CORE COUNT of the window's rows.
Result<ReportBoard> board_of(const Recording& recording, const Reduced& reduced, std::string_view told);

// One explanation a position.
std::vector<Explanation> explain(const Recording& recording, const Reduced& reduced, const ReportBoard& board);

}  // namespace opwright::perf
