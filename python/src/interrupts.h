// Exceptions that come up while we read and are not ours: Ctrl-C, and what the program's signal handlers raise. Python
// runs such handlers between any two steps of Python code, so also in the little of it that reading needs. They are
// held back until the reading is done and then raised where the program sees them; our own errors are dropped.
#pragma once

#include "py.h"

namespace opwright::python {

// opwright._errors.of_program: did the program raise this exception?
void set_judge(Ref of_program);
// An exception is set, or none: afterwards none is. Held when it is the program's.
void drop_error();
bool has_held();
// Sets the held exception. One that is set already becomes its context, as in Python.
void raise_held();

}  // namespace opwright::python
