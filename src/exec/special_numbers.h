// Numbers that are none, or hardly: NaN, infinities, denormal and huge ones, negative zeros (`--data special`). Few, so
// that most of an output stays finite, and only where the operator says what becomes of them.
#pragma once

#include <cstdint>

#include "model/host_tensor.h"
#include "ops/op.h"

namespace opwright {

// What nobody promises of such numbers: functions take NaN for an infinity (sigmoid gives 1), and sums of products are
// not IEEE (0 x infinity). Operators that hand numbers through keep them all.
struct OpenNumbers {
  bool nan = false;
  bool infinity = false;
};
OpenNumbers open_numbers(const OpSpec& op);

// Puts them into tensor `slot`, filled with numbers of N(0,1) by its role. An operator that hands numbers through gets
// every kind in every tensor, large whole numbers too; a function of single elements those for which it is defined, in
// its first tensor; one that adds numbers up one of them in every eighth row of its first tensor.
void put_special(const OpSpec& op, const BoundCall& call, std::size_t slot, Role role, std::uint64_t seed,
                 HostTensor& tensor);

}  // namespace opwright
