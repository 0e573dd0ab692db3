#include "plans.h"

namespace opwright::python {

std::string shown(PyObject* object) {
  const Ref text(PyObject_Str(object));
  if (!text) {
    PyErr_Clear();
    return "<" + class_name(reinterpret_cast<PyObject*>(Py_TYPE(object))) + " whose str() raises>";
  }
  if (const std::string_view view = utf8(text.get()); !view.empty()) return std::string(view);
  // Lone surrogates: kept as Python would escape them.
  const Ref bytes(PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return {};
  }
  return {PyBytes_AsString(bytes.get()), static_cast<std::size_t>(PyBytes_Size(bytes.get()))};
}

std::string class_name(PyObject* type) {
  const Ref name(PyObject_GetAttrString(type, "__name__"));
  if (!name) PyErr_Clear();
  return std::string(utf8(name.get()));
}

Plan* Plans::of(PyTypeObject* type) {
  const auto found = plans_.find(type);
  return found != plans_.end() ? &found->second : make(type);
}

// describe.plan(type) -> (name, kind, hashable, has_dict, ((field, attribute, access), …))
Plan* Plans::make(PyTypeObject* type) {
  if (!describe_) return nullptr;
  const Ref answer(PyObject_CallMethod(describe_.get(), "plan", "O", reinterpret_cast<PyObject*>(type)));
  if (!answer) {
    PyErr_Clear();
    return nullptr;
  }
  const char* name = nullptr;
  int kind = 0, hashable = 0, has_dict = 0;
  PyObject* fields = nullptr;
  if (PyArg_ParseTuple(answer.get(), "sippO", &name, &kind, &hashable, &has_dict, &fields) == 0) {
    PyErr_Clear();
    return nullptr;
  }
  Plan plan;
  plan.type = name;
  plan.kind = static_cast<Kind>(kind);
  plan.hashable = hashable != 0;
  plan.has_dict = has_dict != 0;
  plan.known = Ref(PyDict_New());
  for (Py_ssize_t i = 0; i < PyTuple_Size(fields); ++i) {
    const char *field = nullptr, *attribute = nullptr;
    int access = 0;
    if (PyArg_ParseTuple(PyTuple_GetItem(fields, i), "ssi", &field, &attribute, &access) == 0) {
      PyErr_Clear();
      return nullptr;
    }
    plan.fields.push_back({field, Ref(PyUnicode_InternFromString(attribute)), static_cast<Access>(access)});
  }
  Py_INCREF(reinterpret_cast<PyObject*>(type));  // so that its address stays its own
  return &plans_.emplace(type, std::move(plan)).first->second;
}

void Plans::forget_values() {
  for (auto& [type, plan] : plans_) PyDict_Clear(plan.known.get());
}

void Plans::clear() {
  for (auto& [type, plan] : plans_) Py_DECREF(reinterpret_cast<PyObject*>(type));
  plans_.clear();
  describe_ = Ref();
}

}  // namespace opwright::python
