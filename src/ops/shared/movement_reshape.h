// The rules of reshape, which squeeze, unsqueeze and pad go by too.
#pragma once

#include <optional>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/refusal.h"

namespace opwright {

struct Reshape {
  Shape shape;
  std::optional<Shape> padded;              // where the caller names it
  const MemoryConfig* memory = nullptr;     // where the caller asks for one
  std::string_view alias = "input_tensor";  // of the input: views give its memory back
};

// Same elements in another shape: a view where the layout allows it, else a copy.
Checked<OutputSpec> reshape_output(const TensorSpec& input, const Reshape& asked, const Board& board);

}  // namespace opwright
