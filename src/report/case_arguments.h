// A case's arguments as the page shows them: one row a tensor or value, and how large the case is. Read from its line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/case_record.h"

namespace opwright::report {

struct CaseArguments {
  // JSON: a row is ["input_tensor_a", shape, dtype, layout, memory, shard, placement] of a tensor, ["dim", value] of
  // anything else; "[]" where the line cannot be read.
  std::string rows = "[]";
  std::optional<std::int64_t> rank;   // of the first tensor
  std::optional<std::int64_t> terms;  // values that one result adds up (K of a product); of judged cases
};
CaseArguments arguments_of(const CaseRecord& record);

}  // namespace opwright::report
