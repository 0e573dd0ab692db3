// What a class is and what an object holds, from the interpreter's own structures: no metaclass, property or method of
// the program is asked, so nothing of the program runs. And what can be read so: texts, numbers.
#pragma once

#include <string>
#include <string_view>

#include "py.h"

namespace opwright::python {

std::string class_name(PyTypeObject* type);   // "MemoryConfig"
std::string module_name(PyTypeObject* type);  // "ttnn._ttnn.tensor"; "" when the class says nonsense
Ref classes_of(PyTypeObject* type);           // the class and its bases: a tuple in the order of look-ups
bool is_static(PyTypeObject* type);           // made in C: nobody can have made another of its name
// What this class itself, not a base of it, defines under a name; null without an exception.
Ref defined(PyTypeObject* type, const char* name);
// The first class of the look-up order that defines it.
Ref found(PyTypeObject* type, const char* name);
// A function that reads a field of an object, whatever a subclass says: `__get__` of the descriptor in C. Null: none.
Ref getter(PyTypeObject* type, const char* name);
// An attribute of a module that has been imported: "numpy", "ndarray". Null: not there.
Ref of_module(const char* module, const char* name);
bool is_of_module(PyTypeObject* type, const char* module, const char* name);
// What the object itself holds, not its class; null: it has no such place.
Ref own_dict(PyObject* object);

// The text of a str or of a class derived from it; lives as long as the object. Empty for anything else, and for a text
// that is no Unicode.
std::string_view utf8(PyObject* text);
// The same, with what is no Unicode (lone surrogates, as in names of files) as Python would escape it.
std::string text_of(PyObject* text);
// Decimal digits of an int of any class; "" when it is too large to be a number of a configuration.
std::string digits_of(PyObject* integer);
// str() of an object of a class that was written for it: never of a class of the program.
std::string printed(PyObject* object);
// An exception's message, from its arguments; without contents of tensors that somebody printed into it.
std::string message_of(PyObject* error);
std::string without_contents(std::string_view message);

}  // namespace opwright::python
