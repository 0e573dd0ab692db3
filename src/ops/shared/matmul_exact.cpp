#include "ops/shared/matmul_exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "model/matmul_program.h"
#include "ops/shared/activation.h"

// Resolvers of cloned functions run before sanitizers are ready.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define OPWRIGHT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define OPWRIGHT_CLONES
#endif

namespace opwright {
namespace {

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kDepth = 128;
constexpr std::int64_t kColumns = 128;
constexpr int kLanes = 8;

// Two rows times kDepth x kLanes of the right panel.
OPWRIGHT_CLONES
void two_rows(const double* a0, const double* a1, const double* panel, std::int64_t depth, double* value0,
              double* value1, double* size0, double* size1) {
  double v0[kLanes] = {};
  double v1[kLanes] = {};
  double s0[kLanes] = {};
  double s1[kLanes] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    const double* b = panel + k * kColumns;
    for (int i = 0; i < kLanes; ++i) {
      const double p0 = a0[k] * b[i];
      const double p1 = a1[k] * b[i];
      v0[i] += p0;
      v1[i] += p1;
      s0[i] += std::fabs(p0);
      s1[i] += std::fabs(p1);
    }
  }
  for (int i = 0; i < kLanes; ++i) {
    value0[i] += v0[i];
    value1[i] += v1[i];
    size0[i] += s0[i];
    size1[i] += s1[i];
  }
}

struct Scratch {
  std::vector<double> left = std::vector<double>(static_cast<std::size_t>(kRows * kDepth));
  std::vector<double> right = std::vector<double>(static_cast<std::size_t>(kDepth * kColumns));
  std::vector<double> value = std::vector<double>(static_cast<std::size_t>(kRows * kColumns));
  std::vector<double> size = std::vector<double>(static_cast<std::size_t>(kRows * kColumns));
};

void block(const ExactProduct& job, std::int64_t row, std::int64_t column, Scratch& s) {
  const std::int64_t rows = std::min(kRows, job.rows - row);
  const std::int64_t columns = std::min(kColumns, job.n - column);
  std::ranges::fill(s.value, 0.0);
  std::ranges::fill(s.size, 0.0);
  std::ranges::fill(s.left, 0.0);
  std::ranges::fill(s.right, 0.0);
  for (std::int64_t first = 0; first < job.k; first += kDepth) {
    const std::int64_t depth = std::min(kDepth, job.k - first);
    for (std::int64_t r = 0; r < rows; ++r) job.left(row + r, first, depth, s.left.data() + r * kDepth);
    for (std::int64_t k = 0; k < depth; ++k) job.right(first + k, column, columns, s.right.data() + k * kColumns);
    for (std::int64_t r = 0; r < rows; r += 2)
      for (std::int64_t c = 0; c < columns; c += kLanes) {
        const std::int64_t at = r * kColumns + c;
        two_rows(s.left.data() + r * kDepth, s.left.data() + (r + 1) * kDepth, s.right.data() + c, depth,
                 s.value.data() + at, s.value.data() + at + kColumns, s.size.data() + at,
                 s.size.data() + at + kColumns);
      }
  }
  const std::int64_t stride = job.stride == 0 ? job.n : job.stride;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(s.value.data() + r * kColumns, columns, job.value + (row + r) * stride + column);
    std::copy_n(s.size.data() + r * kColumns, columns, job.magnitude + (row + r) * stride + column);
  }
}

// Where the matrix of the left operand that output matrix `batch` uses begins; likewise the right one.
struct Batches {
  std::int64_t left;
  std::int64_t right;
};
Batches batches_of(const MatmulOperands& o, std::int64_t batch) {
  return {o.batch_a == 1 ? 0 : batch, o.batch_b == 1 ? 0 : batch};
}

void add_bias(const HostTensor& bias, const Shape& out_shape, const Rows& rows, Exact& exact) {
  // Strides of the bias over the output's dimensions; 0 where it is broadcast.
  std::vector<std::int64_t> strides(out_shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < bias.spec.shape.size() && i < out_shape.size(); ++i) {
    const std::int64_t n = bias.spec.shape[bias.spec.shape.size() - 1 - i];
    if (n != 1) strides[out_shape.size() - 1 - i] = stride;
    stride *= n;
  }
  const std::int64_t last = strides.empty() ? 0 : strides.back();
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    std::int64_t index = rows.at(r);
    std::int64_t offset = 0;
    for (std::size_t d = out_shape.size() - 1; d-- > 0;) {
      offset += index % out_shape[d] * strides[d];
      index /= out_shape[d];
    }
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const double b = bias.at(offset + i * last);
      const auto at = static_cast<std::size_t>(r * rows.length + i);
      exact.value[at] += b;
      exact.magnitude[at] += std::fabs(b);
    }
  }
}

}  // namespace

void exact_product(const ExactProduct& job) {
  const std::int64_t down = (job.rows + kRows - 1) / kRows;
  const std::int64_t across = (job.n + kColumns - 1) / kColumns;
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    Scratch scratch;
    for (std::int64_t i = next++; i < down * across; i = next++)
      block(job, i / across * kRows, i % across * kColumns, scratch);
  };
  const double operations = static_cast<double>(job.rows) * static_cast<double>(job.k) * static_cast<double>(job.n);
  const std::int64_t threads =
      operations < 1e6 ? 1 : std::min<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()), down * across);
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
}

Checked<Exact> matmul_reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const MatmulOperands o, matmul_operands(job.call));
  const HostTensor* a = job.input("input_tensor_a");
  const HostTensor* b = job.input("input_tensor_b");
  if (a == nullptr || b == nullptr) return refuse("a matmul needs two tensors");
  const Rows& rows = job.rows;
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(rows.count() * rows.length), 0.0);
  exact.magnitude = exact.value;
  const std::int64_t k = o.a_shape.back();
  const std::int64_t n = o.b_shape.back();
  const std::int64_t m = o.a_shape[o.a_shape.size() - 2];
  // A matrix times a vector: the rows of the product are single elements, and the output's last dimension is theirs.
  const bool vector = o.b->shape.size() == 1;
  const std::int64_t total = rows.count() * (vector ? rows.length : 1);
  const auto product_row = [&](std::int64_t i) {
    return vector ? rows.at(i / rows.length) * rows.length + i % rows.length : rows.at(i);
  };
  for (std::int64_t first = 0; first < total;) {
    const std::int64_t batch = product_row(first) / m;
    std::int64_t last = first + 1;
    while (last < total && (o.batch_b == 1 || product_row(last) / m == batch)) ++last;
    const std::int64_t right = batches_of(o, batch).right * k * n;
    ExactProduct product{
        .rows = last - first,
        .k = k,
        .n = n,
        .left =
            [&, first](std::int64_t row, std::int64_t from, std::int64_t count, double* out) {
              const std::int64_t index = product_row(first + row);
              const std::int64_t base = batches_of(o, index / m).left * m * k;
              const std::int64_t at = o.transpose_a ? from * m + index % m : index % m * k + from;
              const std::int64_t step = o.transpose_a && o.a->shape.size() > 1 ? m : 1;
              for (std::int64_t i = 0; i < count; ++i) out[i] = a->at(base + at + i * step);
            },
        .right =
            [&, right](std::int64_t row, std::int64_t from, std::int64_t count, double* out) {
              const bool turned = o.transpose_b && o.b->shape.size() > 1;
              const std::int64_t at = turned ? from * k + row : row * n + from;
              const std::int64_t step = turned ? k : 1;
              for (std::int64_t i = 0; i < count; ++i) out[i] = b->at(right + at + i * step);
            },
        .value = exact.value.data() + first * n,
        .magnitude = exact.magnitude.data() + first * n,
    };
    exact_product(product);
    first = last;
  }
  if (const HostTensor* bias = job.input("bias")) add_bias(*bias, job.outputs[0].spec.shape, rows, exact);
  for (const char* param : {"program_config", "activation"}) {
    const Value* value = job.call.find(param);
    Value fused;
    if (std::string_view(param) == "program_config" && value != nullptr && !value->is_null()) {
      OPWRIGHT_CHECK_ASSIGN(const MatmulProgram program, matmul_program(job.call, o, Board{}));
      fused = program.fused_activation;
      value = &fused;
    } else if (std::string_view(param) == "program_config") {
      continue;
    }
    OPWRIGHT_CHECK_ASSIGN(const auto functions, exact_activations(value, param));
    if (functions.empty()) continue;
    for (double& x : exact.value) x = opwright::apply_all(functions, x);
  }
  return exact;
}

}  // namespace opwright
