// Memory configs, shard specs, grids and tensors of ttnn in every spelling that traces have.
#pragma once

#include "dialect/lifter.h"

namespace opwright {

// Fields of a dict or struct, whatever the trace called the container.
MemoryConfig read_memory(const Fields& fields, Lifter& lifter);
// {"tensor_spec": {…}} of graph captures and era-1 masters.
TensorSpec read_cpp_tensor(const Fields& fields, Lifter& lifter);
// {"original_shape": …} of the Python tracers, {"shape": …} of op JSONL, `ttnn.Tensor(shape=…)` of Python records.
TensorSpec read_python_tensor(std::string type, const Fields& fields, Lifter& lifter);

// What such a thing is in ttnn; nothing where it has no word for it. Tensors of torch are among them: calls of ttnn
// take them too.
std::optional<Value> lift_ttnn(Written how, const std::string& type, const Value& content, Lifter& lifter);

}  // namespace opwright
