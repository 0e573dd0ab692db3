// Device operations of the library: the C++ classes that a profiler report names, what they do, and which operations of
// Python give them (data/device_operations.tsv).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

enum class DeviceWork : std::uint8_t {
  kUnknown,
  kMatmul,
  kConvolution,
  kEltwise,
  kReduction,
  kNormalization,
  kAttention,
  kPooling,
  kEmbedding,
  kCache,         // writes a part of a cache
  kDataMovement,  // the same values elsewhere or in another shape
  kShard,
  kUnshard,
  kReshard,
  kTilize,
  kUntilize,
  kTypecast,
  kCollective,
};
std::string_view name_of(DeviceWork work);  // "data_movement"

struct DeviceOperation {
  std::string_view name;
  DeviceWork work = DeviceWork::kUnknown;
  bool collective = false;                   // the devices of a mesh wait for one another inside it
  std::vector<std::string_view> operations;  // "ttnn.to_memory_config"
};

std::span<const DeviceOperation> known_device_operations();  // by name
// The class alone: `ttnn::prim::MeshDeviceOperationAdapter<ttnn::MatmulDeviceOperation>` -> `MatmulDeviceOperation`.
std::string_view device_class(std::string_view op_code);
// Of a class as device_class gives it; null for one that nobody wrote down.
const DeviceOperation* find_device_operation(std::string_view name);

}  // namespace opwright
