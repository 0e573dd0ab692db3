// The operands of a matmul as the library's rules see them: what it chooses a program by. Whoever computes the product
// finds its elements without this.
#pragma once

#include <cstdint>

#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright {

// Transposed where the call asks, vectors as matrices.
struct MatmulOperands {
  const TensorSpec* a = nullptr;
  const TensorSpec* b = nullptr;
  bool transpose_a = false;
  bool transpose_b = false;
  Shape a_shape;  // logical
  Shape b_shape;
  std::int64_t batch_a = 1;  // product of all but the last two dimensions
  std::int64_t batch_b = 1;
  // In tiles, of one matrix.
  std::int64_t m_tiles = 0;
  std::int64_t k_tiles = 0;
  std::int64_t n_tiles = 0;
};

// Names of the parameters: those of ttnn.matmul and ttnn.linear.
Checked<MatmulOperands> matmul_operands(const BoundCall& call);

// Matrices in a shape: the product of all but the last two dimensions.
std::int64_t matrices_in(const Shape& shape);

}  // namespace opwright
