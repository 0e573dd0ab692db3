// Values with a class: enums, objects of the library, tensors of it and of others, paths, functions.
#include <algorithm>

#include "budget.h"
#include "classes.h"
#include "foreign.h"
#include "interrupts.h"
#include "values.h"

namespace opwright::python {

using capture::Encoder;

namespace {

// reader(object), or null without an exception.
Ref read(const Ref& reader, PyObject* object) {
  if (!reader) return Ref();
  Ref result(PyObject_CallFunctionObjArgs(reader.get(), object, nullptr));
  if (!result) drop_error();
  return result;
}

std::uint64_t whole(const Ref& object) {
  if (!object || PyLong_Check(object.get()) == 0) return 0;
  const unsigned long long value = PyLong_AsUnsignedLongLong(object.get());
  if (PyErr_Occurred() != nullptr) {
    drop_error();
    return 0;
  }
  return value;
}

// Of two objects of the library.
bool equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  const int same = PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) drop_error();
  return same == 1;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- objects

// Fields that cannot be read are left out and told once per class: the library has changed.
void ValueWriter::fields(PyObject* object, const Plan& plan, Encoder& out) {
  ++depth_;
  out.tag(capture::Tag::kStruct);
  out.text(plan.type);
  const std::size_t count_at = out.late_count();
  std::uint64_t count = 0;
  for (const Field& field : plan.fields) {
    Ref item = field.reader ? read(field.reader, object) : Ref::borrowed(object);
    if (item && field.as_list && item.get() != Py_None) {
      item = Ref(PySequence_List(item.get()));
      if (!item) drop_error();
    }
    if (!item) {
      if (PyObject* describe = plans_.source(); describe != nullptr && !has_held()) {
        const Ref told(PyObject_CallMethod(describe, "unreadable", "ss", plan.type.c_str(), field.name.c_str()));
        if (!told) drop_error();
      }
      recorder_.count_opaque();
      continue;
    }
    out.field(field.name);
    if (depth_ >= kMaxDepth) {
      cut(class_name(Py_TYPE(item.get())), "(cut)",
          "a value is nested deeper than " + std::to_string(kMaxDepth) + " levels", out);
    } else {
      value(item.get(), out, nullptr);
    }
    ++count;
  }
  if (plan.text_varies) {
    out.field("@text");
    out.string(printed(object));
    ++count;
  }
  out.set_count(count_at, count);
  --depth_;
}

// What an object of the library's Python part holds itself.
void ValueWriter::vars(PyObject* object, const Plan& plan, Encoder& out) {
  ++depth_;
  const Ref held = own_dict(object);
  std::vector<std::pair<Ref, Ref>> pairs;
  PyObject *key = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (held && depth_ < kMaxDepth && pairs.size() < kMaxNodes &&
         PyDict_Next(held.get(), &position, &key, &item) != 0) {
    if (PyUnicode_Check(key) != 0) pairs.emplace_back(Ref::borrowed(key), Ref::borrowed(item));
  }
  out.structure(plan.type, pairs.size() + (plan.text_varies ? 1 : 0));
  if (plan.text_varies) {
    out.field("@text");
    out.string(printed(object));
  }
  for (const auto& [name, field] : pairs) {
    out.field(text_of(name.get()));
    value(field.get(), out, nullptr);
  }
  --depth_;
}

// False: nothing of it can be read without running code of the program.
bool ValueWriter::foreign(PyObject* object, const Plan& plan, Encoder& out) {
  const TorchAlone alone(plan.type == "torch.Tensor");
  Ref shape, dtype;
  if (alone.ok()) {
    for (const Field& field : plan.fields) (field.name == "shape" ? shape : dtype) = read(field.reader, object);
  }
  if (!shape || PyTuple_Check(shape.get()) == 0 || !dtype) return false;
  out.structure(plan.type, plan.subclass.empty() ? 2 : 3);
  out.field("shape");
  const Py_ssize_t rank = PyTuple_Size(shape.get());
  out.list(static_cast<std::uint64_t>(rank));
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject* const dim = PyTuple_GetItem(shape.get(), i);
    if (Py_TYPE(dim) == &PyLong_Type)
      out.integer(PyLong_AsLongLong(dim));
    else
      class_only(class_name(Py_TYPE(dim)), out);
  }
  out.field("dtype");
  out.string(element_type(dtype.get()));
  if (!plan.subclass.empty()) {
    out.field("class");
    out.string(plan.subclass);
  }
  return true;
}

std::string ValueWriter::path(PyObject* object) {
  const Ref text(PyOS_FSPath(object));
  if (!text) drop_error();
  if (text && PyBytes_Check(text.get()) != 0) {
    const Ref decoded(PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(text.get()), PyBytes_Size(text.get())));
    if (!decoded) drop_error();
    return text_of(decoded.get());
  }
  return text_of(text.get());
}

// module.name of a function, the name of a class.
std::string ValueWriter::callable_name(PyObject* object, const Plan& plan) {
  if (PyType_Check(object) != 0) {
    auto* const type = reinterpret_cast<PyTypeObject*>(object);
    const std::string module = module_name(type);
    return module.empty() ? class_name(type) : module + "." + class_name(type);
  }
  std::string name;
  for (const Field& field : plan.fields) {
    const std::string part = text_of(read(field.reader, object).get());
    if (!part.empty()) name = name.empty() ? part : part + "." + name;
  }
  return name;
}

std::uint32_t ValueWriter::keep_opaque(PyObject* object, const Plan& plan) {
  std::string text;
  if (plan.is_printable)
    text = printed(object);
  else if (plan.kind == Kind::kCallable)
    text = callable_name(object, plan);
  if (text.empty()) text = "<" + plan.type + ">";
  if (plan.kind == Kind::kOpaque) recorder_.count_opaque();
  if (!plan.is_printable) has_foreign_ = true;
  Encoder encoded;
  encoded.opaque(plan.type, text);
  bool is_new = false;
  const std::uint32_t id = recorder_.intern(encoded.view(), &is_new);
  if (is_new && plan.is_printable) recorder_.text(id, plan.has_dict ? capture::kTextHasDict : 0, text);
  return id;
}

// The member of an enum: by its own name, whatever the class says about names.
std::uint32_t ValueWriter::keep_member(PyObject* object, const Plan& plan) {
  if (!plan.is_printable) has_foreign_ = true;
  if (const auto known = plan.members.find(object); known != plan.members.end()) return known->second;
  static PyObject* const name_key = PyUnicode_InternFromString("_name_");
  static PyObject* const value_key = PyUnicode_InternFromString("_value_");
  const Ref own = own_dict(object);
  PyObject* const name = own ? PyDict_GetItemWithError(own.get(), name_key) : nullptr;
  std::string member = text_of(name);
  if (member.empty() && own) {  // several flags at once have no name
    PyObject* const number = PyDict_GetItemWithError(own.get(), value_key);
    if (number != nullptr && Py_TYPE(number) == &PyLong_Type) member = digits_of(number);
  }
  drop_error();
  Encoder encoded;
  if (member.empty()) {
    recorder_.count_opaque();
    class_only(plan.type, encoded);
  } else {
    encoded.enumerator(plan.type, member);
  }
  const std::uint32_t id = recorder_.intern(encoded.view());
  if (id != 0 && plan.members.size() < kMaxRemembered) {
    Py_INCREF(object);  // its address stays its own
    plan.members.emplace(object, id);
  }
  return id;
}

std::uint32_t ValueWriter::keep(PyObject* object, const Plan& plan) {
  if (plan.hashable) {
    if (PyObject* id = PyDict_GetItemWithError(plan.known.get(), object); id != nullptr) {
      return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(id));
    }
    drop_error();
  }
  const OwnFields own(*this);
  Encoder encoded;
  const bool foreign_before = std::exchange(has_foreign_, false);
  std::string text;
  if (plan.kind == Kind::kForeign) {
    has_foreign_ = true;
    if (!foreign(object, plan, encoded)) {
      recorder_.count_opaque();
      encoded.clear();
      class_only(plan.subclass.empty() ? plan.type : plan.subclass, encoded);
    }
  } else if (plan.kind == Kind::kPath) {
    text = path(object);
    encoded.structure(plan.type, 1);
    encoded.field("path");
    encoded.string(text);
  } else if (plan.kind == Kind::kVars) {
    vars(object, plan, encoded);
  } else {
    fields(object, plan, encoded);
  }
  budget_.bytes += encoded.size();
  bool is_new = false;
  const std::uint32_t id = recorder_.intern(encoded.view(), &is_new);
  const bool may_print = plan.is_printable && !has_foreign_ && !has_held();
  if (is_new && may_print) {
    text = printed(object);
    if (!plan.text_varies && text.find(" at 0x") != std::string::npos && !plan.fields_say_all) {
      plan.text_varies = true;
      has_foreign_ = foreign_before;
      return keep(object, plan);
    }
  }
  if (is_new && (may_print || plan.kind == Kind::kPath))
    recorder_.text(id, plan.has_dict ? capture::kTextHasDict : 0, text);
  has_foreign_ = has_foreign_ || foreign_before;
  if (plan.hashable && id != 0 && !budget_.is_spent) {
    const Ref number(PyLong_FromUnsignedLong(id));
    if (PyDict_SetItem(plan.known.get(), object, number.get()) != 0) drop_error();
    if (static_cast<std::size_t>(PyDict_Size(plan.known.get())) > kMaxRemembered) PyDict_Clear(plan.known.get());
  }
  return id;
}

// ------------------------------------------------------------------------------------------------------------- tensors

std::uint32_t ValueWriter::tensor_spec(PyObject* tensor, const Plan& plan) {
  const OwnFields own(*this);
  Encoder encoded;
  fields(tensor, plan, encoded);
  return recorder_.intern(encoded.view());
}

void ValueWriter::tensor(PyObject* object, const Plan& plan, Encoder& out, SpecGuess* guess) {
  const TensorReaders& readers = plan.tensor;
  has_foreign_ = true;
  Tensor tensor;
  const Ref id = read(readers.tensor_id, object);
  const bool has_id = id && PyLong_Check(id.get()) != 0;
  // 0 means "no tensor" in the trace; the library counts from 0.
  tensor.id = has_id ? whole(id) + 1 : 0;
  if (has_id) {
    if (const Tensor* known = tensors_.find(tensor.id)) {
      met.push_back({object, &plan, *known, false});
      out.tensor(known->spec);
      return;
    }
  }
  // Compared with what results of this operation were lately, else read field by field.
  const Ref spec = read(readers.spec, object);
  const Ref topology = read(readers.tensor_topology, object);
  const Ref storage_type = read(readers.storage_type, object);
  const Ref device = read(readers.device, object);
  const bool has_device = device && device.get() != Py_None;
  std::uint64_t device_key = 0;
  if (has_device) {
    static PyObject* const id_name = PyUnicode_InternFromString("id");
    const Ref number(PyObject_CallMethodObjArgs(device.get(), id_name, nullptr));
    if (!number) drop_error();
    device_key = reinterpret_cast<std::uintptr_t>(device.get()) * 31 + whole(number);
  }
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
  if (has_device && read(readers.is_allocated, object).get() == Py_True) {
    // The library counts its buffers from 0, which means "unknown" in the trace; an older one numbers none.
    const Ref buffer = read(readers.buffer_unique_id, object);
    tensor.address = whole(read(readers.buffer_address, object));
    tensor.storage = buffer && buffer.get() != Py_None ? whole(buffer) + 1 : tensor.address;
  }
  if (has_id) tensors_.remember(tensor);
  met.push_back({object, &plan, tensor, true});
  out.tensor(tensor.spec);
}

}  // namespace opwright::python
