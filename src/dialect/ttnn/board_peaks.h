// What a chip of a board can do at best: the figures that attained work and bandwidth are held against. One table
// (board_peaks.cpp); clock and DRAM bandwidth are those of the published cards.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"

namespace opwright {

// Multiplications and additions that the matrix engine of one core does in a cycle, at LoFi; a higher fidelity goes
// over its operands 2, 3 or 4 times.
inline constexpr std::int64_t kMatrixFlopsPerCycle = 4096;

// Of the chips of an architecture.
struct ChipRates {
  double clock_ghz;      // of the compute cores
  double modelled_dram;  // bytes a ns that the library's own performance model takes; a Wormhole's card has more
};
inline constexpr ChipRates kWormholeChip{1.0, 258}, kBlackholeChip{1.35, 512};
constexpr const ChipRates& chip_rates(Arch arch) { return arch == Arch::kWormhole ? kWormholeChip : kBlackholeChip; }

struct BoardPeaks {
  double clock_ghz = 0;      // of the compute cores
  double dram_gb_per_s = 0;  // of one chip, all banks together
};
// Zeros for a board that the table does not have.
BoardPeaks peaks_of(const Board& board);

// Boards whose chips are of this architecture ("wormhole_b0", "Blackhole") and give programs so many compute cores; 0:
// any number. A full card is among them with up to two columns less, which it keeps for itself.
std::vector<Board> boards_like(std::string_view arch, std::int64_t cores);

}  // namespace opwright
