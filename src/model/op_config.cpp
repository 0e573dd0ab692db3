#include "model/op_config.h"

#include "base/text.h"

namespace opwright {

std::string_view name_of(Convention convention) {
  switch (convention) {
    case Convention::kPython:
      return "python";
    case Convention::kCpp:
      return "cpp";
  }
  return "unknown";
}

std::string dotted(std::string_view op) {
  std::string name;
  name.reserve(op.size());
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (op[i] == ':' && i + 1 < op.size() && op[i + 1] == ':') {
      name += '.';
      ++i;
    } else {
      name += op[i];
    }
  }
  return name;
}

std::string_view short_name(std::string_view op) { return last_part(op); }

}  // namespace opwright
