// When ttnn.matmul and ttnn.linear are refused, and what they return. Both take the same way through the library.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/matmul_program.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "model/refusal.h"
#include "ops/op.h"

namespace opwright {

struct MatmulOperands;

Checked<std::vector<OutputSpec>> infer_matmul(const BoundCall& call, const Board& board);

// Rules of the program configuration, named or chosen. `out`: where the output shall lie.
Checked<void> check_program(const MatmulProgram& program, const MatmulOperands& operands, const MemoryConfig& out,
                            const ComputeConfig& compute, const Board& board);

// How far sums of products may be off when the matrix engine works as `config` says.
struct Contraction {
  std::int64_t terms = 1;
  std::int64_t block = 0;  // terms between two spills
  ComputeConfig config;
  DType a = DType::kBfloat16;
  DType b = DType::kBfloat16;
  DType out = DType::kBfloat16;
  int steps = 0;  // roundings after the sum: bias, function
};
ErrorBudget contraction_budget(const Contraction& contraction);
ErrorBudget matmul_budget(const BoundCall& call);
// Multiply-adds of a row of the product.
double matmul_work(const BoundCall& call);

// "TensorMemoryLayout::WIDTH_SHARDED", "BufferType::L1": as the library's messages have them.
std::string layout_text(const MemoryConfig& memory);
std::string buffer_text(const MemoryConfig& memory);

}  // namespace opwright
