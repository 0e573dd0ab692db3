// Python objects as encoded values of the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/encoder.h"
#include "capture/recorder.h"
#include "plans.h"
#include "py.h"
#include "tensors.h"

namespace opwright::python {

// Encodes values and notes the tensors met on the way, in their order.
class ValueWriter {
 public:
  ValueWriter(capture::Recorder& recorder, Plans& plans, Tensors& tensors)
      : recorder_(recorder), plans_(plans), tensors_(tensors) {}

  // Never leaves a Python exception behind. `known` (may be null) are tensor descriptions to try first.
  void put(PyObject* object, capture::Encoder& out, SpecGuess* guess);
  // Value id of an object that is recorded apart (enum, struct, opaque).
  std::uint32_t keep(PyObject* object, const Plan& plan);
  // Description of a tensor, read field by field.
  std::uint32_t tensor_spec(PyObject* tensor, const Plan& plan);

  struct Met {
    PyObject* object;  // borrowed: alive as long as the call's arguments or its result
    Tensor tensor;
    bool is_new;  // nothing recorded had it before
  };
  std::vector<Met> met;

 private:
  void put_tensor(PyObject* object, const Plan& plan, capture::Encoder& out, SpecGuess* guess);
  void put_sequence(PyObject* object, bool is_tuple, capture::Encoder& out, SpecGuess* guess);
  void put_dict(PyObject* object, capture::Encoder& out, SpecGuess* guess);
  void put_fields(PyObject* object, const Plan& plan, capture::Encoder& out);
  std::uint32_t keep_opaque(PyObject* object, std::string_view type, bool has_dict);
  Ref read(PyObject* object, const Field& field);

  capture::Recorder& recorder_;
  Plans& plans_;
  Tensors& tensors_;
  int depth_ = 0;
};

}  // namespace opwright::python
