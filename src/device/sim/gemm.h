// The matrix engine: products of low-precision operands, accumulated in the destination register.
#pragma once

#include <cstdint>

#include "device/sim/pack.h"
#include "dialect/ttnn/compute_config.h"
#include "model/tensor_spec.h"

namespace opwright::sim {

// c = a x b. The values of c are those of the destination register (or of the intermediate buffer, where partial sums
// went through it) before the last pack to the output dtype.
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const float* a = nullptr;  // m x k, rows `lda` apart; k x m where transpose_a
  std::int64_t lda = 0;
  const float* b = nullptr;  // k x n, rows `ldb` apart; n x k where transpose_b
  std::int64_t ldb = 0;
  float* c = nullptr;  // m x n, rows `ldc` apart
  std::int64_t ldc = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  ComputeConfig config;
  DType a_dtype = DType::kBfloat16;
  DType b_dtype = DType::kBfloat16;
  DType out_dtype = DType::kBfloat16;
  std::int64_t in0_block_w = 0;  // tiles of k between two spills; 0: what the library chooses without a program config
  const float* bias = nullptr;   // n values, added to each row by the matrix engine after the last spill
  DType bias_dtype = DType::kBfloat16;
};

// Runs on all threads; inside a parallel_for on the caller's alone. Values are as in memory: denormals and the bits
// that source registers drop are dealt with here.
void gemm(const Gemm& job);

// Tiles of k between two spills, where no program config says it.
std::int64_t default_block_w(std::int64_t k_tiles);

}  // namespace opwright::sim
