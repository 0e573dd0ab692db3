// What an operator makes: the tensor and its padded shape (which operators may choose wider than the layout asks).
#pragma once

#include <string>

#include "model/tensor_spec.h"

namespace opwright {

struct OutputSpec {
  TensorSpec spec;
  Shape padded;
  std::string alias;  // the parameter whose tensor it is, written in place; "" when it is a new tensor
};

}  // namespace opwright
