// A recorded configuration on its way to a generated test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialect/ttnn/board.h"
#include "exec/recorded_return.h"
#include "model/op_config.h"

namespace opwright::gentest {

struct Recorded {
  OpConfig config;
  std::string key;  // hex
  std::int64_t calls = 0;
  std::string models;                   // comma separated
  std::string machine;                  // "Wormhole n300 x1"; "" unknown
  std::string raised;                   // what every recorded call of it raised; "" they returned
  std::vector<RecordedReturn> returns;  // most calls first; empty: nobody recorded any
};

}  // namespace opwright::gentest
