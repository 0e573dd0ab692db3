// What a tensor's content looks like, in a few numbers: range, quantiles, sparsity, oddities. Never its values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/encoder.h"

namespace opwright::capture {

struct Sketch {
  std::uint64_t count = 0, zeros = 0, nans = 0, infs = 0;
  double min = 0, max = 0, mean = 0;  // of the finite elements
  std::array<double, 9> quantiles{};  // 0.01 0.05 0.1 0.25 0.5 0.75 0.9 0.95 0.99, of at most 4,096 elements
  bool integers = true;               // every finite element is a whole number
  int sorted = 0;                     // 1 rising, -1 falling, 0 neither (or constant, or short)
};

// Bytes of an element of this type ("float32", "bfloat16", …); 0 unknown.
std::size_t element_size(std::string_view dtype);
// False for a type it does not know.
bool sketch(std::string_view dtype, const void* elements, std::uint64_t count, Sketch& out);
void encode(const Sketch& sketch, Encoder& out);  // the struct of docs/formats/native-trace.md, at most 256 bytes

}  // namespace opwright::capture
