// Suites that a person wrote: a YAML file of operations and lists of values (docs/formats/vectors.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/data_recipe.h"
#include "model/op_config.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

// One parameter, or several whose values go together (`"a,b": [[1, 2], [3, 4]]`).
struct ParameterList {
  std::vector<std::string> names;
  std::vector<std::vector<std::optional<Value>>> rows;  // one value a name; nothing: not passed
};

struct UserCases {
  std::size_t line = 0;  // of the file
  std::string op;        // dots
  Convention convention = Convention::kPython;
  std::vector<ParameterList> parameters;  // the first varies slowest
  DataRecipe recipe;
  std::optional<double> pcc, seconds;

  std::int64_t size() const;  // of the product; INT64_MAX when it is larger
};

struct UserSuite {
  std::string name;
  std::vector<UserCases> cases;
};

// Errors name the file, the line and what is wanted there. `seed` is that of cases that name none.
Result<std::vector<UserSuite>> read_user_suites(const std::string& path, std::uint64_t seed = 1);
Result<std::vector<UserSuite>> parse_user_suites(const std::string& text, const std::string& path,
                                                 std::uint64_t seed = 1);

// Every combination, in the order of the file.
Status for_each_user_vector(const UserSuite& suite, const UseVector& use);

}  // namespace opwright::vectors
