// A closed set of names that real traces spell in many ways, and that may grow tomorrow.
#pragma once

#include <string>
#include <string_view>

namespace opwright {

// A value of enum E, or the text of a name we do not know. Absent is a state of its own: nothing is ever defaulted.
// E needs `kAbsent` as its first value and `kUnknown` as its last, and `std::string_view name_of(E)`.
template <class E>
struct Spelled {
  E value = E::kAbsent;
  std::string unknown;  // the name as the trace spells it, when value is kUnknown

  bool present() const { return value != E::kAbsent; }
  std::string_view name() const { return value == E::kUnknown ? std::string_view(unknown) : name_of(value); }
  friend bool operator==(const Spelled&, const Spelled&) = default;
};

}  // namespace opwright
