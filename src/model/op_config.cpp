#include "model/op_config.h"

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

std::string_view short_name(std::string_view op) {
  const std::size_t at = op.find_last_of(".:");
  return at == std::string_view::npos ? op : op.substr(at + 1);
}

}  // namespace opwright
