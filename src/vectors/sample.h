// Some vectors of many, spread over the operations, and the same ones for the same seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vectors/test_vector.h"

namespace opwright::vectors {

// Each configuration has a rank that the seed and its key give; of each operation those with the smallest ranks are
// taken. So another configuration in the store moves few others out of the sample. Holds at most `count` vectors an
// operation.
class Sample {
 public:
  Sample(std::int64_t count, std::uint64_t seed) : count_(count), seed_(seed) {}
  void offer(const std::string& op, TestVector&& vector);
  // Every operation gets one before any gets two; the rest goes to those with most left. In the order of operations,
  // then keys. Invalid vectors are taken only when there is nothing else of their operation.
  std::vector<std::vector<TestVector>> take() &&;

 private:
  std::int64_t count_;
  std::uint64_t seed_;
  using Rank = std::pair<bool, std::uint64_t>;  // invalid, drawn
  std::map<std::string, std::multimap<Rank, TestVector>> by_operation_;
};

}  // namespace opwright::vectors
