// The inverse of to_text: every text that a value has gives the value back. Spaces around commas and equal signs are
// allowed, because people write case lines too.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/value.h"

namespace opwright {

Result<Value> parse_value(std::string_view text);
// "(a=1,b=[2,3])" -> fields; positional members have an empty name.
Result<Fields> parse_fields(std::string_view text);

}  // namespace opwright
