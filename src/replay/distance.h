// How far values of a device are from exact ones, over a whole output, some elements at a time.
#pragma once

#include "replay/packed_values.h"
#include "replay/replay.h"

namespace opwright::replay {

class DistanceSums {
 public:
  // Of `exact.size()` elements of `actual` from `first` on. NaN and infinities must stand where they are expected.
  void add(const Values& actual, std::size_t first, const Values& exact);
  Distance result() const;

 private:
  template <class T>
  void add_each(const T* actual, const T* exact, std::size_t count);

  double n_ = 0, a_ = 0, e_ = 0, aa_ = 0, ee_ = 0, ae_ = 0, dd_ = 0;
  // Sums are taken around the first element: a common offset costs no digits.
  double origin_ = 0;
  bool begun_ = false;
  std::int64_t elements_ = 0;
  bool is_finite_ = true;
};

Distance distance(const Values& actual, const Values& exact);
// The worse of two outputs of a call.
void worsen(std::optional<Distance>& worst, const Distance& other);

}  // namespace opwright::replay
