#include "device/sim/matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/gemm.h"
#include "dialect/ttnn/matmul_program.h"

namespace opwright::sim {
namespace {

bool computable(DType dtype) { return computed(dtype) && !is_integer(dtype); }

// The bias where it is added by an operation of its own: to values that memory already holds.
void add_apart(const HostTensor& bias, HostTensor& out, Dst dst) {
  const Shape& shape = out.spec.shape;
  const std::int64_t n = row_length(shape);
  std::vector<std::int64_t> strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < bias.spec.shape.size() && i < shape.size(); ++i) {
    const std::int64_t size = bias.spec.shape[bias.spec.shape.size() - 1 - i];
    if (size != 1) strides[shape.size() - 1 - i] = stride;
    stride *= size;
  }
  const Engine engine = engine_of(Binary::kAdd, out.spec.dtype.value, bias.spec.dtype.value);
  parallel_for(0, n == 0 ? 0 : out.size() / n, 256, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      std::int64_t index = row;
      std::int64_t offset = 0;
      for (std::size_t d = shape.size() - 1; d-- > 0;) {
        offset += index % shape[d] * strides[d];
        index /= shape[d];
      }
      const std::span<float> values(out.floats.data() + row * n, static_cast<std::size_t>(n));
      if (strides.back() == 0)
        binary(Binary::kAdd, engine, dst, values, bias.floats[static_cast<std::size_t>(offset)], values);
      else
        binary(Binary::kAdd, engine, dst, values, {bias.floats.data() + offset, values.size()}, values);
      pack(values, n, out.spec.dtype.value, dst);
    }
  });
}

// An operand as it lies in memory: matrices one after the other. A vector is a row on the left, a column on the right.
struct Operand {
  std::int64_t count = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  bool turned = false;  // by the engine, on its way in

  std::int64_t matrix(std::int64_t i) const { return count == 1 ? 0 : i * height * width; }
};

Operand operand_of(const HostTensor& tensor, bool turned, bool left) {
  const Shape& shape = tensor.spec.shape;
  if (shape.size() < 2) return left ? Operand{.width = row_length(shape)} : Operand{.height = row_length(shape)};
  Operand out{.height = shape[shape.size() - 2], .width = shape.back(), .turned = turned};
  out.count = volume(Shape(shape.begin(), shape.end() - 2));
  return out;
}

struct Matrices {
  const float* a;
  const float* b;
  float* c;
};

// Only these rows of the product: each follows from its own row on the left, whatever the others are.
void multiply_rows(Gemm gemm_job, const Matrices& whole, std::span<const std::int64_t> rows, const Operand& left_of,
                   const Operand& right_of) {
  const std::int64_t m = left_of.height;
  const std::int64_t k = gemm_job.k;
  const std::int64_t n = gemm_job.n;
  std::vector<float> left;
  std::vector<float> sums;
  for (std::size_t first = 0; first < rows.size();) {
    const std::int64_t batch = rows[first] / m;
    std::size_t end = first;
    while (end < rows.size() && (right_of.count == 1 || rows[end] / m == batch)) ++end;
    left.resize((end - first) * static_cast<std::size_t>(k));
    sums.resize((end - first) * static_cast<std::size_t>(n));
    for (std::size_t i = first; i < end; ++i) {
      const std::int64_t row = left_of.count == 1 ? rows[i] % m : rows[i];
      std::copy_n(whole.a + row * k, k, left.data() + (i - first) * static_cast<std::size_t>(k));
    }
    gemm_job.m = static_cast<std::int64_t>(end - first);
    gemm_job.a = left.data();
    gemm_job.b = whole.b + right_of.matrix(batch);
    gemm_job.c = sums.data();
    gemm(gemm_job);
    for (std::size_t i = first; i < end; ++i)
      std::copy_n(sums.data() + (i - first) * static_cast<std::size_t>(n), n, whole.c + rows[i] * n);
    first = end;
  }
}

}  // namespace

void finish_rows(std::span<float> values, std::int64_t n, std::span<const FusedFunction> functions, Dst dst,
                 DType out) {
  if (n == 0) return;
  parallel_for(0, static_cast<std::int64_t>(values.size()) / n, 64, [&](std::int64_t first, std::int64_t last) {
    const std::span<float> rows =
        values.subspan(static_cast<std::size_t>(first * n), static_cast<std::size_t>((last - first) * n));
    apply_all(functions, rows, dst);
    pack(rows, n, out, dst);
  });
}

Checked<void> admit_matmul(const BoundCall& call, std::span<const OutputSpec> outputs, const Board&) {
  for (const char* param : {"input_tensor_a", "input_tensor_b", "bias"})
    if (const TensorSpec* spec = call.tensor(param); spec != nullptr && !computable(spec->dtype.value))
      return unsupported(param, fmt::format("a product of {}", name_of(spec->dtype.value)));
  if (!outputs.empty() && !computable(outputs[0].spec.dtype.value))
    return unsupported("dtype", fmt::format("a product written as {}", name_of(outputs[0].spec.dtype.value)));
  OPWRIGHT_CHECK(fused_functions(call.find("activation"), "activation"));
  return {};
}

Checked<std::vector<HostTensor>> run_matmul(const KernelJob& job) {
  OPWRIGHT_CHECK(admit_matmul(job.call, job.outputs, job.board));
  const HostTensor* a = job.input("input_tensor_a");
  const HostTensor* b = job.input("input_tensor_b");
  const HostTensor* bias = job.input("bias");
  if (a == nullptr || b == nullptr || job.outputs.empty()) return refuse("a matmul needs two tensors");
  OPWRIGHT_CHECK_ASSIGN(const MatmulProgram program, matmul_program(job.call, job.board));
  OPWRIGHT_CHECK_ASSIGN(auto fused, fused_functions(&program.fused_activation, "program_config"));
  OPWRIGHT_CHECK_ASSIGN(auto activation, fused_functions(job.call.find("activation"), "activation"));
  const ComputeConfig config = matmul_compute(job.call, job.board);
  const Dst dst = dst_of(config.fp32_acc);
  const bool apart = bias_apart(job.call);
  // With a grid of the caller's own the function runs inside the program, else as an operation after it.
  const bool inside = job.call.passed("core_grid");
  if (inside) fused.insert(fused.end(), activation.begin(), activation.end());

  HostTensor out{job.outputs[0].spec, {}, {}};
  const DType dtype = out.spec.dtype.value;
  OPWRIGHT_CHECK_ASSIGN(const bool transpose_a, job.call.flag("transpose_a", false));
  OPWRIGHT_CHECK_ASSIGN(const bool transpose_b, job.call.flag("transpose_b", false));
  const Operand left = operand_of(*a, transpose_a, true);
  const Operand right = operand_of(*b, transpose_b, false);
  const std::int64_t m = left.turned ? left.width : left.height;
  const std::int64_t k = left.turned ? left.height : left.width;
  const std::int64_t n = right.turned ? right.height : right.width;
  const std::int64_t batches = std::max(left.count, right.count);
  const std::int64_t product = batches * m * n;
  out.floats.assign(static_cast<std::size_t>(product), 0.0F);
  // One matrix on the right: all matrices on the left are one tall matrix.
  const bool tall = right.count == 1 && !left.turned;
  Gemm gemm_job{.m = tall ? batches * m : m,
                .n = n,
                .k = k,
                .a = a->floats.data(),
                .lda = left.width,
                .b = b->floats.data(),
                .ldb = right.width,
                .c = out.floats.data(),
                .ldc = n,
                .transpose_a = left.turned,
                .transpose_b = right.turned,
                .config = config,
                .a_dtype = a->spec.dtype.value,
                .b_dtype = b->spec.dtype.value,
                .out_dtype = dtype,
                .in0_block_w = program.in0_block_w};
  if (bias != nullptr && !apart) {
    gemm_job.bias = bias->floats.data();
    gemm_job.bias_dtype = bias->spec.dtype.value;
  }
  if (k > 0 && m > 0 && n > 0 && !left.turned && !job.rows.empty() && !job.rows[0].empty() &&
      job.rows[0].back() < batches * m) {
    multiply_rows(gemm_job, {a->floats.data(), b->floats.data(), out.floats.data()}, job.rows[0], left, right);
  } else if (k > 0 && m > 0 && n > 0) {
    for (std::int64_t batch = 0; batch < (tall ? 1 : batches); ++batch) {
      gemm_job.a = a->floats.data() + left.matrix(batch);
      gemm_job.b = b->floats.data() + right.matrix(batch);
      gemm_job.c = out.floats.data() + batch * m * n;
      gemm(gemm_job);
    }
  }
  finish_rows(out.floats, n, fused, dst, dtype);
  if (bias != nullptr && apart) {
    // A bias of a larger batch than the product repeats the product.
    const std::int64_t total = volume(out.spec.shape);
    if (product > 0)
      for (std::int64_t i = product; i < total; ++i)
        out.floats.push_back(out.floats[static_cast<std::size_t>(i % product)]);
    const Dst add_dst = dst_of(dtype == DType::kFloat32 || bias->spec.dtype.value == DType::kFloat32);
    add_apart(*bias, out, add_dst);
  }
  if (!inside && !activation.empty())
    finish_rows(out.floats, row_length(out.spec.shape), activation, dst_of(dtype == DType::kFloat32), dtype);
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
