// Sliding windows as the kernels walk over an image: each axis on its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/bound_call.h"
#include "model/refusal.h"

namespace opwright::sim {

struct Axis {
  std::int64_t size = 0;  // of the image
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t before = 0;  // padding
  std::int64_t after = 0;
  std::int64_t dilation = 1;
  std::int64_t windows = 0;

  // The taps [first, last) of a window that lie on the image, and where the first of them does.
  struct Inside {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t at = 0;
  };
  Inside inside(std::int64_t window) const;
};

struct Windows {
  std::int64_t images = 1;
  Axis rows;
  Axis columns;

  std::int64_t taps() const { return rows.taps * columns.taps; }
  std::int64_t pixels() const { return images * rows.windows * columns.windows; }
};

// `height` and `width`: the parameters with the sizes of the image. `partial`: a window that begins on the image or in
// the padding before it may end outside of everything.
Checked<Windows> windows_of(const BoundCall& call, std::string_view height, std::string_view width,
                            bool partial = false);

// Calls visit(tap, pixel of the image) for the taps of an output pixel's window that lie on the image.
template <class F>
void for_each_tap(const Windows& w, std::int64_t pixel, F&& visit) {
  const std::int64_t line = pixel / w.columns.windows;
  const Axis::Inside down = w.rows.inside(line % w.rows.windows);
  const Axis::Inside across = w.columns.inside(pixel - line * w.columns.windows);
  std::int64_t row = (line / w.rows.windows * w.rows.size + down.at) * w.columns.size;
  for (std::int64_t i = down.first; i < down.last; ++i, row += w.rows.dilation * w.columns.size) {
    std::int64_t at = row + across.at;
    for (std::int64_t j = across.first; j < across.last; ++j, at += w.columns.dilation)
      visit(i * w.columns.taps + j, at);
  }
}

}  // namespace opwright::sim
