// Tensors of other libraries, through the readers of their base classes alone: what they are, never what they hold.
#pragma once

#include <string>
#include <vector>

#include "py.h"

namespace opwright::python {

// While it lives, torch answers itself and asks no class (`__torch_function__`) and no mode of the program.
class TorchAlone {
 public:
  explicit TorchAlone(bool wanted);
  ~TorchAlone();
  TorchAlone(const TorchAlone&) = delete;
  TorchAlone& operator=(const TorchAlone&) = delete;
  // False: this torch cannot be told so. Then it must not be asked either.
  bool ok() const { return ok_; }

 private:
  Ref guard_;
  bool ok_ = true;
};

// "torch.bfloat16", "float32": as the library writes an element type.
std::string element_type(PyObject* dtype);

}  // namespace opwright::python
