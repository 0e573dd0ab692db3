// What the chips can do at best, as published: where a time can be compared with something.
#pragma once

#include "dialect/ttnn/board.h"

namespace opwright {

struct BoardRates {
  double clock;   // cycles a nanosecond
  double dram;    // bytes a nanosecond: what the library's own performance model takes
  double engine;  // multiply-adds a cycle and core of the matrix engine, at the lowest fidelity
};

inline constexpr BoardRates kWormholeRates{1.0, 258, 2048};
inline constexpr BoardRates kBlackholeRates{1.35, 512, 2048};

constexpr const BoardRates& rates_of(Arch arch) { return arch == Arch::kWormhole ? kWormholeRates : kBlackholeRates; }

}  // namespace opwright
