#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{
    .name = "ttnn.clamp", .type = "CLAMP_TSS", .integers = UnaryOp::Integers::kInt32, .exact = true, .ulps = 1};

struct Bounds {
  double low = -INFINITY;
  double high = INFINITY;
};

Checked<Bounds> bounds_of(const BoundCall& call) {
  if (call.tensor("min") != nullptr || call.tensor("max") != nullptr)
    return unsupported(call.tensor("min") != nullptr ? "min" : "max", "tensors as bounds");
  Bounds out;
  OPWRIGHT_CHECK_ASSIGN(out.low, call.number("min", -INFINITY));
  OPWRIGHT_CHECK_ASSIGN(out.high, call.number("max", INFINITY));
  return out;
}

bool is_float(const BoundCall& call, std::string_view param) {
  return call.passed(param) && call.find(param)->as_float() != nullptr;
}
bool is_int(const BoundCall& call, std::string_view param) {
  return call.passed(param) && call.find(param)->as_int() != nullptr;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(bounds_of(call));
  if (!call.passed("min") && !call.passed("max"))
    return refuse("Only one of 'min' or 'max' can be None. Please provide one value");
  const bool mixed = (is_int(call, "min") && is_float(call, "max")) || (is_float(call, "min") && is_int(call, "max"));
  if (mixed && call.convention == Convention::kPython) return refuse("std::get: wrong index for variant", "max");
  // Integers between bounds that are none become floats.
  const TensorSpec* input = call.tensor("input_tensor");
  const bool floats = is_float(call, "min") || is_float(call, "max");
  const bool becomes = input != nullptr && input->dtype.value == DType::kInt32 && floats;
  return infer_unary(kOp, call, board, becomes ? DType::kFloat32 : DType::kAbsent);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Bounds bounds, bounds_of(job.call));
  return map_rows(job, *job.input("input_tensor"),
                  [&](double x) { return std::isnan(x) ? x : std::min(std::max(x, bounds.low), bounds.high); });
}

// The bounds themselves are rounded on their way into the registers.
ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t) {
  const auto bounds = bounds_of(call);
  const auto short_number = [](double x) { return std::isinf(x) || std::ldexp(x, 7) == std::trunc(std::ldexp(x, 7)); };
  ErrorBudget out = unary_budget(kOp, call, outputs);
  if (!bounds || !short_number(bounds->low) || !short_number(bounds->high))
    return {.kind = ErrorBudget::Kind::kElementwise, .ulps = 1, .relative = 0x1p-7, .why = "bounds cut to bfloat16"};
  return out;
}

std::vector<double> corners(const BoundCall& call) {
  std::vector<double> out;
  const auto bounds = bounds_of(call);
  for (const double bound : {bounds ? bounds->low : INFINITY, bounds ? bounds->high : INFINITY})
    if (std::isfinite(bound)) out.push_back(bound);
  return out;
}

}  // namespace

const OpSpec& clamp_op() {
  static const OpSpec spec{.name = kOp.name,
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "min", .era1 = 1},
                                      {.name = "max", .era1 = 2},
                                      {.name = "memory_config", .era1 = 3},
                                      {.name = "output_tensor", .era1 = 4, .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .corners = corners};
  return spec;
}

}  // namespace opwright
