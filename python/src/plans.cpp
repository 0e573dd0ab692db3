#include "plans.h"

#include <initializer_list>

#include "budget.h"
#include "classes.h"
#include "interrupts.h"

namespace opwright::python {
namespace {

bool is_a(PyTypeObject* type, const Ref& base) {
  return base && PyType_Check(base.get()) != 0 &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base.get())) != 0;
}

bool is_one_of(PyTypeObject* type, const char* module, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (is_of_module(type, module, name)) return true;
  }
  return false;
}

bool is_library_name(std::string_view module) { return module == "ttnn" || module.starts_with("ttnn."); }

void add_fields(Plan& plan, PyTypeObject* type, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (Ref reader = getter(type, name)) plan.fields.push_back({name, std::move(reader), false});
  }
}

// Plain data of Python. Bool has no subclasses and is no question here.
bool is_plain(PyTypeObject* type, Plan& plan) {
  static const std::pair<PyTypeObject*, Kind> kPlain[] = {{&PyLong_Type, Kind::kInt},     {&PyFloat_Type, Kind::kFloat},
                                                          {&PyUnicode_Type, Kind::kText}, {&PyBytes_Type, Kind::kBytes},
                                                          {&PyList_Type, Kind::kList},    {&PyTuple_Type, Kind::kTuple},
                                                          {&PyDict_Type, Kind::kDict}};
  for (const auto& [base, kind] : kPlain) {
    if (PyType_IsSubtype(type, base) == 0) continue;
    plan.kind = kind;
    return true;
  }
  if (type == &PySet_Type || type == &PyFrozenSet_Type) {
    plan.kind = Kind::kSet;
    return true;
  }
  if (type == &PySlice_Type || type == &PyRange_Type || type == &PyComplex_Type) {
    plan.kind = Kind::kStruct;
    plan.is_printable = true;
    if (type == &PyComplex_Type)
      add_fields(plan, type, {"real", "imag"});
    else
      add_fields(plan, type, {"start", "stop", "step"});
    return true;
  }
  if (type == Py_TYPE(Py_Ellipsis) || type == Py_TYPE(Py_NotImplemented)) {
    plan.is_printable = true;
    return true;
  }
  if (type == &PyByteArray_Type || type == &PyMemoryView_Type) {
    plan.kind = Kind::kSized;
    return true;
  }
  return false;
}

// Tensors of torch and numpy and whatever is derived from them.
bool is_foreign_tensor(PyTypeObject* type, Plan& plan) {
  if (const Ref tensor = of_module("torch", "Tensor"); is_a(type, tensor)) {
    plan.type = "torch.Tensor";
    plan.kind = Kind::kForeign;
    const Ref parameter = of_module("torch.nn.parameter", "Parameter");
    if (tensor.get() != reinterpret_cast<PyObject*>(type) && parameter.get() != reinterpret_cast<PyObject*>(type))
      plan.subclass = class_name(type);
    // A class with a dispatcher of its own may be asked for its shape by the library in C: then its code would run.
    if (found(type, "__torch_dispatch__").get() !=
        found(reinterpret_cast<PyTypeObject*>(tensor.get()), "__torch_dispatch__").get())
      return true;
    add_fields(plan, reinterpret_cast<PyTypeObject*>(tensor.get()), {"shape", "dtype"});
    return true;
  }
  if (const Ref array = of_module("numpy", "ndarray"); is_a(type, array)) {
    plan.type = "numpy.ndarray";
    plan.kind = Kind::kForeign;
    if (array.get() != reinterpret_cast<PyObject*>(type)) plan.subclass = class_name(type);
    add_fields(plan, reinterpret_cast<PyTypeObject*>(array.get()), {"shape", "dtype"});
    return true;
  }
  if (is_static(type) && is_a(type, of_module("numpy", "generic"))) {
    const bool is_number = is_a(type, of_module("numpy", "integer")) || is_a(type, of_module("numpy", "floating")) ||
                           is_a(type, of_module("numpy", "bool_"));
    plan.kind = is_number ? Kind::kNumber : Kind::kOpaque;
    return true;
  }
  return false;
}

// Classes of the standard library and of others that are known by identity.
void look_up(PyTypeObject* type, Plan& plan) {
  if (is_one_of(type, "pathlib",
                {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path", "PurePath"}) ||
      is_of_module(type, "posix", "DirEntry")) {
    plan.kind = Kind::kPath;
  } else if (is_static(type) && is_one_of(type, "torch", {"dtype", "device", "layout", "memory_format", "qscheme"})) {
    plan.kind = Kind::kPrinted;
    plan.is_printable = true;
  } else if (is_of_module(type, "functools", "partial")) {
    plan.kind = Kind::kStruct;
    add_fields(plan, type, {"func", "args", "keywords"});
  } else if (PyType_IsSubtype(type, &PyType_Type) != 0) {
    plan.kind = Kind::kCallable;
  } else if (is_static(type) && module_name(type) == "builtins" && found(type, "__qualname__") &&
             found(type, "__call__")) {
    plan.kind = Kind::kCallable;  // functions, methods, those of C
    add_fields(plan, type, {"__qualname__", "__module__"});
  }
}

}  // namespace

void Plans::set_source(Ref describe) {
  describe_ = std::move(describe);
  Ref judge(PyObject_GetAttrString(describe_.get(), "of_program"));
  if (!judge) PyErr_Clear();
  set_judge(std::move(judge));
}

const Plan& Plans::make(PyTypeObject* type) {
  Plan plan = decide(type);
  if (plans_.size() >= kMaxRemembered) {  // a program that makes classes all the time: not all of them are kept alive
    thread_local Plan* const last = new Plan;
    *last = std::move(plan);
    return *last;
  }
  Py_INCREF(reinterpret_cast<PyObject*>(type));  // so that its address stays its own
  return plans_.emplace(type, std::move(plan)).first->second;
}

Plan Plans::decide(PyTypeObject* type) {
  Plan plan;
  plan.type = class_name(type);
  if (is_a(type, of_module("enum", "Enum"))) {
    plan.kind = Kind::kEnum;
    plan.is_printable = is_library_name(module_name(type));
    return plan;
  }
  if (is_plain(type, plan) || is_foreign_tensor(type, plan)) return plan;
  const Ref classes = classes_of(type);
  for (Py_ssize_t i = 0; i < PyTuple_Size(classes.get()); ++i) {
    auto* const base = reinterpret_cast<PyTypeObject*>(PyTuple_GetItem(classes.get(), i));
    if (!of_library(base, plan)) continue;
    if (base != type) {  // of the program, derived from the library's: what it changed is not asked
      plan.hashable = plan.is_printable = false;
      plan.subclass = class_name(type);
    }
    return plan;
  }
  look_up(type, plan);
  return plan;
}

// describe.plan(type) -> None, or (name, kind, hashable, has_dict, ((field, reader, as_list), …), tensor readers)
bool Plans::of_library(PyTypeObject* type, Plan& plan) {
  if (!describe_ || !is_library_name(module_name(type))) return false;
  const Ref answer(PyObject_CallMethod(describe_.get(), "plan", "O", reinterpret_cast<PyObject*>(type)));
  if (!answer || answer.get() == Py_None) {
    drop_error();
    return false;
  }
  const char *name = nullptr, *kind = nullptr;
  int hashable = 0, has_dict = 0;
  PyObject *fields = nullptr, *readers = nullptr;
  if (PyArg_ParseTuple(answer.get(), "ssppO!O!", &name, &kind, &hashable, &has_dict, &PyTuple_Type, &fields,
                       &PyTuple_Type, &readers) == 0) {
    drop_error();
    return false;
  }
  const std::string_view which = kind;
  plan.type = name;
  plan.kind = which == "tensor"                        ? Kind::kTensor
              : which == "struct" || which == "record" ? Kind::kStruct
              : which == "vars"                        ? Kind::kVars
                                                       : Kind::kOpaque;
  plan.fields_say_all = which == "record";
  plan.hashable = hashable != 0;
  plan.has_dict = has_dict != 0;
  plan.is_printable = plan.kind != Kind::kTensor;
  plan.known = Ref(PyDict_New());
  for (Py_ssize_t i = 0; i < PyTuple_Size(fields); ++i) {
    const char* field = nullptr;
    PyObject* reader = nullptr;
    int as_list = 0;
    if (PyArg_ParseTuple(PyTuple_GetItem(fields, i), "sOp", &field, &reader, &as_list) == 0) {
      drop_error();
      continue;
    }
    plan.fields.push_back({field, reader == Py_None ? Ref() : Ref::borrowed(reader), as_list != 0});
  }
  TensorReaders& tensor = plan.tensor;
  Ref* const all[] = {&tensor.tensor_id, &tensor.spec,         &tensor.tensor_topology,  &tensor.storage_type,
                      &tensor.device,    &tensor.is_allocated, &tensor.buffer_unique_id, &tensor.buffer_address};
  for (std::size_t i = 0; i < std::size(all) && static_cast<Py_ssize_t>(i) < PyTuple_Size(readers); ++i) {
    PyObject* const reader = PyTuple_GetItem(readers, static_cast<Py_ssize_t>(i));
    if (reader != Py_None) *all[i] = Ref::borrowed(reader);
  }
  return true;
}

void Plans::forget_values() {
  for (auto& [type, plan] : plans_) {
    if (plan.known) PyDict_Clear(plan.known.get());
    for (const auto& [member, id] : plan.members) Py_DECREF(member);
    plan.members.clear();
  }
}

void Plans::clear() {
  forget_values();
  for (auto& [type, plan] : plans_) Py_DECREF(reinterpret_cast<PyObject*>(type));
  plans_.clear();
  describe_ = Ref();
  set_judge(Ref());
}

}  // namespace opwright::python
