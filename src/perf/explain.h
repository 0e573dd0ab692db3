// What the time of a position is worth: work and bytes from its shapes, dtypes and fidelity, against what the board can
// do, and what it is bound by. Nothing is said where the figures do not prove it: a bound of kUnknown is an answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "perf/positions.h"

namespace opwright::perf {

enum class Bound : std::uint8_t {
  kUnknown,       // no board, no shape, or nothing that proves one
  kCompute,       // the matrix engine runs at more than half of what its fidelity allows
  kDram,          // DRAM moves at more than half of its peak
  kDataMovement,  // it computes nothing: tiles are moved between layouts or memories
  kGap,           // the gap before it is longer than the kernel
  kFewCores,      // it uses less than half of the cores, and neither compute nor DRAM is near its peak
};
std::string_view name_of(Bound bound);  // "compute"

struct Explanation {
  double flops = kNoFigure;         // multiply and add are two
  double dram_bytes = kNoFigure;    // read and written, of tensors that lie in DRAM
  double bytes = kNoFigure;         // of all tensors
  double fpu_percent = kNoFigure;   // of the peak of the cores that it used, at its fidelity
  double dram_percent = kNoFigure;  // of the board's peak
  Bound bound = Bound::kUnknown;
  std::string advice;  // "" nothing proven
};

struct ReportBoard {
  std::optional<Board> board;
  std::string how;  // "from DEVICE ARCH and 64 cores", "as told", or why there is none
};

// One explanation a position.
std::vector<Explanation> explain(const Recording& recording, const Reduced& reduced, const ReportBoard& board);

}  // namespace opwright::perf
