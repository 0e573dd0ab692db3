// What differs between two operations of a report, field by field, and when two of different reports are the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "perf/recording.h"

namespace opwright::perf {

struct FieldDifference {
  std::string field;  // "op", "fidelity", "attributes.dim", "input 0 logical", "output 1"
  std::string a, b;   // as spelled; "" it is not there
};

// "op" first, then fidelity, attributes by name, inputs and outputs.
std::vector<FieldDifference> differences(const Signature& a, const Signature& b);

// A text that is equal where differences() finds nothing: the class without its namespace, attributes whatever their
// order, a tensor at the end that says nothing left away. `ignored`: fields that do not count, by name or by their
// beginning ("attributes", "input 0", "fidelity").
std::string comparable_text(const Signature& signature, const std::vector<std::string>& ignored = {});
bool is_ignored(std::string_view field, const std::vector<std::string>& ignored);

// "1x1x32x2304"
std::string extents_text(const std::array<std::int64_t, 4>& extents);

}  // namespace opwright::perf
