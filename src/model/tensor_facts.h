// Small questions about a tensor that rules and kernels ask all the time.
#pragma once

#include <algorithm>

#include "model/tensor_spec.h"
#include "model/value.h"

namespace opwright {

inline bool on_host(const TensorSpec& spec) { return spec.storage.value == StorageType::kHost; }

// Freed before the call: such a tensor has a spec and no memory.
inline bool deallocated(const TensorSpec& spec) {
  return std::ranges::any_of(spec.more, [](const auto& field) {
    const bool* set = field.second.as_bool();
    return field.first == "deallocated" && set != nullptr && *set;
  });
}

inline MemoryConfig interleaved(BufferType buffer) {
  MemoryConfig out;
  out.layout.value = MemoryLayout::kInterleaved;
  out.buffer.value = buffer;
  return out;
}

// DRAM interleaved where the trace does not say: host tensors have no memory of their own.
inline MemoryConfig memory_of(const TensorSpec& spec) {
  return spec.memory ? *spec.memory : interleaved(BufferType::kDram);
}

}  // namespace opwright
