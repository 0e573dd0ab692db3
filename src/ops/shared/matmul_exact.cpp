#include "ops/shared/matmul_exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "dialect/ttnn/matmul_program.h"
#include "ops/shared/activation.h"
#include "ops/shared/broadcast.h"

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

// An operand as the definition of the product has it, c[i][j] = sum over k of a[i][k] b[k][j]: where element (row,
// column) of one of its matrices stands. Turning a matrix exchanges the steps; vectors are a row on the left, a column
// on the right.
struct Factor {
  const HostTensor& tensor;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
  std::int64_t matrices = 1;

  // The first element of a row of a matrix. A single matrix serves all of the other operand's.
  std::int64_t start(std::int64_t matrix, std::int64_t row) const {
    return (matrices == 1 ? 0 : matrix * rows * columns) + row * row_step;
  }
};

Factor factor_of(const HostTensor& tensor, bool turned, bool left) {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t width = shape.back();
  if (shape.size() == 1 && left) return {.tensor = tensor, .columns = width, .column_step = 1};
  if (shape.size() == 1) return {.tensor = tensor, .rows = width, .row_step = 1};
  Factor out{.tensor = tensor, .rows = shape[shape.size() - 2], .columns = width, .row_step = width, .column_step = 1};
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) out.matrices *= shape[i];
  if (turned) {
    std::swap(out.rows, out.columns);
    std::swap(out.row_step, out.column_step);
  }
  return out;
}

void add_bias(const HostTensor& bias, const Shape& out_shape, const Rows& rows, Exact& exact) {
  const BroadcastRows stretched(bias.spec.shape, out_shape);
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int64_t offset = stretched.offset(rows.at(r));
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const double b = bias.at(offset + (stretched.steps() ? i : 0));
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

Checked<std::vector<ExactActivation>> matmul_functions(const BoundCall& call) {
  std::vector<ExactActivation> out;
  if (const Value* config = call.find("program_config"); config != nullptr && !config->is_null()) {
    OPWRIGHT_CHECK_ASSIGN(const MatmulProgram program, matmul_program(call, Board{}));
    OPWRIGHT_CHECK_ASSIGN(out, exact_activations(&program.fused_activation, "program_config"));
  }
  OPWRIGHT_CHECK_ASSIGN(const auto named, exact_activations(call.find("activation"), "activation"));
  out.insert(out.end(), named.begin(), named.end());
  return out;
}

Checked<Exact> matmul_reference(const ReferenceJob& job) {
  const HostTensor* first_operand = job.input("input_tensor_a");
  const HostTensor* second_operand = job.input("input_tensor_b");
  if (first_operand == nullptr || second_operand == nullptr || first_operand->spec.shape.empty() ||
      second_operand->spec.shape.empty())
    return refuse("a matmul needs two tensors");
  OPWRIGHT_CHECK_ASSIGN(const bool turn_a, job.call.flag("transpose_a", false));
  OPWRIGHT_CHECK_ASSIGN(const bool turn_b, job.call.flag("transpose_b", false));
  const Factor a = factor_of(*first_operand, turn_a, true);
  const Factor b = factor_of(*second_operand, turn_b, false);
  const Rows& rows = job.rows;
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(rows.count() * rows.length), 0.0);
  exact.magnitude = exact.value;
  // A matrix times a vector: the rows of the product are single elements, and the output's last dimension is theirs.
  const bool vector = second_operand->spec.shape.size() == 1;
  const std::int64_t total = rows.count() * (vector ? rows.length : 1);
  const auto product_row = [&](std::int64_t i) {
    return vector ? rows.at(i / rows.length) * rows.length + i % rows.length : rows.at(i);
  };
  for (std::int64_t first = 0; first < total;) {
    const std::int64_t matrix = product_row(first) / a.rows;
    std::int64_t last = first + 1;
    while (last < total && (b.matrices == 1 || product_row(last) / a.rows == matrix)) ++last;
    exact_product({
        .rows = last - first,
        .k = a.columns,
        .n = b.columns,
        .left =
            [&, first](std::int64_t row, std::int64_t from, std::int64_t count, double* out) {
              const std::int64_t index = product_row(first + row);
              const std::int64_t start = a.start(index / a.rows, index % a.rows);
              for (std::int64_t i = 0; i < count; ++i) out[i] = a.tensor.at(start + (from + i) * a.column_step);
            },
        .right =
            [&, matrix](std::int64_t row, std::int64_t from, std::int64_t count, double* out) {
              const std::int64_t start = b.start(matrix, row);
              for (std::int64_t i = 0; i < count; ++i) out[i] = b.tensor.at(start + (from + i) * b.column_step);
            },
        .value = exact.value.data() + first * b.columns,
        .magnitude = exact.magnitude.data() + first * b.columns,
    });
    first = last;
  }
  if (const HostTensor* bias = job.input("bias")) add_bias(*bias, job.outputs[0].spec.shape, rows, exact);
  OPWRIGHT_CHECK_ASSIGN(auto functions, matmul_functions(job.call));
  apply_after(std::move(functions), exact);
  return exact;
}

}  // namespace opwright
