#include "dialect/ttnn/matmul_program.h"

#include <gtest/gtest.h>

#include "dialect/ttnn/matmul_operands.h"

namespace opwright {
namespace {

TensorSpec tensor(Shape shape, DType dtype = DType::kBfloat16, BufferType buffer = BufferType::kDram) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.dtype.value = dtype;
  spec.layout.value = Layout::kTile;
  spec.memory.emplace();
  spec.memory->layout.value = MemoryLayout::kInterleaved;
  spec.memory->buffer.value = buffer;
  return spec;
}

Checked<MatmulProgram> program_of(const BoundCall& call) { return matmul_program(call, find_board("n150").value()); }

BoundCall matmul(TensorSpec a, TensorSpec b) {
  return {"ttnn.matmul",
          Convention::kPython,
          {{"input_tensor_a", Value::tensor(std::move(a))}, {"input_tensor_b", Value::tensor(std::move(b))}}};
}

TEST(MatmulProgram, DramOperandsSplitKOverTheColumns) {
  const auto program = program_of(matmul(tensor({1, 1, 512, 1024}), tensor({1, 1, 1024, 512})));
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->kind, MatmulProgram::Kind::kMcast2D);
  EXPECT_EQ(program->in0_block_w, 4);
  EXPECT_EQ(program->per_core_m, 2);
}

TEST(MatmulProgram, OneMatrixOnTheLeftOfManyStays) {
  const auto program = program_of(matmul(tensor({1, 1, 64, 128}), tensor({3, 1, 128, 96})));
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->kind, MatmulProgram::Kind::kMcast1D);
  EXPECT_FALSE(program->fuse_batch);
}

TEST(MatmulProgram, NamedOneIsRead) {
  BoundCall call = matmul(tensor({1, 1, 32, 256}), tensor({256, 512}));
  call.set("program_config", Value::structure("MatmulMultiCoreReuseMultiCast1DProgramConfig",
                                              {{"in0_block_w", Value(std::int64_t{4})},
                                               {"per_core_M", Value(std::int64_t{1})},
                                               {"per_core_N", Value(std::int64_t{2})},
                                               {"mcast_in0", Value(true)},
                                               {"compute_with_storage_grid_size",
                                                Value(List{Value(std::int64_t{8}), Value(std::int64_t{1})})}}));
  const auto program = program_of(call);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->kind, MatmulProgram::Kind::kMcast1D);
  EXPECT_EQ(program->in0_block_w, 4);
  EXPECT_EQ(program->out_block_w, 2);  // not named: all of a core's
  EXPECT_EQ(program->grid, (CoreCoord{8, 1}));
}

TEST(MatmulProgram, VectorsAndScalars) {
  const BoundCall call = matmul(tensor({128}), tensor({128}));
  const auto operands = matmul_operands(call);
  ASSERT_TRUE(operands);
  EXPECT_EQ(operands->a_shape, (Shape{1, 128}));
  EXPECT_EQ(operands->b_shape, (Shape{128, 1}));
  EXPECT_FALSE(matmul_operands(matmul(tensor({}), tensor({128}))));
}

TEST(MatmulProgram, CoresRowByRow) {
  const std::vector<CoreRange> cores = first_cores(28, {8, 8}, true);
  EXPECT_EQ(cores, (std::vector<CoreRange>{{{0, 0}, {7, 2}}, {{0, 3}, {3, 3}}}));
}

TEST(MatmulProgram, DefaultsOfTheComputeConfig) {
  const Board board = find_board("n150").value();
  const BoundCall plain = matmul(tensor({32, 64}), tensor({64, 32}));
  EXPECT_EQ(matmul_compute(plain, board).fidelity, Fidelity::kHiFi2);
  EXPECT_TRUE(matmul_compute(plain, board).l1_acc);
  const BoundCall low = matmul(tensor({32, 64}, DType::kBfloat8B), tensor({64, 32}, DType::kBfloat4B));
  EXPECT_EQ(matmul_compute(low, board).fidelity, Fidelity::kLoFi);
  const BoundCall wide = matmul(tensor({32, 64}, DType::kFloat32), tensor({64, 32}, DType::kFloat32));
  EXPECT_EQ(matmul_compute(wide, board).fidelity, Fidelity::kHiFi3);
  EXPECT_TRUE(matmul_compute(wide, board).fp32_acc);
}

}  // namespace
}  // namespace opwright
