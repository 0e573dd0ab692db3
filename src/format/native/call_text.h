// A call of a native trace on one line, for people.
//
//   ttnn.linear(#57 [1,1,32,7168] BFLOAT16 TILE L1, #12 …, memory_config=DRAM INTERLEAVED) -> #58 [1,1,32,2112] …
#pragma once

#include <string>

#include "format/native/native_trace.h"

namespace opwright::format {

std::string call_text(NativeTrace& trace, const NativeCall& call);

}  // namespace opwright::format
