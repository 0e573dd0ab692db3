#include "model/value_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace opwright {
namespace {

std::string bytes_of(const Value& value) {
  std::string out;
  append_bytes(out, {"x", value});
  return out;
}

Value there_and_back(const Value& value) {
  const auto back = argument_of(bytes_of(value));
  EXPECT_TRUE(back);
  if (!back) return {};
  EXPECT_EQ(back->name, "x");
  EXPECT_EQ(bytes_of(back->value), bytes_of(value));  // all of it, not only what its text shows
  return back->value;
}

TensorSpec whole_tensor() {
  TensorSpec spec;
  spec.type = "torch.Tensor";
  spec.has_shape = true;
  spec.shape = {1, -1, std::numeric_limits<std::int64_t>::max()};
  spec.dtype = {DType::kUnknown, "FLOAT3"};
  spec.layout.value = Layout::kTile;
  spec.storage.value = StorageType::kHost;
  MemoryConfig& memory = spec.memory.emplace();
  memory.layout.value = MemoryLayout::kHeightSharded;
  memory.buffer = {BufferType::kUnknown, ""};
  ShardSpec& shard = memory.shard.emplace();
  shard.grid = {{{0, 0}, {7, 6}}, {{-1, 300}, {1, 2}}};
  shard.shape = {224, 32};
  shard.orientation.value = Orientation::kColMajor;
  shard.more.emplace_back("halo", Value(true));
  memory.nd_shard = shard;
  memory.nd_shard->distribution = "GRID_2D";
  memory.more.emplace_back("allocator", Value("top"));
  spec.placement = Placement{{"Shard(2)", "Replicate"}, {1, 8}, {1, 8}};
  spec.device_shape = Shape{1, 2};
  spec.tile = Shape{};
  spec.more.emplace_back("device", Value(std::int64_t{0}));
  return spec;
}

TEST(ValueBytes, EveryKindComesBack) {
  List list;
  list.emplace_back(std::int64_t{1});
  list.push_back(Value::tensor(whole_tensor()));
  Fields fields;
  fields.emplace_back("b", Value(BigInt{"-123456789012345678901234567890"}));
  fields.emplace_back("", Value(Enum{"DataType", "BFLOAT16"}));
  const std::vector<Value> values{Value(),
                                  Value(true),
                                  Value(false),
                                  Value(std::numeric_limits<std::int64_t>::min()),
                                  Value(std::int64_t{-1}),
                                  Value(BigInt{"99999999999999999999"}),
                                  Value(0.1),
                                  Value(-0.0),
                                  Value(std::numeric_limits<double>::quiet_NaN()),
                                  Value(-std::numeric_limits<double>::infinity()),
                                  Value(std::string("a\0é", 4)),
                                  Value(Enum{"", "TILE"}),
                                  Value(List{}),
                                  Value(list),
                                  Value::dict(fields),
                                  Value::structure("Config", fields),
                                  Value::opaque("Type", "text"),
                                  Value::tensor({}),
                                  Value::tensor(whole_tensor()),
                                  Value::memory(*whole_tensor().memory)};
  for (const Value& value : values) EXPECT_EQ(to_text(there_and_back(value)), to_text(value));
  EXPECT_TRUE(std::signbit(*there_and_back(Value(-0.0)).as_float()));
}

TEST(ValueBytes, CutOrChangedBytesAreRefusedOrReadButNeverCrash) {
  const std::string bytes = bytes_of(Value::tensor(whole_tensor()));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(argument_of(bytes.substr(0, size))) << size;
  EXPECT_FALSE(argument_of(bytes + "x"));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char c : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string other = bytes;
      other[i] = c;
      (void)argument_of(other);
    }
  }
  std::string other = bytes;
  other[0] = 2;  // another version
  EXPECT_FALSE(argument_of(other));
  std::string deep(1, '\x01');
  deep += std::string("\x01x", 2);
  for (int i = 0; i < 100000; ++i) deep += "\x08\x01";  // lists in lists
  EXPECT_FALSE(argument_of(deep));
}

// The numbers are in files: a name keeps its own, and a new one comes behind the last.
template <class E, std::size_t kSize>
void holds_numbers(const std::array<std::string_view, kSize>& names) {
  EXPECT_GE(static_cast<std::size_t>(E::kUnknown), kSize);
  for (std::size_t i = 0; i < kSize; ++i) EXPECT_EQ(name_of(static_cast<E>(i)), names[i]) << i;
}

TEST(ValueBytes, NamesKeepTheirNumbers) {
  holds_numbers<DType>(std::array<std::string_view, 20>{
      "absent", "BFLOAT16", "FLOAT32", "BFLOAT8_B", "BFLOAT4_B",     "INT32",       "UINT32",
      "UINT16", "UINT8",    "FLOAT16", "FLOAT64",   "FLOAT8_E4M3FN", "FLOAT8_E5M2", "INT8",
      "INT16",  "INT64",    "UINT64",  "BOOL",      "COMPLEX64",     "COMPLEX128"});
  holds_numbers<Layout>(std::array<std::string_view, 3>{"absent", "TILE", "ROW_MAJOR"});
  holds_numbers<StorageType>(std::array<std::string_view, 3>{"absent", "DEVICE", "HOST"});
  holds_numbers<MemoryLayout>(std::array<std::string_view, 6>{"absent", "INTERLEAVED", "HEIGHT_SHARDED",
                                                              "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED"});
  holds_numbers<BufferType>(
      std::array<std::string_view, 6>{"absent", "DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"});
  holds_numbers<Orientation>(std::array<std::string_view, 3>{"absent", "ROW_MAJOR", "COL_MAJOR"});
}

// And so do the bytes.
TEST(ValueBytes, TheBytesAreThese) {
  TensorSpec spec;
  spec.has_shape = true;
  spec.shape = {1, 32};
  spec.dtype.value = DType::kBfloat16;
  spec.layout.value = Layout::kTile;
  spec.memory.emplace().buffer.value = BufferType::kL1;
  EXPECT_EQ(bytes_of(Value::tensor(spec)), std::string("\x01\x01x\x0c\x03\x01\x01\x00\x02\x02\x40\x00\x00\x02", 14));
  EXPECT_EQ(bytes_of(Value(std::int64_t{3})), std::string("\x01\x01x\x03\x06", 5));
}

}  // namespace
}  // namespace opwright
