// Names of positional parameters, so that `add(a, b)` and `add(a, input_tensor_b=b)` are one configuration.
#pragma once

#include <span>
#include <string_view>

namespace opwright {

// Parameter names of a Python operation by position; empty when its signature is not known.
// The table (data/signatures.tsv) is part of the identity: changing it means a new kKeyVersion.
std::span<const std::string_view> signature_of(std::string_view dotted_op);

}  // namespace opwright
