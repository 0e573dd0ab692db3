#include "values.h"

#include "budget.h"
#include "classes.h"
#include "interrupts.h"

namespace opwright::python {

using capture::Encoder;

void ValueWriter::put(PyObject* object, Encoder& out, SpecGuess* guess) {
  budget_ = {};
  budget_.top = &out;
  budget_.start = out.size();
  numbers_ = 0;
  value(object, out, guess);
}

void ValueWriter::put_result(PyObject* object, Encoder& out, SpecGuess* guess, bool is_content) {
  contents_ = is_content ? Contents::kNumbersLeftOut : Contents::kFractionsLeftOut;
  put(object, out, guess);
  contents_ = Contents::kKept;
}

// One more object. False once the argument has had its share.
bool ValueWriter::spend(const Encoder& out) {
  if (budget_.is_spent) return false;
  ++budget_.nodes;
  if (budget_.nodes % kNodesBetweenLooks == 0) {
    const std::uint64_t now = capture::ticks();
    if (budget_.deadline == 0) {
      budget_.deadline = now + recorder_.header().ticks_per_second * kMaxMilliseconds / 1000;
    } else if (now > budget_.deadline) {
      budget_.is_spent = true;
    }
  }
  const std::size_t here = out.size() - (&out == budget_.top ? budget_.start : 0);
  if (budget_.nodes > kMaxNodes || here + budget_.bytes > kMaxValueBytes) budget_.is_spent = true;
  return !budget_.is_spent;
}

void ValueWriter::tell(const std::string& what) {
  std::string text = std::string(about_) + ": " + what;
  if (told_.size() >= kMaxNotes || !told_.insert(text).second) return;
  recorder_.note("cut", text);
}

void ValueWriter::cut(std::string_view type, std::string_view text, const std::string& why, Encoder& out) {
  recorder_.count_cut();
  has_foreign_ = true;
  out.opaque(type, text);
  tell(why);
}

// Of what is content, or cannot be read.
void ValueWriter::class_only(std::string_view type, Encoder& out) { out.opaque(type, "<" + std::string(type) + ">"); }

// -------------------------------------------------------------------------------------------------------- plain values

void ValueWriter::value(PyObject* object, Encoder& out, SpecGuess* guess) {
  if (object == Py_None) return out.null();
  if (!spend(out)) {
    return cut(class_name(Py_TYPE(object)), "(cut)",
               "a value has more than " + std::to_string(kMaxNodes) + " parts, " +
                   std::to_string(kMaxValueBytes >> 10U) + " KiB or " + std::to_string(kMaxMilliseconds) +
                   " ms; the rest of it is not recorded",
               out);
  }
  PyTypeObject* const type = Py_TYPE(object);
  if (object == Py_True || object == Py_False) {
    if (contents_ == Contents::kNumbersLeftOut) return class_only("bool", out);
    return out.boolean(object == Py_True);
  }
  if (type == &PyLong_Type) return plain(object, Kind::kInt, out, guess);
  if (type == &PyFloat_Type) return plain(object, Kind::kFloat, out, guess);
  if (type == &PyUnicode_Type) return plain(object, Kind::kText, out, guess);
  const Plan& plan = plans_.of(type);
  switch (plan.kind) {
    case Kind::kTensor:
      return tensor(object, plan, out, guess);
    case Kind::kEnum:
      return out.reference(keep_member(object, plan));
    case Kind::kStruct:
    case Kind::kVars:
    case Kind::kForeign:
    case Kind::kPath:
      return out.reference(keep(object, plan));
    case Kind::kPrinted:
    case Kind::kCallable:
    case Kind::kOpaque:
      return out.reference(keep_opaque(object, plan));
    default:
      if (type != &PyList_Type && type != &PyTuple_Type && type != &PyDict_Type && type != &PyBytes_Type)
        has_foreign_ = true;  // a subclass may print itself as it likes
      return plain(object, plan.kind, out, guess);
  }
}

void ValueWriter::plain(PyObject* object, Kind kind, Encoder& out, SpecGuess* guess) {
  if (kind == Kind::kList || kind == Kind::kTuple || kind == Kind::kSet) return sequence(object, kind, out, guess);
  if (kind == Kind::kDict) return dict(object, out, guess);
  const bool is_whole = kind == Kind::kInt;
  if (contents_ == Contents::kNumbersLeftOut || (contents_ == Contents::kFractionsLeftOut && !is_whole)) {
    return class_only(class_name(Py_TYPE(object)), out);
  }
  switch (kind) {
    case Kind::kInt:
      return integer(object, out);
    case Kind::kFloat:
      ++numbers_;
      return out.real(PyFloat_AsDouble(object));
    case Kind::kNumber:
      return number(object, out);
    case Kind::kText:
      return text(object, out);
    case Kind::kBytes: {
      const Py_ssize_t size = PyBytes_Size(object);
      if (size <= kMaxRawBytes) return out.bytes({PyBytes_AsString(object), static_cast<std::size_t>(size)});
      return cut("bytes", std::to_string(size) + " bytes",
                 "bytes longer than " + std::to_string(kMaxRawBytes) + " are data; their length is recorded", out);
    }
    default:  // bytearray, memoryview
      return cut(class_name(Py_TYPE(object)), std::to_string(PyObject_Size(object)) + " items",
                 "a buffer is data; its length is recorded", out);
  }
}

void ValueWriter::integer(PyObject* object, Encoder& out) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
  ++numbers_;
  if (overflow == 0) return out.integer(small);
  if (const std::string digits = digits_of(object); !digits.empty()) return out.big_integer(digits);
  cut("int", "(very large)", "an int of more than 308 digits is not recorded", out);
}

// A number of numpy: its class is made in C, so these conversions run nothing of the program.
void ValueWriter::number(PyObject* object, Encoder& out) {
  if (const Ref base = of_module("numpy", "bool_"); base.get() == reinterpret_cast<PyObject*>(Py_TYPE(object))) {
    ++numbers_;
    return out.boolean(PyObject_IsTrue(object) == 1);
  }
  if (const Ref whole(PyNumber_Index(object)); whole) return integer(whole.get(), out);
  PyErr_Clear();
  if (const Ref real(PyNumber_Float(object)); real && PyFloat_Check(real.get()) != 0) {
    ++numbers_;
    return out.real(PyFloat_AsDouble(real.get()));
  }
  drop_error();
  class_only(class_name(Py_TYPE(object)), out);
}

void ValueWriter::text(PyObject* object, Encoder& out) {
  if (const Py_ssize_t length = PyUnicode_GetLength(object); length > kMaxText) {
    return cut("str", std::to_string(length) + " characters",
               "texts longer than " + std::to_string(kMaxText) + " characters are data; their length is recorded", out);
  }
  if (const std::string_view view = utf8(object); !view.empty()) return out.string(view);
  out.string(text_of(object));
}

void ValueWriter::sequence(PyObject* object, Kind kind, Encoder& out, SpecGuess* guess) {
  const Ref items = kind == Kind::kSet ? Ref(PySequence_List(object)) : Ref::borrowed(object);
  if (!items) drop_error();
  const bool is_tuple = kind == Kind::kTuple;
  const Py_ssize_t size = !items ? 0 : is_tuple ? PyTuple_Size(items.get()) : PyList_Size(items.get());
  const std::size_t from = out.size(), met_before = met.size(), numbers_before = numbers_;
  if (depth_ >= kMaxDepth) {
    return cut(is_tuple ? "tuple" : "list", std::to_string(size) + " items",
               "a value is nested deeper than " + std::to_string(kMaxDepth) + " levels", out);
  }
  ++depth_;
  if (kind == Kind::kSet) {
    out.structure(class_name(Py_TYPE(object)), 1);
    out.field("items");
  }
  if (is_tuple) {
    out.tuple(static_cast<std::uint64_t>(size));
  } else {
    out.list(static_cast<std::uint64_t>(size));
  }
  // Too long to be looked at, or full of numbers: it ends early, and what was written of it goes.
  bool is_whole = static_cast<std::size_t>(size) <= kMaxNodes;
  for (Py_ssize_t i = 0; is_whole && i < size && numbers_ - numbers_before <= kMaxNumbers; ++i) {
    // A list may shrink under us when another thread has its turn inside an attribute.
    PyObject* item = is_tuple ? PyTuple_GetItem(items.get(), i) : PyList_GetItem(items.get(), i);
    if (item == nullptr) {
      PyErr_Clear();
      out.null();
      continue;
    }
    const Ref held = Ref::borrowed(item);
    value(item, out, guess);
  }
  --depth_;
  if (!is_whole) numbers_ = numbers_before + kMaxNumbers + 1;
  end_of_numbers(object, from, met_before, numbers_before, size, out);
}

void ValueWriter::dict(PyObject* object, Encoder& out, SpecGuess* guess) {
  const std::size_t from = out.size(), met_before = met.size(), numbers_before = numbers_;
  const auto size = static_cast<std::size_t>(PyDict_Size(object));
  if (depth_ >= kMaxDepth) {
    return cut("dict", std::to_string(size) + " items",
               "a value is nested deeper than " + std::to_string(kMaxDepth) + " levels", out);
  }
  // A copy: the dict may change meanwhile.
  std::vector<std::pair<Ref, Ref>> pairs;
  PyObject *key = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (pairs.size() < kMaxNodes && PyDict_Next(object, &position, &key, &item) != 0)
    pairs.emplace_back(Ref::borrowed(key), Ref::borrowed(item));
  ++depth_;
  out.dict(pairs.size());
  const bool is_whole = size <= kMaxNodes;
  for (std::size_t i = 0; is_whole && i < pairs.size() && numbers_ - numbers_before <= kMaxNumbers; ++i) {
    const Contents contents = std::exchange(contents_, Contents::kKept);
    value(pairs[i].first.get(), out, guess);
    contents_ = contents;
    value(pairs[i].second.get(), out, guess);
  }
  --depth_;
  if (!is_whole) numbers_ = numbers_before + kMaxNumbers + 1;
  end_of_numbers(object, from, met_before, numbers_before, static_cast<Py_ssize_t>(size), out);
}

void ValueWriter::end_of_numbers(PyObject* object, std::size_t from, std::size_t met_before, std::size_t numbers_before,
                                 Py_ssize_t size, Encoder& out) {
  if (numbers_ - numbers_before <= kMaxNumbers) return;
  numbers_ = numbers_before;
  out.cut(from);
  met.resize(met_before);
  cut(class_name(Py_TYPE(object)), std::to_string(size) + " items",
      "a list of more than " + std::to_string(kMaxNumbers) + " numbers is data; its length is recorded", out);
}

}  // namespace opwright::python
