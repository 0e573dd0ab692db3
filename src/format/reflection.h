// A parser for the text that C++ objects leave in traces: compile-time reflection
// (`MemoryConfig(buffer_type=BufferType::L1)`), Python reprs of bound C++ objects (`<ttnn.X object at 0x7f…>`,
// `{MeshCoordinate([2, 2])}`), and the half-JSON that older tools made of both (`"grid":[{"x":0,"y":0} -
// {"x":7,"y":7}]`). The grammar is docs/formats/reflection.md.
//
// It produces generic values only: null, bool, int, BigInt, float, string, Enum, List, Dict, Struct, Opaque. That a
// Struct "MemoryConfig" is a memory config, or that the string "{224, 32}" is a shape, is for `lift` to say.
//
//   auto value = parse_reflection("Shape([1, 1, 32, 64])");   // Struct "Shape" with one positional List
//   if (!value) … value.error().offset, value.error().what … // the caller keeps the text; nothing is guessed
//
// Time is linear in the text, nesting is limited to kMaxReflectionDepth, and no text of any bytes crashes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "model/value.h"

namespace opwright::format {

inline constexpr int kMaxReflectionDepth = 200;

struct ReflectionError {
  std::size_t offset = 0;  // byte in the text that was handed over
  std::string what;
};

tl::expected<Value, ReflectionError> parse_reflection(std::string_view text);

// The `element_info` of an UnparsedElement, `{"argN": …}`: what a tool wrote when its own reading of an argument
// failed. A quoted argument is reflection text itself, whether its inner quotes are escaped or, as in real files, are
// not. A text that names no argument is taken whole, with index -1.
struct ParsedElement {
  int index = -1;
  Value value;
};
tl::expected<ParsedElement, ReflectionError> parse_element_info(std::string_view text);

}  // namespace opwright::format
