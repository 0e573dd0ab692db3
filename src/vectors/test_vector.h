// A configuration with all that is needed to run it as a test.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/data_recipe.h"
#include "model/op_config.h"

namespace opwright::vectors {

struct TestVector {
  std::string id;     // stable: the same for the same configuration and suite, whoever makes it
  std::string suite;  // "model_traced", "all_cases", "sample", a user's
  OpConfig config;
  std::string key;  // of the configuration, hex
  DataRecipe recipe;
  std::optional<double> pcc;      // threshold instead of the operator's own
  std::optional<double> seconds;  // time-out of its own
  std::int64_t calls = 0;         // how often the traces called it
  std::string models;             // comma separated
  std::string sources;            // comma separated
  std::string machine;            // "Wormhole n300 x1"; "" unknown
  std::string mesh;               // "1x2"; "" one chip or unknown
  std::string invalid;            // why it cannot be run; "" valid

  bool expected_to_fail() const { return suite.starts_with("xfail"); }
};

using UseVector = std::function<Status(TestVector&&)>;

}  // namespace opwright::vectors
