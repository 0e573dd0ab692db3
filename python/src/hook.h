// A call of the traced library, recorded around the original. Returns what the original returns and raises what it
// raises; nothing of ours ever becomes an exception of the model.
#pragma once

#include <string_view>

#include "plans.h"
#include "py.h"
#include "tensors.h"
#include "values.h"

namespace opwright::python {

struct HookOptions {
  unsigned content = 0;     // OPWRIGHT_SKETCH, OPWRIGHT_HASH, OPWRIGHT_CONTENT
  bool device_ops = false;  // the library's own graph capture around each outermost call
};

// State of the module; there is one, guarded by Python's global lock.
struct Hook {
  Plans plans;
  Tensors tensors;
  HookOptions options;
  Told told;
  std::uint64_t epoch = 0;

  // `operation` names itself (python_fully_qualified_name); it becomes the first argument of `original`.
  PyObject* call_operation(PyObject* operation, PyObject* original, PyObject* args, PyObject* kwargs, bool is_slow);
  // Function or method under a name of ours; args are what `original` gets.
  PyObject* call_function(PyObject* name, PyObject* original, PyObject* args, PyObject* kwargs);
  // What operations are made of: recorded only where the program calls it past them. `self` (may be null) goes before
  // the arguments and is not recorded.
  PyObject* call_direct(PyObject* name, PyObject* original, PyObject* args, PyObject* kwargs, PyObject* self);
  // Everything that holds Python objects goes: before the interpreter ends.
  void clear();
};

Hook& hook();

}  // namespace opwright::python
