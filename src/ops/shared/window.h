// Sliding windows as convolutions and pooling describe them. For rules and references; kernels read the call
// themselves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright {

// Sliding windows over an image with channels last.
struct Window {
  std::int64_t batch = 1;
  std::int64_t height = 0;  // of the input
  std::int64_t width = 0;
  std::int64_t kernel_h = 1;
  std::int64_t kernel_w = 1;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t top = 0;  // padding
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t dilation_h = 1;
  std::int64_t dilation_w = 1;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;

  std::int64_t pixels() const { return batch * out_height * out_width; }
};

// Reads `batch_size`, `kernel_size`, `stride`, `padding` (2 or 4 values), `dilation` and the sizes of the image, given
// under these two names. Refuses windows that do not fit.
Checked<Window> window_of(const BoundCall& call, std::string_view height, std::string_view width,
                          bool ceil_mode = false);

// An argument that must be there and be at least `lowest`.
Checked<std::int64_t> size_argument(const BoundCall& call, std::string_view param, std::int64_t lowest);

// Whether so many elements can be in any memory: calls that name more are refused where they are read, so that nobody
// behind has to mind overflows.
bool bounded(std::initializer_list<std::int64_t> sizes);

}  // namespace opwright
