// A part of a document as the text that Python's json.dumps writes by default.
#pragma once

#include <string>

#include "base/json_write.h"

namespace opwright::vectors {

inline std::string one_line(const json::Node& node) {
  std::string out;
  json::append_python(out, node, {});
  return out;
}

}  // namespace opwright::vectors
