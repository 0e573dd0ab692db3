// What a chunk of elements adds to a verdict's figures: the loops over its elements, in wide registers.
//
// Every sum is taken in eight lanes, element i in lane i % 8, and the lanes are added in their order: the figures are
// the same on every machine, however wide its registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compare/bound.h"

namespace opwright {

// Sums and extremes over all elements. Values are taken from `shift` (a first guess of the mean), so that little is
// lost to cancellation.
struct Sums {
  double e = 0.0;
  double a = 0.0;
  double ee = 0.0;
  double aa = 0.0;
  double ea = 0.0;
  double squared_error = 0.0;
  double ulp = 0.0;
  double rounding = 0.0;  // ulp^2 / 12
  double variance = 0.0;
  double z_squared = 0.0;      // error^2 / variance
  double weighted_ee = 0.0;    // exact^2 / variance
  double weighted_ed = 0.0;    // exact x error / variance
  double weighted_unit = 0.0;  // |exact| x ulp / variance
  double before = 0.0;         // where a function is fused: what it was given, and its square
  double before_squared = 0.0;
  std::int64_t within = 0;
  std::int64_t near = 0;  // within twice the bound
  std::int64_t exact = 0;
  double max_abs = 0.0;
  double max_rel = 0.0;
  double max_ulp = 0.0;
  double max_ratio = 0.0;  // (error / bound)^2
};

// Where the bound is 0 an error is set against a millionth of an ulp, so that it has a finite ratio.
inline constexpr double kLeastBound = 1e-6;

// Buckets of ULP errors: 32 an octave, from 2^-10 to 2^50.
inline constexpr std::uint64_t kFirstBucket = (1023 - 10) << 5;
inline constexpr std::uint64_t kBuckets = 60 << 5;
// Neighbours count in different histograms: most fall into one bucket, and would wait for each other.
inline constexpr std::uint64_t kHistograms = 4;

// What a chunk leaves besides its sums.
struct Found {
  bool larger_rel = false;    // an element may be further off than any before, relative to its value
  bool larger_ratio = false;  // or to its bound
  bool off = false;           // an element is not in the first bucket
};

// Adds to `sums`, all but `max_rel` and `max_ratio`, which are compared with. Fills the chunk's weights where
// `weighted`, and for each element the place of its bucket in the interleaved histograms.
Found add_chunk(Chunk& chunk, bool weighted, double shift, Sums& sums, std::uint32_t* places);

// The largest |error| / |exact| of elements that are not 0.
double largest_relative(const Chunk& chunk);

// Sums of columns, from the first one of the rows.
struct ColumnSums {
  double* __restrict z;
  double* __restrict e;
  double* __restrict ee;
  double* __restrict weight;
};
// Adds `count` rows of `length` elements, of which the first is `from`. Behind a fused function: errors as they were
// before it; elements that say nothing of it are counted in `missing`, by column.
void add_columns(const Chunk& chunk, std::size_t from, std::size_t count, std::size_t length, ColumnSums to,
                 double* missing);

// Of the numbers that are at most `largest` in size.
struct Moments {
  double sum = 0.0;
  double squares = 0.0;
  std::int64_t count = 0;
};
Moments moments(const double* values, std::size_t n, double largest);

struct RowPart {
  double square, d, dd, ed, ee, eedd, eeed, eeee, unit;
};
// Sums of a part of a row.
RowPart row_part(const Chunk& chunk, std::size_t from, std::size_t n);

// The loops behind `add_chunk`, `moments` and `row_part` exist once a width of registers. Those that this machine can
// run, widest first: the first are used. All give the same numbers, to the last bit.
struct ChunkLoops {
  const char* name;
  Found (*add_chunk)(Chunk* chunk, bool weighted, double shift, Sums* sums, std::uint32_t* places);
  Moments (*moments)(const double* values, std::size_t n, double largest);
  RowPart (*row_part)(const Chunk* chunk, std::size_t from, std::size_t n);
};
const std::vector<ChunkLoops>& chunk_loops();

}  // namespace opwright
