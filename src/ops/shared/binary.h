// Element-wise operators of two operands: arguments of both eras, what the library refuses and returns, exact results.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opwright {

struct BinaryOp {
  enum class Dtypes : std::uint8_t {
    kSum,       // floats of any kind together, integers with their own kind
    kProduct,   // … and INT32 or UINT32 with floats, by conversion
    kQuotient,  // … and INT32 with itself, into FLOAT32
    kCompare,   // as sums; UINT8 runs as UINT16
    kSame,      // one dtype for both
    kPower,     // floats, one dtype for both
  };
  std::string_view type;  // of the library's BinaryOpType: "ADD"
  Dtypes dtypes = Dtypes::kSum;
  double (*exact)(double a, double b) = nullptr;
  bool in_place = false;
  bool cancels = false;  // the result may be far smaller than its operands
  bool rounds = true;    // false: the result is 0, 1 or one of the operands
  double ulps = 1;       // of the output, where operands are exact
  std::string_view first = "input_tensor_a";
  std::string_view second = "input_tensor_b";
};

// Parameters in the order of the Python signature.
std::vector<Param> binary_params(std::string_view first = "input_tensor_a", std::string_view second = "input_tensor_b");
std::vector<Param> in_place_params(std::string_view first = "input_tensor_a",
                                   std::string_view second = "input_tensor_b");
// Of an operation whose overloads disagree about the name of an operand: `other` becomes `name`.
void rename_operand(BoundCall& call, std::string_view other, std::string_view name);

Checked<std::vector<OutputSpec>> infer_binary(const BinaryOp& op, const BoundCall& call, const Board& board);
Checked<Exact> binary_reference(const BinaryOp& op, const ReferenceJob& job);
ErrorBudget binary_budget(const BinaryOp& op, const BoundCall& call, std::span<const OutputSpec> outputs);

template <const BinaryOp& Op>
OpSpec binary_spec(std::string_view name, const std::vector<std::string_view>& aliases = {},
                   const std::vector<Param>& params = Op.in_place ? in_place_params(Op.first, Op.second)
                                                                  : binary_params(Op.first, Op.second)) {
  return {.name = name,
          .aliases = aliases,
          .params = params,
          .infer = [](const BoundCall& call, const Board& board) { return infer_binary(Op, call, board); },
          .reference = [](const ReferenceJob& job) { return binary_reference(Op, job); },
          .budget = [](const BoundCall& call, std::span<const OutputSpec> outputs,
                       std::size_t) { return binary_budget(Op, call, outputs); }};
}

}  // namespace opwright
