// How files for the existing tools name the source of calls.
#pragma once

#include <string>

#include "store/reader.h"

namespace opwright::select {

// Whether a row comes from recorded calls; else a file with configurations told it. Rows that one of our own masters
// told come from calls.
bool is_of_calls(const store::OccurrenceRow& row);
// The source as masters and vectors name it: of calls the test function without parameters, else what the file says.
std::string source_for_files(const store::OccurrenceRow& row);

}  // namespace opwright::select
