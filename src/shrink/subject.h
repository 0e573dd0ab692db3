// What is made smaller: a case, its data, and the cases that run before it in its process.
#pragma once

#include <string>
#include <vector>

#include "model/data_recipe.h"
#include "model/op_config.h"

namespace opwright::shrink {

struct Subject {
  OpConfig config;
  DataRecipe recipe;
  std::vector<OpConfig> before;  // in the order in which they run; empty: it fails alone
};

std::string key_of(const Subject& subject);  // two of one key are one trial

}  // namespace opwright::shrink
