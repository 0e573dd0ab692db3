// Memory configs for code of this room that has one without a call around it.
#pragma once

#include "format/lift.h"

namespace opwright::format {

// Fields of a dict or struct, whatever the trace called the container.
MemoryConfig read_memory(const Fields& fields, LiftNotes& notes);

}  // namespace opwright::format
