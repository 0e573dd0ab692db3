// The short name of a case, "@054f8d1b": the beginning of the key of its configuration, in every run and store the
// same. Cases that no store has a configuration of are named by their line.
#pragma once

#include <string>
#include <string_view>

#include "model/case_record.h"

namespace opwright {

std::string case_name(const CaseRecord& record);
// Whether it stands for the case: "@054f", the beginning of its name or key; four digits or more.
bool is_case_name(std::string_view text);
bool is_named(const CaseRecord& record, std::string_view name);

}  // namespace opwright
