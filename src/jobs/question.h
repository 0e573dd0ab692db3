// A store and what is asked of it.
#pragma once

#include <memory>
#include <string>

#include "select/selected.h"

namespace opwright::jobs {

struct Question {
  std::string store;
  int wait_ms = 60'000;  // for another process that writes the store
  std::string where;     // selector; "" everything
};

Result<std::unique_ptr<store::Reader>> open_reader(const std::string& store, int wait_ms);
Result<select::Selector> parse_where(const std::string& where);

}  // namespace opwright::jobs
