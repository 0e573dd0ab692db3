// What is known of the tensors of the run: a tensor that was recorded needs no second reading.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "py.h"

namespace opwright::python {

struct Tensor {
  std::uint64_t id = 0;
  std::uint32_t spec = 0;     // value id
  std::uint64_t storage = 0;  // number of the buffer, 0 on the host or unknown
  std::uint64_t address = 0;
  bool on_device = false;
};

// Descriptions that results of an operation had lately: a new tensor is compared with them (a third of the cost of
// reading it).
struct SpecGuess {
  struct Known {
    Ref spec, topology, storage_type;
    std::uint64_t device = 0;
    std::uint32_t id = 0;
  };
  std::array<Known, 4> known;
  std::size_t next = 0;
};

class Tensors {
 public:
  // Null: never seen, or so long ago that it was forgotten.
  const Tensor* find(std::uint64_t id);
  void remember(const Tensor& tensor);
  std::uint64_t version(std::uint64_t storage) const;
  std::uint64_t written(std::uint64_t storage);  // the version after the write
  void forget();

 private:
  // Two halves: when one is full the older is dropped, so memory stays bounded and what is in use stays known.
  std::unordered_map<std::uint64_t, Tensor> young_, old_;
  std::unordered_map<std::uint64_t, std::uint64_t> versions_;
};

}  // namespace opwright::python
