// Element-wise operators of two operands: arguments of both eras, what the library refuses and returns, exact results.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
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
    kSigned,    // floats or INT32, one dtype for both
    kInteger,   // integers alone, one dtype for both
    kWide,      // … of 32 bits
    kInt32,     // … of 32 bits with a sign
  };
  std::string_view name;  // "ttnn.add"
  std::string_view type;  // of the library's BinaryOpType: "ADD"
  Dtypes dtypes = Dtypes::kSum;
  double (*exact)(double a, double b) = nullptr;
  bool in_place = false;
  bool cancels = false;  // the result may be far smaller than its operands
  bool jumps = false;    // a quotient a little smaller or larger gives another result: both are right
  // Where a kernel, that goes another way than the function, leaves the range of float32: nothing is promised there.
  bool (*gives_up)(double a, double b) = nullptr;
  bool rounds = true;  // false: the result is 0, 1 or one of the operands
  double ulps = 1;     // of the output, where operands are exact
  double floor = 0;    // below which the error is absolute
  std::string_view first = "input_tensor_a";
  std::string_view second = "input_tensor_b";
  std::string_view number = {};  // what the overload for a number calls the second, where that is another name
  Role data = Role::kPlain;      // of both operands
  OnWhole on_whole = OnWhole::kAsBudgeted;
  std::string_view alias = {};
  bool takes_number = true;  // as its second operand
  bool converts = true;      // has `dtype`
};

std::vector<Param> binary_params(const BinaryOp& op);
// Of an operation whose overloads disagree about the name of an operand: `other` becomes `name`.
void rename_operand(BoundCall& call, std::string_view other, std::string_view name);

Checked<std::vector<OutputSpec>> infer_binary(const BinaryOp& op, const BoundCall& call, const Board& board);
Checked<Exact> binary_reference(const BinaryOp& op, const ReferenceJob& job);
ErrorBudget binary_budget(const BinaryOp& op, const BoundCall& call, std::span<const OutputSpec> outputs);

// The operator of a row; OpSpec holds plain functions, so the row is known to the compiler.
template <const BinaryOp& Op>
OpSpec binary_spec(std::vector<Param> params = binary_params(Op)) {
  OpSpec out{.name = Op.name,
             .params = std::move(params),
             .infer = [](const BoundCall& call, const Board& board) { return infer_binary(Op, call, board); },
             .reference = [](const ReferenceJob& job) { return binary_reference(Op, job); },
             .budget = [](const BoundCall& call, std::span<const OutputSpec> outputs,
                          std::size_t) { return binary_budget(Op, call, outputs); },
             .on_whole = Op.on_whole};
  if (!Op.alias.empty()) out.aliases.push_back(Op.alias);
  // Other releases have the names of the operators that are not in place.
  if (Op.first == "input_a")
    out.rebind = [](BoundCall& call) -> Checked<void> {
      rename_operand(call, "input_tensor_a", Op.first);
      rename_operand(call, "input_tensor_b", Op.second);
      return {};
    };
  if (!Op.number.empty())
    out.rebind = [](BoundCall& call) -> Checked<void> {
      rename_operand(call, Op.number, Op.second);
      return {};
    };
  return out;
}

}  // namespace opwright
