// The hash that a vector without a recorded one has in the existing vector files.
#pragma once

#include <string>

#include "base/json.h"

namespace opwright::vectors {

// json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
std::string compact_sorted(const json::Node& node);
// SHA-224 (hex) of that text.
std::string sweep_hash(const json::Node& vector);

}  // namespace opwright::vectors
