#include "foreign.h"

#include "classes.h"
#include "interrupts.h"

namespace opwright::python {
namespace {

// A field of an object of a class in C; `member` as in getter().
Ref field(PyObject* object, const char* member) {
  const Ref reader = getter(Py_TYPE(object), member);
  if (!reader) return Ref();
  Ref value(PyObject_CallFunctionObjArgs(reader.get(), object, nullptr));
  if (!value) drop_error();
  return value;
}

// numpy prints element types with Python code; this is the same text for the usual ones and the short form for others.
std::string numpy_type(PyObject* dtype) {
  const std::string kind = text_of(field(dtype, "kind").get());
  const std::string order = text_of(field(dtype, "byteorder").get());
  const Ref size = field(dtype, "itemsize");
  const std::string bits = size ? std::to_string(8 * PyLong_AsLong(size.get())) : "";
  if (kind == "b") return "bool";
  if (kind == "O") return "object";
  if (order != ">") {
    if (kind == "f") return "float" + bits;
    if (kind == "i") return "int" + bits;
    if (kind == "u") return "uint" + bits;
    if (kind == "c") return "complex" + bits;
  }
  const Ref scalar = field(dtype, "type");
  if (kind == "V" && scalar && PyType_Check(scalar.get()) != 0) {  // bfloat16 of ml_dtypes
    if (std::string name = class_name(reinterpret_cast<PyTypeObject*>(scalar.get())); name != "void") return name;
  }
  return text_of(field(dtype, "str").get());
}

}  // namespace

TorchAlone::TorchAlone(bool wanted) {
  if (!wanted) return;
  const Ref make = of_module("torch._C", "DisableTorchFunction");
  if (make) guard_ = Ref(PyObject_CallFunctionObjArgs(make.get(), nullptr));
  if (guard_) {
    const Ref done(PyObject_CallMethod(guard_.get(), "__enter__", nullptr));
    ok_ = static_cast<bool>(done);
  } else {
    ok_ = false;
  }
  if (ok_) return;
  drop_error();
  guard_ = Ref();
}

TorchAlone::~TorchAlone() {
  if (!guard_) return;
  const Ref done(PyObject_CallMethod(guard_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (!done) drop_error();
}

std::string element_type(PyObject* dtype) {
  if (is_static(Py_TYPE(dtype)) && is_of_module(Py_TYPE(dtype), "torch", "dtype")) return printed(dtype);
  if (const Ref base = of_module("numpy", "dtype");
      base && PyType_Check(base.get()) != 0 &&
      PyType_IsSubtype(Py_TYPE(dtype), reinterpret_cast<PyTypeObject*>(base.get())) != 0)
    return numpy_type(dtype);
  return "<" + class_name(Py_TYPE(dtype)) + ">";
}

}  // namespace opwright::python
