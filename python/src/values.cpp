#include "values.h"

#include <cmath>

namespace opwright::python {
namespace {

using capture::Encoder;

constexpr int kMaxDepth = 40;
constexpr Py_ssize_t kMaxItems = 1 << 16;  // of a list of plain numbers; longer ones are data, not configuration

// Names of attributes, made once. Python's own intern table keeps them.
PyObject* name(const char* text) { return PyUnicode_InternFromString(text); }

// A method without arguments, or null without an exception.
Ref call(PyObject* object, PyObject* method) {
  Ref result(PyObject_CallMethodObjArgs(object, method, nullptr));
  if (!result) PyErr_Clear();
  return result;
}

Ref attribute(PyObject* object, PyObject* which) {
  Ref result(PyObject_GetAttr(object, which));
  if (!result) PyErr_Clear();
  return result;
}

std::uint64_t number(const Ref& object) {
  if (!object || PyLong_Check(object.get()) == 0) return 0;
  const unsigned long long value = PyLong_AsUnsignedLongLong(object.get());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return 0;
  }
  return value;
}

bool equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  const int same = PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

// Of most objects; of these they hold the fields.
bool per_op_files_hold_text(std::string_view type) {
  return type.find("ComputeKernelConfig") == std::string_view::npos && type != "torch.Tensor" &&
         !(type.find("Matmul") != std::string_view::npos && type.find("ProgramConfig") != std::string_view::npos);
}

struct TensorNames {
  PyObject* tensor_id = name("tensor_id");
  PyObject* spec = name("spec");
  PyObject* tensor_topology = name("tensor_topology");
  PyObject* storage_type = name("storage_type");
  PyObject* device = name("device");
  PyObject* id = name("id");
  PyObject* is_allocated = name("is_allocated");
  PyObject* buffer_unique_id = name("buffer_unique_id");
  PyObject* buffer_address = name("buffer_address");
};

const TensorNames& tensor_names() {
  static const TensorNames names;
  return names;
}

}  // namespace

void ValueWriter::put(PyObject* object, Encoder& out, SpecGuess* guess) {
  if (object == Py_None) {
    out.null();
  } else if (PyBool_Check(object) != 0) {
    out.boolean(object == Py_True);
  } else if (PyLong_Check(object) != 0) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      out.integer(value);
    } else {
      out.big_integer(shown(object));
    }
  } else if (PyFloat_Check(object) != 0) {
    out.real(PyFloat_AsDouble(object));
  } else if (PyUnicode_Check(object) != 0) {
    const std::string_view text = utf8(object);
    out.string(text.empty() ? std::string_view(shown(object)) : text);
  } else if (PyBytes_Check(object) != 0) {
    out.bytes({PyBytes_AsString(object), static_cast<std::size_t>(PyBytes_Size(object))});
  } else if (PyList_Check(object) != 0) {
    put_sequence(object, false, out, guess);
  } else if (PyTuple_Check(object) != 0) {
    put_sequence(object, true, out, guess);
  } else if (PyDict_Check(object) != 0) {
    put_dict(object, out, guess);
  } else if (const Plan* plan = plans_.of(Py_TYPE(object)); plan == nullptr) {
    out.reference(keep_opaque(object, class_name(reinterpret_cast<PyObject*>(Py_TYPE(object))), false));
  } else if (plan->kind == Kind::kTensor) {
    put_tensor(object, *plan, out, guess);
  } else {
    out.reference(keep(object, *plan));
  }
}

void ValueWriter::put_sequence(PyObject* object, bool is_tuple, Encoder& out, SpecGuess* guess) {
  const Py_ssize_t size = is_tuple ? PyTuple_Size(object) : PyList_Size(object);
  if (depth_ >= kMaxDepth || size > kMaxItems) {
    const std::string text = std::to_string(size) + " items";
    recorder_.count_opaque();
    recorder_.note("cut", std::string(is_tuple ? "a tuple" : "a list") + " of " + text + " was not recorded in full");
    out.opaque(is_tuple ? "tuple" : "list", text);
    return;
  }
  ++depth_;
  if (is_tuple) {
    out.tuple(static_cast<std::uint64_t>(size));
  } else {
    out.list(static_cast<std::uint64_t>(size));
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    // A list may shrink under us when another thread has its turn inside an attribute.
    PyObject* item = is_tuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i);
    if (item == nullptr) {
      PyErr_Clear();
      out.null();
      continue;
    }
    const Ref held = Ref::borrowed(item);
    put(item, out, guess);
  }
  --depth_;
}

void ValueWriter::put_dict(PyObject* object, Encoder& out, SpecGuess* guess) {
  const Ref items(PyDict_Items(object));  // a list of its own: the dict may change meanwhile
  if (!items || depth_ >= kMaxDepth) {
    PyErr_Clear();
    recorder_.count_opaque();
    out.opaque("dict", "nested too deep");
    return;
  }
  ++depth_;
  const Py_ssize_t size = PyList_Size(items.get());
  out.dict(static_cast<std::uint64_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* pair = PyList_GetItem(items.get(), i);
    put(PyTuple_GetItem(pair, 0), out, guess);
    put(PyTuple_GetItem(pair, 1), out, guess);
  }
  --depth_;
}

// ------------------------------------------------------------------------------------------------------------- objects

Ref ValueWriter::read(PyObject* object, const Field& field) {
  Ref value;
  switch (field.access) {
    case Access::kAttribute:
    case Access::kList:
      value = Ref(PyObject_GetAttr(object, field.attribute.get()));
      break;
    case Access::kCall:
    case Access::kCallList:
      value = Ref(PyObject_CallMethodObjArgs(object, field.attribute.get(), nullptr));
      break;
    case Access::kItems:
      value = Ref::borrowed(object);
      break;
  }
  const bool as_list =
      field.access == Access::kList || field.access == Access::kCallList || field.access == Access::kItems;
  if (value && as_list && value.get() != Py_None) value = Ref(PySequence_List(value.get()));
  return value;
}

// Fields that cannot be read are left out and told once per class: the library has changed.
void ValueWriter::put_fields(PyObject* object, const Plan& plan, Encoder& out) {
  ++depth_;
  out.tag(capture::Tag::kStruct);
  out.text(plan.type);
  const std::size_t count_at = out.late_count();
  std::uint64_t count = 0;
  for (const Field& field : plan.fields) {
    const Ref value = read(object, field);
    if (!value) {
      PyErr_Clear();
      if (PyObject* describe = plans_.source()) {
        const Ref told(PyObject_CallMethod(describe, "unreadable", "ss", plan.type.c_str(), field.name.c_str()));
        if (!told) PyErr_Clear();
      }
      recorder_.count_opaque();
      continue;
    }
    out.field(field.name);
    if (depth_ >= kMaxDepth) {
      out.null();
    } else {
      put(value.get(), out, nullptr);
    }
    ++count;
  }
  if (plan.text_varies) {
    out.field("@text");
    out.string(shown(object));
    ++count;
  }
  out.set_count(count_at, count);
  --depth_;
}

std::uint32_t ValueWriter::keep_opaque(PyObject* object, std::string_view type, bool has_dict) {
  Encoder encoded;
  const std::string text = shown(object);
  encoded.opaque(type, text);
  recorder_.count_opaque();
  bool is_new = false;
  const std::uint32_t id = recorder_.intern(encoded.view(), &is_new);
  if (is_new) recorder_.text(id, has_dict ? capture::kTextHasDict : 0, text);
  return id;
}

std::uint32_t ValueWriter::keep(PyObject* object, const Plan& plan) {
  const bool known_by_value = plan.kind == Kind::kEnum || plan.hashable;
  if (known_by_value) {
    if (PyObject* id = PyDict_GetItemWithError(plan.known.get(), object); id != nullptr) {
      return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(id));
    }
    PyErr_Clear();
  }
  if (plan.kind == Kind::kOpaque) return keep_opaque(object, plan.type, plan.has_dict);
  Encoder encoded;
  if (plan.kind == Kind::kEnum) {
    static PyObject* const member = name("name");
    const Ref text = attribute(object, member);
    encoded.enumerator(plan.type, utf8(text.get()));
  } else if (plan.kind == Kind::kForeign) {
    // describe.foreign(object) -> dict of fields
    const Ref fields(PyObject_CallMethod(plans_.source(), "foreign", "O", object));
    if (!fields || PyDict_Check(fields.get()) == 0) {
      PyErr_Clear();
      return keep_opaque(object, plan.type, plan.has_dict);
    }
    const Ref items(PyDict_Items(fields.get()));
    encoded.structure(plan.type, static_cast<std::uint64_t>(PyList_Size(items.get()) + (plan.text_varies ? 1 : 0)));
    if (plan.text_varies) {
      encoded.field("@text");
      encoded.string(shown(object));
    }
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
      PyObject* pair = PyList_GetItem(items.get(), i);
      encoded.field(utf8(PyTuple_GetItem(pair, 0)));
      put(PyTuple_GetItem(pair, 1), encoded, nullptr);
    }
  } else {
    put_fields(object, plan, encoded);
  }
  bool is_new = false;
  const std::uint32_t id = recorder_.intern(encoded.view(), &is_new);
  if (is_new) {
    const std::string text = shown(object);
    if (!plan.text_varies && text.find(" at 0x") != std::string::npos && per_op_files_hold_text(plan.type)) {
      plan.text_varies = true;
      return keep(object, plan);
    }
    recorder_.text(id, plan.has_dict ? capture::kTextHasDict : 0, text);
  }
  if (known_by_value && id != 0) {
    const Ref number(PyLong_FromUnsignedLong(id));
    if (PyDict_SetItem(plan.known.get(), object, number.get()) != 0) PyErr_Clear();
    if (PyDict_Size(plan.known.get()) > 10'000) PyDict_Clear(plan.known.get());
  }
  return id;
}

// ------------------------------------------------------------------------------------------------------------- tensors

std::uint32_t ValueWriter::tensor_spec(PyObject* tensor, const Plan& plan) {
  Encoder encoded;
  put_fields(tensor, plan, encoded);
  return recorder_.intern(encoded.view());
}

void ValueWriter::put_tensor(PyObject* object, const Plan& plan, Encoder& out, SpecGuess* guess) {
  const TensorNames& names = tensor_names();
  Tensor tensor;
  const Ref id = attribute(object, names.tensor_id);
  const bool has_id = id && PyLong_Check(id.get()) != 0;
  // 0 means "no tensor" in the trace; the library counts from 0.
  tensor.id = has_id ? number(id) + 1 : 0;
  if (has_id) {
    if (const Tensor* known = tensors_.find(tensor.id)) {
      met.push_back({object, *known, false});
      out.tensor(known->spec);
      return;
    }
  }
  // Compared with what results of this operation were lately, else read field by field.
  const Ref spec = attribute(object, names.spec);
  const Ref topology = call(object, names.tensor_topology);
  const Ref storage_type = call(object, names.storage_type);
  const Ref device = call(object, names.device);
  const bool has_device = device && device.get() != Py_None;
  std::uint64_t device_key = 0;
  if (has_device)
    device_key = reinterpret_cast<std::uintptr_t>(device.get()) * 31 + number(call(device.get(), names.id));
  if (guess != nullptr && spec) {
    for (const SpecGuess::Known& known : guess->known) {
      if (known.id != 0 && known.device == device_key && known.storage_type.get() == storage_type.get() &&
          equal(known.spec.get(), spec.get()) && equal(known.topology.get(), topology.get())) {
        tensor.spec = known.id;
        break;
      }
    }
  }
  if (tensor.spec == 0) {
    tensor.spec = tensor_spec(object, plan);
    if (guess != nullptr && spec) {
      SpecGuess::Known& known = guess->known[guess->next++ % guess->known.size()];
      known.spec = Ref::borrowed(spec.get());
      known.topology = Ref::borrowed(topology.get());
      known.storage_type = Ref::borrowed(storage_type.get());
      known.device = device_key;
      known.id = tensor.spec;
    }
  }
  tensor.on_device = has_device;
  if (has_device && call(object, names.is_allocated).get() == Py_True) {
    // The library counts its buffers from 0, which means "unknown" in the trace; an older one numbers none.
    const Ref buffer = call(object, names.buffer_unique_id);
    tensor.address = number(call(object, names.buffer_address));
    tensor.storage = buffer && buffer.get() != Py_None ? number(buffer) + 1 : tensor.address;
  }
  if (has_id) tensors_.remember(tensor);
  met.push_back({object, tensor, true});
  out.tensor(tensor.spec);
}

}  // namespace opwright::python
