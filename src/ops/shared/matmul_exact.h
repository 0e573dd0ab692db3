// Products of matrices in double precision, for the rows that are asked.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/op.h"
#include "ops/shared/activation.h"

namespace opwright {

// value = left x right, magnitude = |left| x |right|, both rows x n. The matrices are read piece by piece through
// functions, so a matrix that exists only as a rule (the patches of a convolution) is never made as a whole.
struct ExactProduct {
  std::int64_t rows = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  // Writes elements [first, first + count) of row `row` of the left matrix.
  std::function<void(std::int64_t row, std::int64_t first, std::int64_t count, double* out)> left;
  // The same of row `k` of the right one.
  std::function<void(std::int64_t k, std::int64_t first, std::int64_t count, double* out)> right;
  double* value = nullptr;
  double* magnitude = nullptr;
  std::int64_t stride = 0;  // between rows of the results; 0: n
};
// Runs on all threads; the functions are called from several at once.
void exact_product(const ExactProduct& job);

// The functions that a product ends with, in order: those of its program, then its `activation`.
Checked<std::vector<ExactActivation>> matmul_functions(const BoundCall& call);
Checked<Exact> matmul_reference(const ReferenceJob& job);

}  // namespace opwright
