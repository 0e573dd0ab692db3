#include "ops/shared/unary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/op_config.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/fast_error.h"
#include "ops/shared/unary_exact.h"

namespace opwright {
namespace {

// The function's own name: without the underscore of what writes in place.
std::string_view function_of(const UnaryOp& op) {
  std::string_view name = short_name(op.name);
  if (op.in_place) name.remove_suffix(1);
  return name;
}

bool asks_for_zero(std::string_view function) {
  constexpr std::array<std::string_view, 7> kThese{"eqz", "gez", "heaviside", "logical_not", "ltz", "nez", "sign"};
  return std::ranges::find(kThese, function) != kThese.end();
}

bool takes(UnaryOp::Integers integers, DType dtype) {
  if (!is_integer(dtype)) return true;
  switch (integers) {
    case UnaryOp::Integers::kNone:
      return false;
    case UnaryOp::Integers::kInt32:
      return dtype == DType::kInt32;
    case UnaryOp::Integers::kWide:
      return dtype == DType::kInt32 || dtype == DType::kUint32;
    case UnaryOp::Integers::kUnsigned:
      return dtype == DType::kUint32 || dtype == DType::kUint16;
    case UnaryOp::Integers::kNotUint8:
      return dtype != DType::kUint8;
    case UnaryOp::Integers::kAll:
      return true;
  }
  return false;
}

// Floats of 8 bits and more stand for one another in an output that is given.
bool may_become(DType from, DType to) {
  const auto wide_float = [](DType dtype) { return !is_integer(dtype) && dtype != DType::kBfloat4B; };
  return from == to || (wide_float(from) && wide_float(to));
}

Checked<TensorSpec> given_output(const BoundCall& call, const TensorSpec& input, DType dtype) {
  const TensorSpec* given = call.tensor("output_tensor");
  if (given == nullptr) return type_error(call.op, "output_tensor", *call.find("output_tensor"));
  OPWRIGHT_REQUIRE(
      may_become(dtype, given->dtype.value),
      "Preallocated output dtype {} is not compatible with input dtype {}. Integer and float dtypes cannot "
      "be mixed; mixed floating-point output is limited to BFLOAT16, FLOAT32, and BFLOAT8_B.",
      eltwise::dtype_text(given->dtype.value), eltwise::dtype_text(dtype));
  OPWRIGHT_REQUIRE(given->shape == input.shape,
                   "Unary: Preallocated output shape must match computed shape. Computed: {}, Preallocated: {}",
                   shape_text(input.shape), shape_text(given->shape));
  const auto number = [](Layout layout) { return layout == Layout::kTile ? 1 : 0; };
  OPWRIGHT_REQUIRE(given->layout.value == input.layout.value,
                   "Unary: Output format (tile/row-major) must match input when preallocated. Output: {}, Input: {}",
                   number(given->layout.value), number(input.layout.value));
  return *given;
}

}  // namespace

std::vector<Param> unary_params(const UnaryOp& op) {
  std::vector<Param> out{{.name = "input_tensor", .era1 = 0, .required = true, .role = op.data}};
  if (op.fast_flag) out.push_back({.name = "fast_and_approximate_mode", .era1 = 1});
  int next = op.fast_flag ? 2 : 1;
  for (const UnaryNumber& number : op.numbers)
    if (!number.name.empty()) out.push_back({.name = number.name, .era1 = next++, .required = number.required});
  out.push_back({.name = "memory_config", .era1 = next});
  if (op.in_place) return out;
  out.push_back({.name = "output_tensor", .era1 = next + 1, .role = Role::kBuffer});
  out.push_back({.name = "sub_core_grids", .era1 = next + 2, .lost = Lost::kNoMatter});
  if (!op.keyword.empty()) out.push_back({.name = op.keyword});
  return out;
}

Checked<std::vector<double>> unary_numbers(const UnaryOp& op, const BoundCall& call) {
  std::vector<double> out;
  for (const UnaryNumber& number : op.numbers) {
    if (number.name.empty()) continue;
    const Value* given = call.find(number.name);
    if (given != nullptr && given->is_null() && call.convention == Convention::kPython)
      return type_error(call.op, number.name, *given);
    OPWRIGHT_CHECK_ASSIGN(const double value, call.number(number.name, number.otherwise));
    out.push_back(value);
  }
  return out;
}

Checked<std::vector<OutputSpec>> infer_unary(const UnaryOp& op, const BoundCall& call, const Board& board, DType dtype,
                                             std::string_view param) {
  const TensorSpec* input = call.tensor(param);
  if (input == nullptr) return type_error(call.op, param, call.find(param) != nullptr ? *call.find(param) : Value());
  OPWRIGHT_CHECK(runs_fast(call));
  OPWRIGHT_CHECK(unary_numbers(op, call));
  if (call.passed("memory_config") && call.memory("memory_config") == nullptr)
    return type_error(call.op, "memory_config", *call.find("memory_config"));
  OPWRIGHT_REQUIRE(!on_host(*input), "Unary operation requires input to be on Device. Input storage type: 0");
  OPWRIGHT_REQUIRE(!deallocated(*input),
                   "Unary: Operands need to be allocated in buffers on the device. Buffer is null.");
  const DType from = dtype == DType::kAbsent ? input->dtype.value : dtype;
  OPWRIGHT_REQUIRE(op.type != "LGAMMA" || !is_block_float(from), "Unary: LGAMMA requires BFLOAT16 or FLOAT32 input");
  OPWRIGHT_REQUIRE(takes(op.integers, from), "Unary: UnaryOpType::{} does not support integer input dtype {}", op.type,
                   eltwise::dtype_text(from));
  // A shard without elements leaves the program's buffers nothing to lie in.
  OPWRIGHT_REQUIRE(
      eltwise::has_elements(*input) || !sharded(*input),
      "Borrowed-memory DFB id 0 (from TensorParameter 'input') exceeds the borrowed Buffer's per-bank size "
      "of 0 B.");
  if (op.in_place) {
    OPWRIGHT_CHECK_ASSIGN(auto outputs, eltwise::one_output(*input, board));
    outputs[0].alias = param;
    return outputs;
  }
  if (call.passed("output_tensor")) {
    OPWRIGHT_CHECK_ASSIGN(TensorSpec given, given_output(call, *input, from));
    OPWRIGHT_CHECK_ASSIGN(auto outputs, eltwise::one_output(std::move(given), board));
    outputs[0].alias = "output_tensor";
    return outputs;
  }
  TensorSpec out = eltwise::device_tensor(input->shape, from, input->layout.value, memory_of(*input));
  out.tile = input->tile;
  if (const MemoryConfig* asked = call.memory("memory_config")) {
    out.memory = *asked;
    if (asked->sharded() && !asked->shard && !asked->nd_shard) {
      const MemoryConfig own = memory_of(*input);
      if (own.sharded() && own.shard) {
        const Shape padded = padded_shape(*input);
        OPWRIGHT_CHECK_ASSIGN(out.memory->shard, eltwise::scaled_shard(*own.shard, padded, padded));
      } else {
        out.memory->shard = eltwise::spread_shard(out, asked->layout.value, board);
      }
    }
  }
  OPWRIGHT_CHECK_ASSIGN(auto outputs, eltwise::one_output(std::move(out), board));
  // Padding of row-major shards stays with the tensor where the shards do not.
  if (!sharded(outputs[0].spec)) outputs[0].padded = padded_shape(*input);
  return outputs;
}

Checked<bool> runs_fast(const BoundCall& call) {
  const auto flag = call.flag("fast_and_approximate_mode", false);
  if (!flag) return refuse(flag.error());
  const auto mode = call.text("mode", "Accurate");
  if (!mode) return refuse(mode.error());
  const auto variant = call.text("variant", "Accurate");
  if (!variant) return refuse(variant.error());
  if (*variant == "Tanh") return unsupported("variant", "the tanh form of gelu");
  return *flag || *mode == "FastApproximate" || *variant == "FastLut";
}

Checked<Exact> unary_reference(const UnaryOp& op, const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const ExactUnary function = find_exact_unary(function_of(op));
  if (function == nullptr) return unsupported("", fmt::format("{} has no exact function", job.call.op));
  OPWRIGHT_CHECK_ASSIGN(const std::vector<double> numbers, unary_numbers(op, job.call));
  Exact exact = map_rows(job, input, [&](double x) { return function(x, numbers); });
  // A gate that closes before minus infinity comes to it: 0, minus infinity and NaN are all right.
  if (std::isnan(function(-INFINITY, numbers)) && function(-0x1p100, numbers) == 0) {
    const std::vector<double> given = map_rows(job, input, [](double x) { return x; }).value;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i] == -INFINITY) exact.open.push_back(i);
  }
  // Kernels that look at the bits take -0 for less than 0, and for other than 0.
  if (asks_for_zero(function_of(op))) {
    const std::vector<double> given = map_rows(job, input, [](double x) { return x; }).value;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i] == 0 && std::signbit(given[i])) exact.open.push_back(i);
    for (const std::size_t i : exact.open) exact.value[i] = std::nan("");
  }
  OPWRIGHT_CHECK_ASSIGN(const bool fast, runs_fast(job.call));
  // The error of a fast variant depends on where it is asked.
  if (fast && fast_error(function_of(op), 0.0) >= 0.0)
    exact.magnitude = map_rows(job, input, [&](double x) { return fast_error(function_of(op), x); }).value;
  return exact;
}

std::vector<double> unary_corners(const UnaryOp& op) {
  const auto corners = corners_of(function_of(op));
  return {corners.begin(), corners.end()};
}

ErrorBudget unary_budget(const UnaryOp& op, const BoundCall& call, std::span<const OutputSpec> outputs) {
  const DType out = outputs[0].spec.dtype.value;
  const TensorSpec* input = call.tensor("input_tensor");
  const bool same = input != nullptr && input->dtype.value == out;
  if (is_integer(out) || (op.exact && same)) return {.kind = ErrorBudget::Kind::kExact, .why = "nothing to round"};
  ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise, .ulps = op.ulps, .floor = op.floor};
  budget.why = op.exact ? "one rounding of the result" : "the vector unit's accurate variant";
  if (op.exact) return budget;
  const auto fast = runs_fast(call);
  if (fast && *fast && fast_error(function_of(op), 0.0) >= 0.0) {
    budget.relative = 1.0;  // of what the reference gives as magnitude
    budget.why = "the vector unit's fast variant, as recorded";
  } else if (fast && *fast) {
    budget.relative = 0x1p-4;
    budget.floor = std::max(budget.floor, 1.0);
    budget.ulps = std::max(budget.ulps, 4.0);
    budget.why = "the vector unit's fast variant";
  } else if (out == DType::kFloat32) {
    budget.relative = 0x1p-8;
  }
  return budget;
}

}  // namespace opwright
