// What a chain of references has of a tensor, kept beside what the device has of it: the difference, a byte a value.
//
// Sixteen neighbours share an exponent, so a difference is off by at most 2^-8 of the largest of them, whatever the
// dtype: the chain is known better than what is read off it, how far the device is from it. Where nothing differs,
// nothing is kept. Values that a difference cannot say (NaN, infinities, whole numbers) are kept one by one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/packed_values.h"

namespace opwright::replay {

class ChainValues {
 public:
  // `count`: values that are to come.
  explicit ChainValues(std::size_t count);

  // Some values of the device, and what the chain has for them; a multiple of 16, but the last.
  void add(const Values& device, std::size_t first, const Values& exact);

  bool differs() const { return differs_; }
  // Turns values of the device into those of the chain.
  void put_onto(Values& device) const;
  std::size_t bytes() const { return groups_.capacity() + odd_.capacity() * sizeof(odd_[0]); }

 private:
  std::vector<std::uint8_t> groups_;                 // the exponent, then 16 differences
  std::vector<std::pair<std::size_t, double>> odd_;  // in order: values that are kept as they are
  std::size_t count_ = 0;
  bool differs_ = false;
};

}  // namespace opwright::replay
