// A store and what is asked of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "select/selected.h"

namespace opwright::jobs {

struct Question {
  std::string store;
  int wait_ms = 60'000;  // for another process that writes the store
  std::string where;     // selector; "" everything
};

Result<std::unique_ptr<store::Reader>> open_reader(const std::string& store, int wait_ms);
Result<select::Selector> parse_where(const std::string& where);
// The operations of the store that `wanted` names: `add`, `ttnn.add`, `ttnn::add`, `experimental.add`. An error names
// near ones: it is the same in every verb.
Result<std::vector<std::string>> operations_named(store::Reader& reader, const std::string& wanted);
Status check_operations(store::Reader& reader, const std::vector<std::string>& wanted);

}  // namespace opwright::jobs
