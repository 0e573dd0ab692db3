// What a trace says about a tensor: shape, dtype, layout, and where it lies in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dtype.h"
#include "model/spelled.h"

namespace opwright {

class Value;

enum class Layout : std::uint8_t { kAbsent, kTile, kRowMajor, kUnknown };
enum class StorageType : std::uint8_t { kAbsent, kDevice, kHost, kUnknown };
enum class MemoryLayout : std::uint8_t {
  kAbsent,
  kInterleaved,
  kHeightSharded,
  kWidthSharded,
  kBlockSharded,
  kNdSharded,
  kUnknown
};
enum class BufferType : std::uint8_t { kAbsent, kDram, kL1, kSystemMemory, kL1Small, kTrace, kUnknown };
enum class Orientation : std::uint8_t { kAbsent, kRowMajor, kColMajor, kUnknown };

std::string_view name_of(Layout value);        // "TILE"
std::string_view name_of(StorageType value);   // "DEVICE"
std::string_view name_of(MemoryLayout value);  // "HEIGHT_SHARDED"
std::string_view name_of(BufferType value);    // "DRAM"
std::string_view name_of(Orientation value);   // "ROW_MAJOR"

// Every spelling of real traces, as for dtypes: `Layout::TILE`, `ttnn.TILE_LAYOUT`, …; enum numbers where the library
// prints them. A name outside the set becomes kUnknown with its text; an empty text is absent.
Spelled<Layout> parse_layout(std::string_view text);
Spelled<StorageType> parse_storage_type(std::string_view text);
Spelled<MemoryLayout> parse_memory_layout(std::string_view text);
Spelled<BufferType> parse_buffer_type(std::string_view text);
Spelled<Orientation> parse_orientation(std::string_view text);

// In the text of a value a name stands alone, or says whose name it is: `dtype=INT64`. The text is the identity, so a
// name that became known after the first key version goes on saying it.
template <class E>
constexpr bool stands_alone(E value) {
  return value != E::kUnknown;
}
constexpr bool stands_alone(DType value) { return computed(value); }

struct CoreCoord {
  std::int64_t x = 0;
  std::int64_t y = 0;
  friend auto operator<=>(const CoreCoord&, const CoreCoord&) = default;
};

struct CoreRange {
  CoreCoord start;
  CoreCoord end;
  friend auto operator<=>(const CoreRange&, const CoreRange&) = default;
};

using Shape = std::vector<std::int64_t>;

struct ShardSpec {
  std::vector<CoreRange> grid;  // the order matters for DRAM-sharded operators, so it is kept
  Shape shape;
  Spelled<Orientation> orientation;
  std::string distribution;                         // only of an ND shard spec: "ROUND_ROBIN_1D", "GRID_2D"
  std::vector<std::pair<std::string, Value>> more;  // fields we have no word for
};

// Nouns with many parts are copied, moved and ended in one place (value.cpp): written out by the compiler
// in each of the hundreds of files that use them, these members were a good part of the time that a build takes.
struct MemoryConfig {
  MemoryConfig();
  MemoryConfig(const MemoryConfig&);
  MemoryConfig(MemoryConfig&&) noexcept;
  MemoryConfig& operator=(const MemoryConfig&);
  MemoryConfig& operator=(MemoryConfig&&) noexcept;
  ~MemoryConfig();

  Spelled<MemoryLayout> layout;
  Spelled<BufferType> buffer;
  std::optional<ShardSpec> shard;
  std::optional<ShardSpec> nd_shard;
  std::vector<std::pair<std::string, Value>> more;  // fields we have no word for, such as new allocation flags

  bool sharded() const { return layout.value != MemoryLayout::kInterleaved && layout.value != MemoryLayout::kAbsent; }
};

// How a tensor is spread over a mesh of devices.
struct Placement {
  std::vector<std::string> dims;  // "Shard(2)", "Replicate"
  Shape distribution;
  Shape mesh;
};

struct TensorSpec {
  TensorSpec();
  TensorSpec(const TensorSpec&);
  TensorSpec(TensorSpec&&) noexcept;
  TensorSpec& operator=(const TensorSpec&);
  TensorSpec& operator=(TensorSpec&&) noexcept;
  ~TensorSpec();

  std::string type;  // "" for a ttnn tensor, else the foreign type: "torch.Tensor"
  Shape shape;
  bool has_shape = false;
  Spelled<DType> dtype;
  Spelled<Layout> layout;
  Spelled<StorageType> storage;
  std::optional<MemoryConfig> memory;
  std::optional<Placement> placement;
  std::optional<Shape> device_shape;                // the shape on one device, where it differs
  std::optional<Shape> tile;                        // tile height and width, where the trace names them
  std::vector<std::pair<std::string, Value>> more;  // fields we have no word for
};

}  // namespace opwright
