// Values of a native trace as JSON for people and scripts: one line, nothing hidden, no promise to read back.
#pragma once

#include <functional>
#include <string>

#include "format/native/value_table.h"

namespace opwright::format {

// Writes a tensor where one stands; without it a tensor is its spec.
using TensorJson = std::function<void(const NativeValue& tensor, std::string& out)>;

// Enums are "Type.MEMBER", structs objects with "$type" first, opaque values {"$type", "text"}, bytes {"$bytes": hex}.
void append_json(const NativeValue& value, std::string& out, const TensorJson& tensor = {});
std::string to_json(const NativeValue& value);

}  // namespace opwright::format
