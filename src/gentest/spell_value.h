// Values of a trace as Python makes them: constructor calls of the library's own classes.
//
// What cannot be made again is refused with its reason, never dropped or replaced by a default: a text that a trace
// kept instead of an object, a class that the library has not, a struct whose type is lost.
#pragma once

#include <string_view>

#include "gentest/python_expression.h"
#include "model/refusal.h"
#include "model/value.h"

namespace opwright::gentest {

// `wanted`: the type of the parameter or member that it is for, as the library's signature has it (python_api.h); ""
// unknown. Tensors are refused: what they are filled with is not in the value (spell_tensor.h).
Checked<Python> spell_value(const Value& value, std::string_view wanted = "");
Checked<Python> spell_memory(const MemoryConfig& memory);
Checked<Python> spell_dtype(const Spelled<DType>& dtype);
Checked<Python> spell_layout(const Spelled<Layout>& layout);

// A struct by the name of its class.
Checked<Python> spell_struct(std::string_view type, const Fields& fields);
// The classes that an object with these members can be of, where the trace lost its type: their constructors take all
// of them, and need nothing else.
std::vector<std::string_view> classes_with(const Fields& fields, std::string_view ending);

}  // namespace opwright::gentest
