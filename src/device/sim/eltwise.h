// Element-wise kernels: the engines' functions over whole tensors, with broadcasting, fused functions and the packer.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "device/sim/broadcast.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/kernel.h"
#include "device/sim/sfpu.h"

namespace opwright::sim {

struct UnaryCall {
  Unary op = Unary::kIdentity;
  bool approx = false;
  std::vector<float> params;
  std::string_view input = "input_tensor";
};
// Whether the call asks for the fast variant of its function, by flag, mode or variant.
Checked<bool> wants_fast(const BoundCall& call);
Checked<std::vector<HostTensor>> run_unary(const KernelJob& job, const UnaryCall& how);
// The same with the flag of the call.
Checked<std::vector<HostTensor>> run_unary(const KernelJob& job, Unary op);

struct BinaryCall {
  Binary op = Binary::kAdd;
  bool fast = false;
  std::string_view first = "input_tensor_a";
  std::string_view second = "input_tensor_b";
};
Checked<void> admit_binary(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);
Checked<std::vector<HostTensor>> run_binary(const KernelJob& job, const BinaryCall& how);

// A tensor or a number as floats in the shape of an output, some rows at a time.
class FloatRows {
 public:
  FloatRows(const HostTensor* tensor, float number, const Shape& shape);

  // Rows [first, last): from the tensor itself where nothing stretches, else put together in `buffer`.
  std::span<const float> rows(std::int64_t first, std::int64_t last, std::vector<float>& buffer) const;

 private:
  const HostTensor* tensor_;
  float number_;
  BroadcastRows layout_;
  std::int64_t length_;
  bool direct_;
};

// Calls f(first, last) for parts of the rows of `shape`, on all threads, each small enough for a cache.
void for_row_parts(const Shape& shape, const std::function<void(std::int64_t first, std::int64_t last)>& f);

// What an integer dtype holds of a number: whole part, within its range.
std::int64_t to_integer(double value, DType dtype);

}  // namespace opwright::sim
