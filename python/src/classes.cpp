#include "classes.h"

#include <cctype>

#include "budget.h"
#include "interrupts.h"

namespace opwright::python {
namespace {

PyObject* as_object(PyTypeObject* type) { return reinterpret_cast<PyObject*>(type); }

Ref get(PyObject* descriptor, PyObject* object) {
  const auto slot = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get));
  if (slot == nullptr) return Ref();
  Ref value(slot(descriptor, object, as_object(Py_TYPE(object))));
  if (!value) drop_error();
  return value;
}

// How `type` itself reads a class, past every metaclass.
struct TypeReaders {
  Ref name, module, mro, dict;
  TypeReaders() {
    const Ref all(PyObject_GetAttrString(as_object(&PyType_Type), "__dict__"));
    const auto take = [&all](const char* key) {
      Ref value(PyMapping_GetItemString(all.get(), key));
      if (!value) drop_error();
      return value;
    };
    name = take("__name__");
    module = take("__module__");
    mro = take("__mro__");
    dict = take("__dict__");
  }
};

const TypeReaders& readers() {
  static const TypeReaders* const readers = new TypeReaders;  // never destroyed: the interpreter ends before
  return *readers;
}

}  // namespace

std::string class_name(PyTypeObject* type) { return text_of(get(readers().name.get(), as_object(type)).get()); }

std::string module_name(PyTypeObject* type) {
  // A class may carry any object as its module.
  return text_of(get(readers().module.get(), as_object(type)).get());
}

Ref classes_of(PyTypeObject* type) {
  Ref classes = get(readers().mro.get(), as_object(type));
  return classes && PyTuple_Check(classes.get()) != 0 ? std::move(classes) : Ref(PyTuple_New(0));
}

bool is_static(PyTypeObject* type) { return (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) == 0; }

Ref defined(PyTypeObject* type, const char* name) {
  const Ref dict = get(readers().dict.get(), as_object(type));
  if (!dict) return Ref();
  Ref value(PyMapping_GetItemString(dict.get(), name));
  if (!value) drop_error();
  return value;
}

Ref found(PyTypeObject* type, const char* name) {
  const Ref classes = classes_of(type);
  for (Py_ssize_t i = 0; i < PyTuple_Size(classes.get()); ++i) {
    if (Ref value = defined(reinterpret_cast<PyTypeObject*>(PyTuple_GetItem(classes.get(), i)), name)) return value;
  }
  return Ref();
}

Ref getter(PyTypeObject* type, const char* name) {
  const Ref descriptor = found(type, name);
  if (!descriptor || PyType_GetSlot(Py_TYPE(descriptor.get()), Py_tp_descr_get) == nullptr) return Ref();
  Ref function(PyObject_GetAttrString(descriptor.get(), "__get__"));
  if (!function) drop_error();
  return function;
}

Ref of_module(const char* module, const char* name) {
  PyObject* modules = PySys_GetObject("modules");  // borrowed
  if (modules == nullptr || PyDict_Check(modules) == 0) return Ref();
  PyObject* found = PyDict_GetItemString(modules, module);
  if (found == nullptr || PyModule_Check(found) == 0) return Ref();
  PyObject* dict = PyModule_GetDict(found);  // not getattr: a module may have a function for that
  return Ref::borrowed(PyDict_GetItemString(dict, name));
}

bool is_of_module(PyTypeObject* type, const char* module, const char* name) {
  return of_module(module, name).get() == as_object(type);
}

Ref own_dict(PyObject* object) {
  Ref dict(PyObject_GenericGetDict(object, nullptr));
  if (!dict) drop_error();
  return dict && PyDict_Check(dict.get()) != 0 ? std::move(dict) : Ref();
}

// --------------------------------------------------------------------------------------------------------------- texts

std::string_view utf8(PyObject* text) {
  if (text == nullptr || PyUnicode_Check(text) == 0) return {};
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) {
    drop_error();
    return {};
  }
  return {data, static_cast<std::size_t>(size)};
}

std::string text_of(PyObject* text) {
  if (const std::string_view view = utf8(text); !view.empty()) return std::string(view);
  if (text == nullptr || PyUnicode_Check(text) == 0) return {};
  const Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) {
    drop_error();
    return {};
  }
  return {PyBytes_AsString(bytes.get()), static_cast<std::size_t>(PyBytes_Size(bytes.get()))};
}

std::string digits_of(PyObject* integer) {
  if (PyLong_AsDouble(integer); PyErr_Occurred() != nullptr) {  // beyond 1e308
    drop_error();
    return {};
  }
  const auto decimal = reinterpret_cast<reprfunc>(PyType_GetSlot(&PyLong_Type, Py_tp_repr));
  const Ref text(decimal(integer));
  if (!text) drop_error();
  return text_of(text.get());
}

std::string printed(PyObject* object) {
  const Ref text(PyObject_Str(object));
  if (!text) {
    drop_error();
    return {};
  }
  std::string answer = text_of(text.get());
  if (answer.size() > static_cast<std::size_t>(kMaxText)) answer = answer.substr(0, kMaxText) + "… (cut)";
  return answer;
}

std::string message_of(PyObject* error) {
  static PyObject* const args = getter(reinterpret_cast<PyTypeObject*>(PyExc_BaseException), "args").release();
  if (args == nullptr || error == nullptr) return {};
  const Ref all(PyObject_CallFunctionObjArgs(args, error, nullptr));
  if (!all) drop_error();
  std::string message;
  for (Py_ssize_t i = 0; all && PyTuple_Check(all.get()) != 0 && i < PyTuple_Size(all.get()); ++i) {
    PyObject* const part = PyTuple_GetItem(all.get(), i);
    if (i > 0) message += ", ";
    if (PyUnicode_Check(part) != 0) {
      if (PyUnicode_GetLength(part) > static_cast<Py_ssize_t>(kMaxError) * 8) return "(a long text)";
      message += text_of(part);
    } else if (Py_TYPE(part) == &PyLong_Type) {
      message += digits_of(part);
    } else {
      message += "<" + class_name(Py_TYPE(part)) + ">";
    }
    if (message.size() > 8 * kMaxError) break;
  }
  // The library appends where in its own binary it was: addresses that differ in every run.
  if (const std::size_t stack = message.find("\nbacktrace:\n"); stack != std::string::npos) {
    message = message.substr(0, stack) + "\n(backtrace cut)";
  }
  message = without_contents(message);
  if (message.size() > kMaxError) {
    std::size_t end = kMaxError;
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;
    message = message.substr(0, end) + "… (cut)";
  }
  return message;
}

// A message may hold a tensor that somebody printed: "tensor([[0.12, …". Shapes and coordinates are whole numbers and
// stay; a bracket with fractions in it, and whatever a tensor or an array printed between its brackets, goes.
std::string without_contents(std::string_view message) {
  const auto is_tensor_before = [&](std::size_t bracket) {
    std::string_view before = message.substr(0, bracket);
    if (!before.empty() && before.back() == '(') before.remove_suffix(1);
    for (const std::string_view name : {"tensor", "Tensor", "array"}) {
      if (before.size() >= name.size() && before.substr(before.size() - name.size()) == name) return true;
    }
    return before.size() >= 11 && before.substr(before.size() - 11) == "containing:";  // of a torch parameter
  };
  std::string kept;
  std::size_t at = 0;
  while (at < message.size()) {
    const char open = message[at];
    const bool is_scalar = open == '(' && at + 1 < message.size() && message[at + 1] != '[' && is_tensor_before(at + 1);
    if (open != '[' && !is_scalar) {
      kept += open;
      ++at;
      continue;
    }
    const char close = open == '[' ? ']' : ')';
    std::size_t end = at;
    int depth = 0;
    bool has_fraction = false;
    for (; end < message.size(); ++end) {
      const char c = message[end];
      if (c == open) ++depth;
      if (c == close && --depth == 0) break;
      const bool digit_before = end > 0 && std::isdigit(static_cast<unsigned char>(message[end - 1])) != 0;
      if (digit_before && (c == '.' || c == 'e')) has_fraction = true;
    }
    end = std::min(end + 1, message.size());
    if (has_fraction || is_tensor_before(at)) {
      kept += open;
      kept += "…";
      kept += close;
    } else {
      kept += message.substr(at, end - at);
    }
    at = end;
  }
  return kept;
}

}  // namespace opwright::python
