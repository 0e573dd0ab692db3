// Values of a native trace as JSON for people and scripts: one line, nothing hidden, no promise to read back.
#pragma once

#include <functional>
#include <string>

#include "format/native/value_table.h"

namespace opwright::format {

// What the caller writes in his own words; both may be empty.
struct OwnJson {
  std::function<bool(const NativeValue& value, std::string& out)> value;  // true: it is written, with all that is in it
  std::function<std::string(const NativeValue& key)> key;                 // of a dict; else what the value prints
};

// Enums are "Type.MEMBER", structs objects with "$type" first, opaque values {"$type", "text"}, bytes {"$bytes": hex};
// a tensor is its spec.
void append_json(const NativeValue& value, std::string& out, const OwnJson& own = {});
std::string to_json(const NativeValue& value);

}  // namespace opwright::format
