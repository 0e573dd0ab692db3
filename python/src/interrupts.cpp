#include "interrupts.h"

namespace opwright::python {
namespace {

Ref& judge() {
  static Ref* const judge = new Ref;  // never destroyed: the interpreter ends before
  return *judge;
}

thread_local PyObject* held = nullptr;  // owned

// Keeps the first: a second one is most likely about the first.
void hold(PyObject* error) {
  if (held == nullptr)
    held = error;
  else
    Py_DECREF(error);
}

// The exception that is set, with its traceback; none is set afterwards.
Ref take_error() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return Ref();
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != nullptr && traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
}

bool is_ordinary(PyObject* error) {
  return PyErr_GivenExceptionMatches(reinterpret_cast<PyObject*>(Py_TYPE(error)), PyExc_Exception) != 0;
}

}  // namespace

void set_judge(Ref of_program) { judge() = std::move(of_program); }

void drop_error() {
  if (PyErr_Occurred() == nullptr) return;
  Ref error = take_error();
  if (!error) return;
  if (!is_ordinary(error.get())) return hold(error.release());
  // Without a traceback it came from C, which runs no handler.
  const Ref traceback(PyException_GetTraceback(error.get()));
  if (!traceback || !judge()) return;
  const Ref answer(PyObject_CallFunctionObjArgs(judge().get(), error.get(), nullptr));
  if (!answer) {  // interrupted again
    Ref second = take_error();
    if (second && !is_ordinary(second.get())) hold(second.release());
  }
  if (answer.get() == Py_True) hold(error.release());
}

bool has_held() { return held != nullptr; }

void raise_held() {
  const Ref before = take_error();
  const Ref error(std::exchange(held, nullptr));
  if (!error) return;
  if (before && before.get() != error.get()) PyException_SetContext(error.get(), Ref::borrowed(before.get()).release());
  Ref type = Ref::borrowed(reinterpret_cast<PyObject*>(Py_TYPE(error.get())));
  PyErr_Restore(type.release(), Ref::borrowed(error.get()).release(), PyException_GetTraceback(error.get()));
}

}  // namespace opwright::python
