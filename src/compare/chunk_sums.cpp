#include "compare/chunk_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/vectorised.h"

namespace opwright {
namespace {

constexpr std::size_t kLanes = 8;

// __builtin_bit_cast instead of the function: passing such vectors to functions depends on the build's target.
template <int>
struct Lanes;
template <>
struct Lanes<8> {
  [[maybe_unused]] static constexpr std::size_t kWide = 8;  // not every compiler has such registers
  using Double = double __attribute__((vector_size(64)));
  using Long = std::int64_t __attribute__((vector_size(64)));
  using Bits = std::uint64_t __attribute__((vector_size(64)));
  using Short = std::uint32_t __attribute__((vector_size(32)));
};
template <>
struct Lanes<4> {
  static constexpr std::size_t kWide = 4;
  using Double = double __attribute__((vector_size(32)));
  using Long = std::int64_t __attribute__((vector_size(32)));
  using Bits = std::uint64_t __attribute__((vector_size(32)));
  using Short = std::uint32_t __attribute__((vector_size(16)));
};
template <>
struct Lanes<2> {
  static constexpr std::size_t kWide = 2;
  using Double = double __attribute__((vector_size(16)));
  using Long = std::int64_t __attribute__((vector_size(16)));
  using Bits = std::uint64_t __attribute__((vector_size(16)));
  using Short = std::uint32_t __attribute__((vector_size(8)));
};
template <>
struct Lanes<1> {  // for what is left over
  static constexpr std::size_t kWide = 1;
  using Double = double __attribute__((vector_size(8)));
  using Long = std::int64_t __attribute__((vector_size(8)));
  using Bits = std::uint64_t __attribute__((vector_size(8)));
  using Short = std::uint32_t __attribute__((vector_size(4)));
};
constexpr std::int64_t kWithoutSign = 0x7FFFFFFFFFFFFFFF;

// A quotient that is larger by a rounding error is no news: equal ones come in every chunk.
constexpr double kClearly = 1 + 0x1p-50;
// Added and taken away again, it leaves the nearest whole number.
constexpr double kToWhole = 0x1.8p52;
// The ULP errors that have the first and the last bucket.
constexpr double kLeastSteps = 0x1p-10;
constexpr double kMostSteps = std::bit_cast<double>((kFirstBucket + kBuckets - 1) << 47);

#if defined(__x86_64__)
namespace widest {
#define OPWRIGHT_TARGET OPWRIGHT_WIDEST
#if defined(__clang__)
#define OPWRIGHT_AT_ONCE 4
#else
#define OPWRIGHT_AT_ONCE 8
#endif
#include "compare/chunk_loops.inc"
#undef OPWRIGHT_TARGET
#undef OPWRIGHT_AT_ONCE
}  // namespace widest

namespace avx2 {
#define OPWRIGHT_TARGET OPWRIGHT_AVX2
#define OPWRIGHT_AT_ONCE 4
#include "compare/chunk_loops.inc"
#undef OPWRIGHT_TARGET
#undef OPWRIGHT_AT_ONCE
}  // namespace avx2
#endif

namespace plain {
#define OPWRIGHT_TARGET
#define OPWRIGHT_AT_ONCE 2
#include "compare/chunk_loops.inc"
#undef OPWRIGHT_TARGET
#undef OPWRIGHT_AT_ONCE
}  // namespace plain

std::vector<ChunkLoops> loops_here() {
  std::vector<ChunkLoops> here;
#if defined(__x86_64__)
  if (OPWRIGHT_HAS_WIDEST) here.push_back({"widest", widest::add_chunk, widest::moments, widest::row_part});
  if (__builtin_cpu_supports("avx2") != 0) here.push_back({"avx2", avx2::add_chunk, avx2::moments, avx2::row_part});
#endif
  here.push_back({"plain", plain::add_chunk, plain::moments, plain::row_part});
  return here;
}

const ChunkLoops& loops() {
  static const ChunkLoops best = chunk_loops().front();
  return best;
}

[[gnu::always_inline]] inline double largest_relative_of_loop(const Chunk* chunk) {
  double largest = 0.0;
  for (std::size_t i = 0; i < chunk->n; ++i) {
    const double size = std::abs(chunk->exact[i]);
    const double relative = size > 0.0 ? std::abs(chunk->actual[i] - chunk->exact[i]) / size : 0.0;
    largest = relative > largest ? relative : largest;
  }
  return largest;
}
OPWRIGHT_VECTORISED(double, largest_relative_of, (const Chunk* chunk), (chunk))

struct Rows {
  const double* exact;
  const double* actual;
  const double* weight;
  std::size_t count;
  std::size_t length;
};

[[gnu::always_inline]] inline void add_to_columns_loop(Rows rows, ColumnSums to) {
  for (std::size_t r = 0; r < rows.count; ++r) {
    const double* __restrict exact = rows.exact + r * rows.length;
    const double* __restrict actual = rows.actual + r * rows.length;
    const double* __restrict weights = rows.weight + r * rows.length;
    for (std::size_t i = 0; i < rows.length; ++i) {
      const double weight = weights[i];
      const double e = exact[i] * weight;
      to.z[i] += (actual[i] - exact[i]) * weight;
      to.e[i] += e;
      to.ee[i] += e * exact[i];
      to.weight[i] += weight;
    }
  }
}
OPWRIGHT_VECTORISED(void, add_to_columns, (Rows rows, ColumnSums to), (rows, to))

// Of rows that are too short for wide registers: a column after the other, in the same order of rows.
void add_to_few_columns(const Rows& rows, ColumnSums to) {
  for (std::size_t i = 0; i < rows.length; ++i) {
    double z = to.z[i];
    double e_sum = to.e[i];
    double ee = to.ee[i];
    double weight_sum = to.weight[i];
    for (std::size_t at = i; at < rows.count * rows.length; at += rows.length) {
      const double weight = rows.weight[at];
      const double e = rows.exact[at] * weight;
      z += (rows.actual[at] - rows.exact[at]) * weight;
      e_sum += e;
      ee += e * rows.exact[at];
      weight_sum += weight;
    }
    to.z[i] = z;
    to.e[i] = e_sum;
    to.ee[i] = ee;
    to.weight[i] = weight_sum;
  }
}

struct CarriedRows {
  Rows rows;
  const double* before;
  const double* shown;
};

// Elements that say nothing of what was there before the function are taken as nothing.
[[gnu::always_inline]] inline void add_carried_to_columns_loop(CarriedRows of, ColumnSums to, double* missing) {
  double* __restrict missing_here = missing;
  for (std::size_t r = 0; r < of.rows.count; ++r) {
    const std::size_t from = r * of.rows.length;
    const double* __restrict exact = of.rows.exact + from;
    const double* __restrict actual = of.rows.actual + from;
    const double* __restrict weights = of.rows.weight + from;
    const double* __restrict before = of.before + from;
    const double* __restrict shown_here = of.shown + from;
    for (std::size_t i = 0; i < of.rows.length; ++i) {
      const double weighs = weights[i], given = before[i], says = shown_here[i];
      const bool taken = weighs > 0.0;
      const double weight = taken ? weighs : 0.0;
      const double shown = taken ? says : 0.0;
      const double y = taken ? given : 0.0;
      missing_here[i] += taken ? 0.0 : 1.0;
      to.z[i] += (actual[i] - exact[i]) * shown;
      to.e[i] += y * weight;
      to.ee[i] += y * y * weight;
      to.weight[i] += weight;
    }
  }
}
OPWRIGHT_VECTORISED(void, add_carried_to_columns, (CarriedRows of, ColumnSums to, double* missing), (of, to, missing))

}  // namespace

const std::vector<ChunkLoops>& chunk_loops() {
  static const std::vector<ChunkLoops> here = loops_here();
  return here;
}

Found add_chunk(Chunk& chunk, bool weighted, double shift, Sums& sums, std::uint32_t* places) {
  return loops().add_chunk(&chunk, weighted, shift, &sums, places);
}

double largest_relative(const Chunk& chunk) { return largest_relative_of(&chunk); }

void add_columns(const Chunk& chunk, std::size_t from, std::size_t count, std::size_t length, ColumnSums to,
                 double* missing) {
  const Rows rows{chunk.exact + from, chunk.actual + from, chunk.weight + from, count, length};
  if (chunk.carried) {
    add_carried_to_columns({rows, chunk.before + from, chunk.shown + from}, to, missing);
  } else if (length < kLanes) {
    add_to_few_columns(rows, to);
  } else {
    add_to_columns(rows, to);
  }
}

Moments moments(const double* values, std::size_t n, double largest) { return loops().moments(values, n, largest); }

RowPart row_part(const Chunk& chunk, std::size_t from, std::size_t n) { return loops().row_part(&chunk, from, n); }

}  // namespace opwright
