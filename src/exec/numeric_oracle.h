// Numeric cases: what real kernels computed, bit for bit (index .json beside its .bin).
#pragma once

#include <functional>
#include <string>

#include "exec/oracle.h"

namespace opwright {

Status read_numeric_oracle(const std::string& path, const std::function<Status(OracleCase&&)>& use);

}  // namespace opwright
