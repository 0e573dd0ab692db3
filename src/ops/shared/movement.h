// What the operators of data movement share: reading their arguments, the library's words for tensors that are not
// where they should be, and the making of outputs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "model/refusal.h"
#include "model/tensor_facts.h"

namespace opwright {

// The tensor given as `param`; refused as the library does when it is something else.
Checked<const TensorSpec*> tensor_argument(const BoundCall& call, std::string_view param);
// Null when it was not passed.
Checked<const MemoryConfig*> memory_argument(const BoundCall& call, std::string_view param);
// Absent gives `otherwise`. Python takes enum values only, never their names as text.
Checked<DType> dtype_argument(const BoundCall& call, std::string_view param, DType otherwise);
// A number; Python's own integers may be larger than any of ours.
Checked<double> number_argument(const BoundCall& call, std::string_view param, double otherwise);
// A list of integers. Python refuses a lone integer; `sizes` also negative ones.
Checked<Shape> list_argument(const BoundCall& call, std::string_view param);
Checked<Shape> sizes_argument(const BoundCall& call, std::string_view param);
// A dimension that counts from the end when negative, within `rank`.
Checked<std::size_t> dimension(std::int64_t dim, std::size_t rank);

// A device operation wants its tensors there, and allocated; a view only wants them allocated.
Checked<void> require_on_device(const TensorSpec& spec);
Checked<void> require_allocated(const TensorSpec& spec);
// Kernels are built around the number of pages; without any there is nothing to build.
Checked<void> require_pages(const TensorSpec& spec);

bool same_memory(const MemoryConfig& a, const MemoryConfig& b);
bool in_l1(const MemoryConfig& memory);
MemoryConfig with_shard(const MemoryConfig& memory, ShardSpec shard);

bool tiled(const TensorSpec& spec);
std::int64_t last(const Shape& shape, std::size_t from_end = 1);  // 1 where the rank does not reach
// Bytes of a row-major page: one row of the tensor, or of its shard.
std::int64_t page_bytes(const TensorSpec& spec);

// A device tensor with another shape and place, else as `input`.
TensorSpec moved(const TensorSpec& input, Shape shape, MemoryConfig memory);
// The outputs, once they can exist on the board.
Checked<std::vector<OutputSpec>> made(TensorSpec spec, const Board& board);
Checked<std::vector<OutputSpec>> made(OutputSpec output, const Board& board);
// The tensor of `param` itself, given back untouched.
std::vector<OutputSpec> given_back(const TensorSpec& spec, std::string_view param);

// Every element equals an element of the input after rounding to the output dtype.
ErrorBudget exact_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output);

}  // namespace opwright
