// What a generated test expects: the specs of its results, how near its numbers must be, and who computes the right
// ones.
#pragma once

#include <string>
#include <vector>

#include "gentest/spell_call.h"

namespace opwright::gentest {

enum class Reference : std::uint8_t {
  kGolden,  // the library's golden function
  kTorch,   // templates/op_references.py
  kNone,    // only specs are checked
};
Reference reference_of(std::string_view op);
std::string_view name_of(Reference reference);  // as generated files write it: "GOLDEN", "TORCH", "None"

// The arguments of a row's Case behind its call: `returns`, `pcc`, `rtol`, …, as far as anything is known.
// Specs are those that the trace recorded, else those that our rules promise on the board that it was traced on; where
// no board is known, without the memory they lie in.
std::vector<std::pair<std::string, Python>> expectations(const Recorded& recorded, const Understood& understood);

}  // namespace opwright::gentest
