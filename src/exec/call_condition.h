// A condition on a call: what a planted fault waits for, and what a failure was found to need.
//   ttnn.matmul and input_tensor_a[-1] > 2048 and input_tensor_b.dtype = BFLOAT8_B and bias passed
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/op_config.h"

namespace opwright {

struct Need {
  enum class Is : std::uint8_t { kEqual, kUnequal, kLess, kMore, kAtMost, kAtLeast, kMultiple, kNoMultiple, kPassed };
  std::string fact;  // exec/call_facts.h
  Is is = Is::kEqual;
  std::string value;  // of kMultiple and kNoMultiple: of which number; of kPassed ""
  friend bool operator==(const Need&, const Need&) = default;
};
std::string to_text(const Need& need);  // "a[-1] > 2048", "a[-1] % 32 != 0", "bias passed"

struct CallCondition {
  std::string op;  // "" any
  std::vector<Need> needs;
};
std::string to_text(const CallCondition& condition);
Result<CallCondition> parse_condition(std::string_view text);

bool holds(const Need& need, std::span<const Argument> args);
bool holds(const CallCondition& condition, std::string_view op, std::span<const Argument> args);

}  // namespace opwright
