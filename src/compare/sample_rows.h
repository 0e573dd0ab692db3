// Which rows of a huge output to judge.
#pragma once

#include <cstdint>
#include <vector>

namespace opwright {

struct SamplePlan {
  std::int64_t rows = 0;            // of the output: elements / row length
  std::int64_t row_length = 1;      // elements
  std::int64_t rows_per_plane = 0;  // rows of the second last dimension; tiles start anew in every plane. 0: all rows
  std::int64_t elements = 1 << 22;  // about how many elements to judge
  std::int64_t tile_height = 32;
  std::uint64_t seed = 0;
};

// Ascending and without repetition. Empty: all rows, because there are no more than asked for. Otherwise the first and
// last rows, the rows on both sides of tile boundaries and the ends of planes (where padding and tiling go wrong), and
// random rows from equal parts of the output, so that no region is left out. The same plan picks the same rows.
std::vector<std::int64_t> sample_rows(const SamplePlan& plan);

}  // namespace opwright
