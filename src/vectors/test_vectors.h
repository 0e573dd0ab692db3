// Vectors from case lines, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/case_line.h"
#include "normalize/normalize.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

inline constexpr std::string_view kTensor = "tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

inline TestVector vector_of(const std::string& line, const std::string& suite = "model_traced") {
  TestVector vector;
  auto config = parse_case(line);
  EXPECT_TRUE(config) << line << ": " << config.error().message;
  if (config) vector.config = *std::move(config);
  normalize::settle(vector.config);
  vector.suite = suite;
  name_vector(vector);
  return vector;
}

// Collects what a stream hands over.
struct Collected {
  std::vector<TestVector> vectors;
  UseVector use() {
    return [this](TestVector&& vector) -> Status {
      vectors.push_back(std::move(vector));
      return {};
    };
  }
};

}  // namespace opwright::vectors
