// Tests only: real data, which lies outside the repository, and numbers that are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compare/numbers.h"
#include "model/host_tensor.h"

namespace opwright::test {

// $OPWRIGHT_REAL_DATA, else ../shared/data beside the repository.
inline std::filesystem::path real_data(const std::string& below) {
  const char* named = std::getenv("OPWRIGHT_REAL_DATA");
  const std::filesystem::path root =
      named != nullptr ? std::filesystem::path(named) : std::filesystem::path(OPWRIGHT_SOURCE_DIR) / "../shared/data";
  return root / below;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Numerals {
 public:
  explicit Numerals(std::uint64_t seed) : state_(seed * 2 + 1) {}

  double uniform() {  // [0, 1)
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  double normal() {  // twelve uniforms: bounded tails are good enough here
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

inline TensorSpec spec_of(Shape shape, DType dtype) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  return spec;
}

inline HostTensor tensor_of(Shape shape, DType dtype, const std::vector<double>& values) {
  HostTensor tensor{.spec = spec_of(std::move(shape), dtype)};
  for (const double value : values) {
    if (is_integer(dtype)) {
      tensor.ints.push_back(static_cast<std::int64_t>(value));
    } else {
      tensor.floats.push_back(static_cast<float>(value));
    }
  }
  return tensor;
}

inline double bf16(double value) { return rounded(NumberKind::kBfloat16, value); }

}  // namespace opwright::test
