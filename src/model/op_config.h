// The canonical operator call: what makes two calls the same test (DESIGN §5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/value.h"

namespace opwright {

// Who speaks in the argument list. The same operator takes other parameters in Python than in C++, so
// configurations of different conventions are never the same.
enum class Convention : std::uint8_t {
  kPython = 1,  // ttnn.add(a, b, dtype=…): positions and keywords as the model wrote them
  kCpp = 2,     // ttnn::add(…): all C++ parameters after binding, by position
};
std::string_view name_of(Convention convention);

struct Argument {
  std::string name;  // the parameter's name where the signature is known, else `argN`
  Value value;
};

using ConfigKey = Sha256;

struct OpConfig {
  std::string op;  // dots: `ttnn.add`
  Convention convention = Convention::kPython;
  std::vector<Argument> args;  // positional order, then keywords by name
  ConfigKey key{};             // of normalize/identity
};

// `ttnn::add` -> `ttnn.add`; other names stay as they are.
std::string dotted(std::string_view op);
// `ttnn.experimental.rotary_embedding` -> `rotary_embedding`
std::string_view short_name(std::string_view op);

}  // namespace opwright
