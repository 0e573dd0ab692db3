// Memory configs, shard specs, grids and tensors in every spelling; the part of lift that knows these words.
#pragma once

#include <optional>

#include "format/lift.h"

namespace opwright::format {

// Fields of a dict or struct, whatever the trace called the container.
MemoryConfig read_memory(const Fields& fields, LiftNotes& notes);
// {"tensor_spec": {…}} of graph captures and era-1 masters.
TensorSpec read_cpp_tensor(const Fields& fields, LiftNotes& notes);
// {"original_shape": …} of the Python tracers, {"shape": …} of op JSONL, `ttnn.Tensor(shape=…)` of Python records.
TensorSpec read_python_tensor(std::string type, const Fields& fields, LiftNotes& notes);

const Value* find(const Fields& fields, std::string_view name);
// The text of an enum or string value in the spelling of the trace; "" for other kinds.
std::string_view name_text(const Value& value);
// [1, 2], "[1, 2]", "{1, 2}", Shape([1, 2]) -> the numbers.
std::optional<Shape> read_shape(const Value& value);
// The other way round: a list of numbers.
Value numbers(const Shape& shape);

}  // namespace opwright::format
