#include "dialect/ttnn/matmul_operands.h"

#include <fmt/format.h>

#include <utility>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright {
namespace {

Shape matrix_shape(const TensorSpec& spec, bool transpose, bool left) {
  Shape shape = spec.shape;
  if (shape.size() == 1) {
    if (left) return {1, shape[0]};
    return {shape[0], 1};
  }
  if (transpose) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

}  // namespace

std::int64_t matrices_in(const Shape& shape) {
  std::int64_t out = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) out *= shape[i];
  return out;
}

Checked<MatmulOperands> matmul_operands(const BoundCall& call) {
  MatmulOperands out;
  for (const auto& [param, slot] : {std::pair{"input_tensor_a", &out.a}, std::pair{"input_tensor_b", &out.b}}) {
    *slot = call.tensor(param);
    if (*slot == nullptr) {
      const Value* value = call.find(param);
      return type_error(call.op, param, value == nullptr ? Value() : *value);
    }
    for (const std::int64_t n : (*slot)->shape)
      if (n < 0)
        return refuse(fmt::format("{} has a negative dimension: {}", param, shape_text((*slot)->shape)), param);
  }
  if (out.a->shape.empty() || out.b->shape.empty())
    return refuse(fmt::format("ttnn.matmul: Both arguments to matmul need to be at least 1D, but got shapes {} and {}",
                              shape_text(out.a->shape), shape_text(out.b->shape)));
  OPWRIGHT_CHECK_ASSIGN(out.transpose_a, call.flag("transpose_a", false));
  OPWRIGHT_CHECK_ASSIGN(out.transpose_b, call.flag("transpose_b", false));
  out.a_shape = matrix_shape(*out.a, out.transpose_a, true);
  out.b_shape = matrix_shape(*out.b, out.transpose_b, false);
  out.batch_a = matrices_in(out.a_shape);
  out.batch_b = matrices_in(out.b_shape);
  const TileShape tile_a = tile_of(*out.a);
  const TileShape tile_b = tile_of(*out.b);
  out.m_tiles = div_up(out.a_shape[out.a_shape.size() - 2], out.transpose_a ? tile_a.width : tile_a.height);
  out.k_tiles = div_up(out.a_shape.back(), 32);
  out.n_tiles = div_up(out.b_shape.back(), out.transpose_b ? tile_b.height : tile_b.width);
  return out;
}

}  // namespace opwright
