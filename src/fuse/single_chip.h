// The part of a fused test that one chip of a mesh does: the same calls on the parts that the placements give it. Where
// no call exchanges parts between chips, they must make exactly the parts that were recorded.
#pragma once

#include <cstdint>
#include <string>

#include "dialect/ttnn/board.h"
#include "fuse/fused_test.h"

namespace opwright::fuse {

struct SingleChip {
  std::string skipped;       // why there is none; "" there is
  std::string wrong;         // what has another shape than the recorded part; "" nothing
  std::int64_t tensors = 0;  // whose shapes were compared
};
SingleChip prove_single_chip(const FusedTest& test, const ParameterSet& set, const Board& board);

// The parameters of the test on one chip.
ParameterSet on_one_chip(const FusedTest& test, const ParameterSet& set);

}  // namespace opwright::fuse
