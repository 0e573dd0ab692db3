// A configuration with all that is needed to run it as a test.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/data_recipe.h"
#include "model/op_config.h"

namespace opwright::vectors {

struct TestVector {
  std::string id;     // stable: the same for the same configuration, suite and group, whoever makes it
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
  std::string invalid;            // why it cannot be run, "rule: reason"; "" valid

  // What the existing tooling knows it by; all "" when there is none.
  std::string config_hash;    // as its trace file had it, or as the newest generation computes it
  std::string arguments;      // as recorded: the `arguments` object of an era-2 master
  std::string traced_source;  // JSON array of the sources, exactly as recorded
  std::string machine_info;   // JSON: one object, or an array of them
  std::string group;          // suffix of its vector file: "mesh_1x2", "hw_wormhole_n300_1c.mesh_1x2"

  bool expected_to_fail() const { return suite.starts_with("xfail"); }
};

using UseVector = std::function<Status(TestVector&&)>;

// Sets `key` and `id` from the configuration's key, the suite and the group.
void name_vector(TestVector& vector);
// "lost_argument" of "lost_argument: the trace lost …"; "" valid
std::string_view rule_of(const TestVector& vector);

}  // namespace opwright::vectors
