// A call as JSON, the encoding of oracle files and of the device protocol: docs/formats/oracle.md. Every value that a
// trace can hold is written, and read back as the same value.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "model/op_config.h"
#include "model/output_spec.h"

namespace opwright {

// {"tensor": …}, {"memory_config": …}, …; the error says what is wrong with it.
Result<Value> decode_value(const json::Node& node);
// {"op": …, "args": […], "kwargs": {…}}: positional arguments are named arg0, arg1, …
Result<OpConfig> decode_call(const json::Node& call);
// A tensor that came back: the fields of a tensor, and its padded shape.
Result<OutputSpec> decode_output(const json::Node& output);

std::string encode_value(const Value& value);
// The same in the words of `--format json`, for scripts: {"tensor": {"shape": …, "dtype": …}}, {"memory": …},
// {"enum": "DataType.BFLOAT16"}, {"struct": type, "fields": {…}}, {"opaque": type, "text": …}; scalars, lists and null
// as themselves.
std::string shown_value(const Value& value);
// The inverse of decode_call. Arguments up to the last that is named argN go by position, the others by name; fails
// when positions are missing in between. With `slots` each tensor says its number, in the order of BoundCall::tensors.
Result<std::string> encode_call(std::string_view op, std::span<const Argument> args, bool slots = false);
std::string encode_output(const OutputSpec& output);

}  // namespace opwright
