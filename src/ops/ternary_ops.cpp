// Functions of three operands, or of two and a number, a row each. The library runs them as steps of its other
// operators, or as a kernel of its own: numerics are modelled.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "ops/families.h"
#include "ops/shared/broadcast.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

struct Row {
  std::string_view name;
  std::array<std::string_view, 3> operands;
  std::string_view number = {};  // a factor besides them, 1 where it is not given
  double (*exact)(double a, double b, double c, double number);
  // What rounding between the steps is proportional to.
  double (*size)(double a, double b, double c, double number);
  Role last = Role::kPlain;
  bool own_kernel = true;     // else two steps of others
  bool shared_first = false;  // overloads agree about the name of the first operand alone
};

constexpr std::array kRows{
    Row{.name = "ttnn.addalpha",
        .operands = {"input_tensor_a", "input_tensor_b", "alpha"},
        .exact = [](double a, double b, double c, double) { return a + b * c; },
        .size = [](double a, double b, double c, double) { return std::fabs(a) + std::fabs(b * c); },
        .own_kernel = false},
    Row{.name = "ttnn.addcdiv",
        .operands = {"input_a", "input_b", "input_c"},
        .number = "value",
        .exact = [](double a, double b, double c, double n) { return a + n * b / c; },
        .size = [](double a, double b, double c, double n) { return std::fabs(a) + std::fabs(n * b / c); },
        .last = Role::kNonZero},
    Row{.name = "ttnn.addcmul",
        .operands = {"input_a", "input_b", "input_c"},
        .number = "value",
        .exact = [](double a, double b, double c, double n) { return a + n * b * c; },
        .size = [](double a, double b, double c, double n) { return std::fabs(a) + std::fabs(n * b * c); }},
    Row{.name = "ttnn.lerp",
        .operands = {"input", "end", "weight"},
        .exact = [](double a, double b, double c, double) { return a + c * (b - a); },
        .size = [](double a, double b, double c,
                   double) { return std::fabs(a) + std::fabs(c) * (std::fabs(a) + std::fabs(b)); }},
    Row{.name = "ttnn.mac",
        .operands = {"input_tensor_a", "input_tensor_b", "input_tensor_c"},
        .exact = [](double a, double b, double c, double) { return a * b + c; },
        .size = [](double a, double b, double c, double) { return std::fabs(a * b) + std::fabs(c); },
        .shared_first = true},
    Row{.name = "ttnn.subalpha",
        .operands = {"input_tensor_a", "input_tensor_b", "alpha"},
        .exact = [](double a, double b, double c, double) { return a - b * c; },
        .size = [](double a, double b, double c, double) { return std::fabs(a) + std::fabs(b * c); },
        .own_kernel = false},
};

std::vector<Param> params(const Row& row) {
  std::vector<Param> out;
  for (std::size_t i = 0; i < row.operands.size(); ++i)
    out.push_back({.name = row.operands[i],
                   .era1 = static_cast<int>(i),
                   .required = true,
                   .place = row.shared_first && i > 0 ? static_cast<int>(i) : -1,
                   .role = i == 2 ? row.last : Role::kPlain});
  if (!row.number.empty()) out.push_back({.name = row.number});
  out.push_back({.name = "memory_config"});
  out.push_back({.name = "dtype"});
  out.push_back({.name = "output_tensor", .role = Role::kBuffer});
  out.push_back({.name = "sub_core_grids", .lost = Lost::kNoMatter});
  return out;
}

Checked<std::vector<OutputSpec>> infer(const Row& row, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* first, tensor_argument(call, row.operands[0]));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  if (!row.number.empty()) OPWRIGHT_CHECK(call.number(row.number, 1));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", first->dtype.value));
  Shape shape;
  bool stretches = false;
  const TensorSpec* widest = first;
  for (const std::string_view operand : row.operands) {
    const TensorSpec* tensor = call.tensor(operand);
    if (tensor == nullptr && !row.number.empty()) return type_error(call.op, operand, Value());
    if (tensor == nullptr) {
      OPWRIGHT_CHECK(call.number(operand, 0));
      continue;
    }
    OPWRIGHT_REQUIRE(!on_host(*tensor), "Device Operations expect device tensors as inputs");
    OPWRIGHT_REQUIRE(!deallocated(*tensor), "Input Tensor is not allocated");
    OPWRIGHT_REQUIRE(!row.own_kernel || tensor != first || tiled(*tensor) || sharded(*tensor),
                     "Ternary operation requires tensor to be in Tile layout when working with non-sharded input "
                     "tensor. Input tensor layout: 0");
    if (is_integer(tensor->dtype.value)) return unsupported(std::string(operand), "integers in a function of three");
    const auto both = operand == row.operands[0] ? std::optional(tensor->shape) : broadcast_shape(shape, tensor->shape);
    OPWRIGHT_REQUIRE(both && (volume(*both) > 0 || *both == tensor->shape), "Invalid subtile broadcast type");
    stretches = stretches || *both != tensor->shape;
    shape = *both;
    if (volume(tensor->shape) > volume(widest->shape)) widest = tensor;
  }
  if (call.tensor("output_tensor") != nullptr) return given_back(*call.tensor("output_tensor"), "output_tensor");
  MemoryConfig memory = asked == nullptr ? memory_of(*first) : *asked;
  if (asked == nullptr && stretches && memory.sharded() && memory.shard) {
    TensorSpec to = *first;
    to.shape = shape;
    OPWRIGHT_CHECK_ASSIGN(ShardSpec shard,
                          eltwise::scaled_shard(*memory.shard, padded_shape(*first), padded_shape(to)));
    memory = with_shard(memory, std::move(shard));
  }
  TensorSpec out = moved(*first, shape, std::move(memory));
  out.dtype.value = dtype;
  return made(std::move(out), board);
}

// A tensor or a number, row by row in the shape of the output.
struct Operand {
  Operand(const ReferenceJob& job, std::string_view param)
      : tensor(job.input(param)),
        rows(tensor != nullptr ? tensor->spec.shape : Shape{}, job.outputs[job.output].spec.shape),
        number(tensor != nullptr ? 0 : job.call.number(param, 0).value_or(0)) {}
  double at(std::int64_t row, std::int64_t i) const {
    return tensor == nullptr ? number : tensor->at(rows.offset(row) + (rows.steps() ? i : 0));
  }
  const HostTensor* tensor;
  BroadcastRows rows;
  double number;
};

Checked<Exact> reference(const Row& row, const ReferenceJob& job) {
  const Operand a(job, row.operands[0]), b(job, row.operands[1]), c(job, row.operands[2]);
  const double number = row.number.empty() ? 1.0 : job.call.number(row.number, 1).value_or(1);
  Exact out;
  for (std::int64_t r = 0; r < job.rows.count(); ++r)
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t at = job.rows.at(r);
      out.value.push_back(row.exact(a.at(at, i), b.at(at, i), c.at(at, i), number));
      out.magnitude.push_back(row.size(a.at(at, i), b.at(at, i), c.at(at, i), number));
    }
  return out;
}

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec> outputs, std::size_t) {
  const bool wide = outputs[0].spec.dtype.value == DType::kFloat32;
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .relative = wide ? 0x1p-9 : 0x1p-7,
          .why = "two or three steps, each rounded at most once, modelled"};
}

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  return {.name = kRows[At].name,
          .params = params(kRows[At]),
          .infer = [](const BoundCall& call, const Board& board) { return infer(kRows[At], call, board); },
          .reference = [](const ReferenceJob& job) { return reference(kRows[At], job); },
          .budget = budget};
}

}  // namespace

std::span<const OpSpec> ternary_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright
