// How to read an object of a class: made once per class by opwright/describe.py, used for every object of it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "py.h"

namespace opwright::python {

enum class Kind {
  kEnum,    // members are singletons: kept by address
  kStruct,  // fields that can be read
  kOpaque,  // nothing can be read: its text
  kTensor,  // a tensor of the traced library
  kForeign  // anything else with a description made by describe.py for each object
};

enum class Access {
  kAttribute,
  kCall,      // a method without arguments
  kList,      // list() of the attribute
  kCallList,  // list() of what the method returns
  kItems      // list() of the object itself
};

struct Field {
  std::string name;  // as recorded
  Ref attribute;     // as read: an interned str
  Access access = Access::kAttribute;
};

struct Plan {
  std::string type;  // name of the class
  Kind kind = Kind::kOpaque;
  bool hashable = false;  // immutable with a hash and an equality of its own: one look-up instead of reading fields
  bool has_dict = false;
  // Each object prints its own address, and per-op files hold what it prints: the text is then part of the value.
  mutable bool text_varies = false;
  std::vector<Field> fields;
  Ref known;  // dict: object -> value id, for hashable ones and enums
};

class Plans {
 public:
  // `describe` is the module opwright.describe. Classes are kept alive by it.
  void set_source(Ref describe) { describe_ = std::move(describe); }
  PyObject* source() const { return describe_.get(); }
  // Null, without an exception, when there is no way to describe it.
  Plan* of(PyTypeObject* type);
  // Value ids start anew: forgets them, keeps the plans.
  void forget_values();
  void clear();

 private:
  Plan* make(PyTypeObject* type);

  Ref describe_;
  std::unordered_map<PyTypeObject*, Plan> plans_;
};

}  // namespace opwright::python
