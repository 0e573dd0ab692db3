// Tests only: real data, which lies outside the repository, and numbers that are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compare/numbers.h"

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

inline double bf16(double value) { return rounded(NumberKind::kBfloat16, value); }

}  // namespace opwright::test
