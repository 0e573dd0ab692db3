// Inside the matrix engine model: what the driver (gemm.cpp), the kernels for each instruction set and the exact
// fallback share.
//
// The engine multiplies 5 by 7 significand bits in each fidelity phase. Eight products are aligned to the largest
// exponent of the eight (of the operands, before masking), each rounded to 10 bits below it with ties away from zero,
// and added exactly. Two such sums and the destination are then aligned to the largest exponent of the three, rounded
// to 10 (16-bit destination) or 23 (32-bit) bits below it, added exactly, and rounded to the destination's format.
// For each tile of 32 along k all of it runs for phase 0, then for phase 1, and so on.
//
// The engine rounds a sum that lies 14 or more binades below a 16-bit destination twice; the vector kernels round it
// once, which is the same but for one sum in thousands of such.
#pragma once

#include <cstdint>

#include "device/sim/gemm.h"

namespace opwright::sim::engine {

inline constexpr std::int64_t kTile = 32;  // of k
inline constexpr std::int64_t kStep = 16;  // of k in one accumulation
inline constexpr std::int64_t kGroup = 8;  // products that share an exponent
inline constexpr int kProductBits = 10;    // fraction bits kept of an aligned product
inline constexpr int kFp32Bits = 23;       // fraction bits kept of an aligned term for a 32-bit destination

// How much smaller than the operands the products of a phase are: the masked bits lie 5 and 7 below the leading one.
constexpr int phase_shift(int phase) { return ((phase & 1) != 0 ? 5 : 0) + ((phase & 2) != 0 ? 7 : 0); }
constexpr int phases_of(Fidelity fidelity) { return static_cast<int>(fidelity) + 1; }

// Bits of in0 (7 + 4) and of in1 (5 + 5) that the two phases of each take, of a significand of 11.
inline constexpr std::uint32_t kIn0High = 0xFFFE0000U;
inline constexpr std::uint32_t kIn1High = 0xFFF80000U;
inline constexpr std::uint32_t kIn0Bits = 0xFFFFE000U;
inline constexpr std::uint32_t kIn1Bits = 0xFFFFC000U;

inline constexpr std::int32_t kSmallestByte = -64;
inline constexpr std::int64_t kBlockTiles = 2;

// Strips of operands, of rows (in0) or of columns (in1), k after k: the two masked parts, and exponents relative to the
// largest of the strip, so that a byte holds them: -64 for zero and for all that is smaller still. The four bytes of
// a word of in1 belong to the same lane of its vectors; those of a word of in0 have the exponent of the row whose sums
// they are for.
// The parts of in1 are larger by 2^-18 than they should be: that turns ties to even into ties away from zero, and is
// too small to do anything else to products of 12 bits.
//
// A block is some strips of in0, one after the other in memory, times one of in1, over `tiles` tiles of k. Their
// destinations (rows x columns of the kernel) lie one after the other as well.
struct Block {
  const float* in0_high = nullptr;
  const float* in0_low = nullptr;  // null where no phase needs it
  const std::uint32_t* in0_exponents = nullptr;
  const int* in0_largest = nullptr;  // of each strip, biased
  std::int64_t strips = 0;
  const float* in1_high = nullptr;
  const float* in1_low = nullptr;
  const std::uint32_t* in1_exponents = nullptr;
  int in1_largest = 0;
  std::int64_t tiles = 0;    // at most kBlockTiles
  std::int64_t columns = 0;  // that are wanted: the kernel may leave out the others
  int phases = 1;
  bool fp32 = false;
  float* dst = nullptr;
  float* partial = nullptr;  // where set, the destinations start from nothing and are added to these instead of kept
};

// Values to be taken apart: of in0 the rows of some strips, `depth` values each; of in1 `depth` rows of the columns of
// some strips. Rows are `stride` apart.
struct Split {
  const float* from = nullptr;
  std::int64_t stride = 0;
  std::int64_t depth = 0;  // whole tiles
  std::int64_t strips = 1;
  float* high = nullptr;
  float* low = nullptr;  // null where no phase needs it
  std::uint32_t* exponents = nullptr;
  int* largest = nullptr;
  std::uint32_t bits = 0;  // that the engine uses at all
  std::uint32_t high_bits = 0;
  float scale = 1.0F;
};

struct Kernel {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t in0_words = 0;  // of exponents, for each k of a strip
  std::int64_t in1_words = 0;
  void (*run)(const Block& block) = nullptr;
  void (*split_in0)(const Split& job) = nullptr;
  void (*split_in1)(const Split& job) = nullptr;
  // What `Block::partial` asks for, of one strip whose sums are complete.
  void (*fold)(float* partial, float* sums, bool fp32) = nullptr;
};
const Kernel& best_kernel();
const Kernel& portable_kernel();
const Kernel* avx2_kernel();  // null where the machine has none
const Kernel* avx512_kernel();

// The whole job on the kernel of one's choice.
void gemm_with(const Gemm& job, const Kernel& kernel);

// Exponents (biased, of a product) between which the kernels are exact; strips with larger ones go the slow way.
inline constexpr int kLargestExponent = 225;
inline constexpr int kSmallestExponent = 45;

// The same for any values, one by one. `row`, `column`, `k`: where the block starts in the job.
void run_exact(const Gemm& job, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
               std::int64_t k, std::int64_t tiles, float* dst, std::int64_t stride);

// One element-wise multiplication of a phase, added to the destination; and an addition, which has no phases.
float multiply_accumulate(float source_a, float source_b, float dst, int phase, bool fp32);
float add_sources(float source_a, float source_b, bool fp32);

}  // namespace opwright::sim::engine
