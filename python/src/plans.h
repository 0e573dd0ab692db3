// How to read an object of a class: decided once per class, used for every object of it.
//
// Classes of the traced library are read by their fields (opwright/describe.py says which). Of all others only those
// known here by identity are read, in ways that run no code of the program: plain Python data, enums, tensors of other
// libraries (what they are, never what they hold), paths, names of functions. Of anything else the class is recorded.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "py.h"

namespace opwright::python {

enum class Kind {
  kOpaque,  // its class is all that is recorded
  kInt,     // these: as the built-in class reads them, also where a subclass reads otherwise
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kSet,
  kNumber,   // a number of another library
  kEnum,     // members are singletons: kept by address
  kStruct,   // fields
  kVars,     // what the object holds itself: of the library's Python part
  kTensor,   // a tensor of the traced library
  kForeign,  // a tensor of another library: shape and element type
  kPath,
  kPrinted,   // a class in C that prints its value: an element type of torch
  kCallable,  // a function or class: its name
  kSized      // data: how long it is
};

struct Field {
  std::string name;  // as recorded
  Ref reader;        // called with the object; null: the object itself
  bool as_list = false;
};

// What identifies a tensor of the library. Any may be missing in a version of it.
struct TensorReaders {
  Ref tensor_id, spec, tensor_topology, storage_type, device, is_allocated, buffer_unique_id, buffer_address;
};

struct Plan {
  std::string type;  // name of the class
  Kind kind = Kind::kOpaque;
  bool hashable = false;  // immutable with a hash and an equality of its own: one look-up instead of reading fields
  bool has_dict = false;
  bool is_printable = false;    // its text may be asked for: never of a class of the program
  bool fields_say_all = false;  // what it prints is no part of the value, even where each object prints another text
  // Each object prints its own address, and somebody may want to know what it printed: the text is then part of the
  // value.
  mutable bool text_varies = false;
  std::vector<Field> fields;
  std::string subclass;  // of a tensor of another library: the class, where it is not the library's own
  TensorReaders tensor;
  Ref known;                                                     // dict: object -> value id, for hashable ones
  mutable std::unordered_map<PyObject*, std::uint32_t> members;  // value ids of enum members, kept alive
};

class Plans {
 public:
  // `describe` is the module opwright.describe. Classes are kept alive by it.
  void set_source(Ref describe);
  PyObject* source() const { return describe_.get(); }
  const Plan& of(PyTypeObject* type) {
    const auto found = plans_.find(type);
    return found != plans_.end() ? found->second : make(type);
  }
  // Value ids start anew: forgets them, keeps the plans.
  void forget_values();
  void clear();

 private:
  const Plan& make(PyTypeObject* type);
  Plan decide(PyTypeObject* type);
  bool of_library(PyTypeObject* type, Plan& plan);

  Ref describe_;
  std::unordered_map<PyTypeObject*, Plan> plans_;
};

}  // namespace opwright::python
