// The memory that we share with a device program: tensors of one request, each between guards, outputs poisoned. It is
// a file without a name (memfd), which the program opens as /proc/PID/fd/N: nothing is left behind, whoever dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "model/host_tensor.h"
#include "model/value.h"  // completes the members of tensor_spec.h

namespace opwright {

struct SharedPlace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::string_view type;  // "f32", "i32", "u32", "u16", "u8"
};

class SharedData {
 public:
  SharedData() = default;
  SharedData(const SharedData&) = delete;
  SharedData& operator=(const SharedData&) = delete;
  ~SharedData();

  // Lays out and fills: inputs with their values, outputs with poison, the room between with guards.
  Status fill(std::span<const HostTensor> inputs, std::span<const TensorSpec> outputs);
  const std::string& path() const { return path_; }
  const std::vector<SharedPlace>& inputs() const { return inputs_; }
  const std::vector<SharedPlace>& outputs() const { return outputs_; }

  // What was written where nothing may be written; "" when all guards stand and all inputs are as they were.
  std::string touched() const;
  // The output's values; an element that still has the poison fails the read: the program left it out.
  Result<HostTensor> read(std::size_t output, const TensorSpec& spec) const;

 private:
  Status make_room(std::size_t bytes);
  void release();
  std::span<const std::byte> bytes_of(const SharedPlace& place) const { return {mapped_ + place.offset, place.bytes}; }

  int file_ = -1;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;  // of the file
  std::size_t used_ = 0;
  std::string path_;
  std::vector<SharedPlace> inputs_, outputs_;
  std::vector<Hash128> input_hashes_;
};

// "f32" for float dtypes, the integer's own else.
std::string_view element_type(DType dtype);

}  // namespace opwright
