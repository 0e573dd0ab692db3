// A trace that is in the store, by what a person calls it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/reader.h"

namespace opwright::jobs {

// `wanted` is the beginning of an id, or a name that one trace alone has.
Result<store::SequenceRow> find_trace(store::Reader& reader, const std::string& wanted);

// As much of its id as people need.
std::string short_id(const store::SequenceRow& row);

}  // namespace opwright::jobs
