// What stands for Python's str() of a value that has no printed text in the trace.
#pragma once

#include <string>

#include "format/native/value_table.h"

namespace opwright::format {

// None, True, 0.5, DataType.TILE, b'…', [1, 2], Type(field=value, …); a shard spec and a mesh as the library prints
// them.
std::string made_text(const NativeValue& value);

}  // namespace opwright::format
