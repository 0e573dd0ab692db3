// Element-wise operators of one operand: arguments of both eras, what the library refuses and returns, exact results.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opwright {

// A number that the function takes besides its operand.
struct UnaryNumber {
  std::string_view name = {};
  double otherwise = 0;
  bool required = false;
};

struct UnaryOp {
  enum class Integers : std::uint8_t { kNone, kInt32, kWide, kUnsigned, kNotUint8, kAll };
  std::string_view name;   // "ttnn.tanh"; its last part is a function that unary_exact.h knows
  std::string_view type;   // of the library's UnaryOpType: "TANH"
  bool fast_flag = false;  // has fast_and_approximate_mode
  Integers integers = Integers::kNone;
  bool exact = false;  // nothing to round but the output dtype
  double ulps = 2;     // of the output, accurate mode
  double floor = 0;    // below which the error is absolute
  Role data = Role::kPlain;
  OnWhole on_whole = OnWhole::kAsBudgeted;
  std::string_view alias = {};
  std::string_view keyword = {};  // a further parameter, by name only
  std::array<UnaryNumber, 2> numbers = {};
  bool constant = false;  // every element of the result is the same
  bool in_place = false;  // writes into its operand, and gives it back
};

// Parameters, with the flag where the operator has one.
std::vector<Param> unary_params(const UnaryOp& op);

// What the library refuses of a tensor that runs through its unary operation, and what comes out. `dtype`: of the
// result where it is not the input's.
Checked<std::vector<OutputSpec>> infer_unary(const UnaryOp& op, const BoundCall& call, const Board& board,
                                             DType dtype = DType::kAbsent, std::string_view input = "input_tensor");
// exact(x) for each picked element; `function` may hold parameters.
template <class F>
Exact map_rows(const ReferenceJob& job, const HostTensor& input, F&& function) {
  Exact out;
  out.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r)
    for (std::int64_t i = 0; i < job.rows.length; ++i)
      out.value.push_back(function(input.at(job.rows.at(r) * job.rows.length + i)));
  return out;
}
// The numbers of a call, in the order of the function's parameters.
Checked<std::vector<double>> unary_numbers(const UnaryOp& op, const BoundCall& call);
// Whether the call asks for the fast variant of its function, by flag, mode or variant.
Checked<bool> runs_fast(const BoundCall& call);
Checked<Exact> unary_reference(const UnaryOp& op, const ReferenceJob& job);
std::vector<double> unary_corners(const UnaryOp& op);
ErrorBudget unary_budget(const UnaryOp& op, const BoundCall& call, std::span<const OutputSpec> outputs);

}  // namespace opwright
