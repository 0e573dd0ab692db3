// What is told of failures that were made smaller.
#pragma once

#include <string>

#include "base/json_object.h"
#include "jobs/shrink_failure.h"

namespace opwright::cli {

std::string shrunk_text(const jobs::ShrunkFailure& failure);
JsonObject shrunk_json(const jobs::ShrunkFailure& failure);
std::string shrunk_list_json(const jobs::ShrinkReport& report);  // array
std::string known_list_json(const jobs::ShrinkReport& report);   // array, of causes that an earlier run has

}  // namespace opwright::cli
