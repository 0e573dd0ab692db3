#include "model/tensor_spec.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

#include "model/value.h"  // tensor_spec.h alone does not complete the types of its own members
#include "model/value_parse.h"

namespace opwright {
namespace {

template <class E>
void expect_all(Spelled<E> (*parse)(std::string_view), E value, std::string_view name,
                std::initializer_list<const char*> spellings) {
  for (const char* text : spellings) {
    const Spelled<E> spelled = parse(text);
    EXPECT_EQ(spelled.value, value) << text;
    EXPECT_EQ(spelled.name(), name) << text;
    EXPECT_TRUE(spelled.present());
    EXPECT_EQ(spelled.unknown, "");
  }
}

TEST(TensorSpec, EverySpellingOfADtype) {
  const auto all = [](DType value, std::string name) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    for (const std::string& text : {"DataType::" + name, "DataType." + name, "ttnn." + lower, "ttnn.DataType." + name,
                                    "tt::tt_metal::DataType::" + name, name, lower, "torch." + lower})
      expect_all(parse_dtype, value, name, {text.c_str()});
    EXPECT_EQ(name_of(value), name);
  };
  all(DType::kBfloat16, "BFLOAT16");
  all(DType::kFloat32, "FLOAT32");
  all(DType::kInt32, "INT32");
  all(DType::kUint32, "UINT32");
  all(DType::kUint16, "UINT16");
  all(DType::kUint8, "UINT8");
  all(DType::kBfloat8B, "BFLOAT8_B");
  all(DType::kBfloat4B, "BFLOAT4_B");
  all(DType::kFloat8E4m3fn, "FLOAT8_E4M3FN");
  all(DType::kInt64, "INT64");
  all(DType::kBool, "BOOL");
  all(DType::kComplex64, "COMPLEX64");
}

// Every row is found by its name, and no two share one; what is said of a dtype fits together.
TEST(TensorSpec, TheTableOfDtypes) {
  std::set<std::string_view> names;
  for (const DTypeInfo& row : kDTypes) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.value == DType::kAbsent || row.value == DType::kUnknown) {
      EXPECT_FALSE(computed(row.value));
      EXPECT_EQ(row.bits, 0);
      continue;
    }
    EXPECT_EQ(parse_dtype(row.name).value, row.value);
    EXPECT_GT(row.bits, 0) << row.name;
    EXPECT_NE(row.kind, DTypeKind::kNone) << row.name;
    const bool floats =
        row.kind == DTypeKind::kFloat || row.kind == DTypeKind::kBlockFloat || row.kind == DTypeKind::kComplex;
    EXPECT_EQ(row.significand > 0, floats) << row.name;
    EXPECT_LT(row.significand, row.bits) << row.name;
    EXPECT_TRUE(!row.computed || floats || is_integer(row.value)) << row.name;
  }
  std::set<std::string_view> computed_names;
  for (const DTypeInfo& row : kDTypes)
    if (row.computed) computed_names.insert(row.name);
  EXPECT_EQ(computed_names, (std::set<std::string_view>{"BFLOAT16", "FLOAT32", "BFLOAT8_B", "BFLOAT4_B", "INT32",
                                                        "UINT32", "UINT16", "UINT8"}));
}

// INT64 had no row when keys of the first version were made: its text, and so the key, must not change.
TEST(TensorSpec, ANameThatBecameKnownKeepsItsTextInTheKey) {
  TensorSpec spec;
  spec.has_shape = true;
  spec.shape = {2, 3};
  spec.dtype = parse_dtype("torch.int64");
  EXPECT_EQ(spec.dtype.value, DType::kInt64);
  EXPECT_EQ(to_text(spec), "tensor([2,3] dtype=INT64)");
  const auto read = parse_value(to_text(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->as_tensor()->dtype.value, DType::kInt64);
  EXPECT_EQ(to_text(*read), to_text(spec));
  EXPECT_EQ(parse_value("tensor([2,3] INT64)")->as_tensor()->dtype.value, DType::kInt64);  // as people write it
  EXPECT_EQ(to_text(*parse_value("tensor([2,3] dtype=ODD)")), "tensor([2,3] dtype=ODD)");
}

TEST(TensorSpec, EverySpellingOfALayout) {
  expect_all(parse_layout, Layout::kTile, "TILE",
             {"Layout::TILE", "Layout.TILE", "TILE", "tile", "ttnn.TILE_LAYOUT", "TILE_LAYOUT"});
  expect_all(parse_layout, Layout::kRowMajor, "ROW_MAJOR",
             {"Layout::ROW_MAJOR", "Layout.ROW_MAJOR", "ROW_MAJOR", "ttnn.ROW_MAJOR_LAYOUT"});
}

TEST(TensorSpec, EverySpellingOfAStorageType) {
  expect_all(parse_storage_type, StorageType::kDevice, "DEVICE",
             {"StorageType::DEVICE", "StorageType.DEVICE", "DEVICE", "ttnn.StorageType.DEVICE"});
  expect_all(parse_storage_type, StorageType::kHost, "HOST", {"StorageType::HOST", "StorageType.HOST", "HOST"});
}

TEST(TensorSpec, EverySpellingOfABufferType) {
  expect_all(parse_buffer_type, BufferType::kDram, "DRAM", {"BufferType::DRAM", "BufferType.DRAM", "DRAM", "0"});
  expect_all(parse_buffer_type, BufferType::kL1, "L1", {"BufferType::L1", "BufferType.L1", "L1", "l1", "1"});
  expect_all(parse_buffer_type, BufferType::kSystemMemory, "SYSTEM_MEMORY", {"BufferType::SYSTEM_MEMORY", "2"});
  expect_all(parse_buffer_type, BufferType::kL1Small, "L1_SMALL", {"BufferType.L1_SMALL", "3"});
  expect_all(parse_buffer_type, BufferType::kTrace, "TRACE", {"BufferType::TRACE", "4"});
}

TEST(TensorSpec, EverySpellingOfAMemoryLayout) {
  const auto all = [](MemoryLayout value, const std::string& name, const char* number) {
    for (const std::string& text : {"TensorMemoryLayout::" + name, "TensorMemoryLayout." + name, name})
      expect_all(parse_memory_layout, value, name, {text.c_str()});
    expect_all(parse_memory_layout, value, name, {number});
  };
  all(MemoryLayout::kInterleaved, "INTERLEAVED", "0");
  all(MemoryLayout::kHeightSharded, "HEIGHT_SHARDED", "2");
  all(MemoryLayout::kWidthSharded, "WIDTH_SHARDED", "3");
  all(MemoryLayout::kBlockSharded, "BLOCK_SHARDED", "4");
  all(MemoryLayout::kNdSharded, "ND_SHARDED", "5");
  EXPECT_EQ(parse_memory_layout("1").value, MemoryLayout::kUnknown);  // was SINGLE_BANK once: not guessed
}

TEST(TensorSpec, EverySpellingOfAnOrientation) {
  expect_all(parse_orientation, Orientation::kRowMajor, "ROW_MAJOR",
             {"ShardOrientation::ROW_MAJOR", "ShardOrientation.ROW_MAJOR", "ROW_MAJOR", "0"});
  expect_all(parse_orientation, Orientation::kColMajor, "COL_MAJOR", {"ShardOrientation::COL_MAJOR", "COL_MAJOR", "1"});
}

TEST(TensorSpec, NothingIsDefaulted) {
  EXPECT_FALSE(parse_dtype("").present());
  EXPECT_FALSE(parse_layout("").present());
  EXPECT_FALSE(parse_memory_layout("").present());
  EXPECT_EQ(parse_dtype("").name(), "absent");
  for (const char* text : {"FLOAT8", "BFLOAT16_X", "XBFLOAT16", "16", "BF16", " BFLOAT16"}) {
    const Spelled<DType> dtype = parse_dtype(text);
    EXPECT_EQ(dtype.value, DType::kUnknown) << text;
    EXPECT_EQ(dtype.name(), text);
  }
  EXPECT_EQ(parse_layout("_LAYOUT").value, Layout::kUnknown);
  EXPECT_EQ(parse_layout("0").value, Layout::kUnknown);  // only the enums the library prints as numbers
  EXPECT_FALSE(parse_dtype("FLOAT8") == parse_dtype("FLOAT9"));
  EXPECT_TRUE(parse_dtype("ttnn.bfloat16") == parse_dtype("DataType::BFLOAT16"));
}

TEST(TensorSpec, AnUnknownNameHasOneSpellingToo) {
  EXPECT_TRUE(parse_dtype("DataType.FP8_E4M3") == parse_dtype("DataType::FP8_E4M3"));
  EXPECT_TRUE(parse_dtype("DataType.FP8_E4M3") == parse_dtype("FP8_E4M3"));
  EXPECT_EQ(parse_layout("ttnn.BLOCKED_LAYOUT").name(), parse_layout("Layout.BLOCKED").name());
}

TEST(TensorSpec, AFractionIsNoEnumNumber) {
  EXPECT_EQ(parse_buffer_type("v1.0").value, BufferType::kUnknown);
  EXPECT_EQ(parse_memory_layout("0.5").value, MemoryLayout::kUnknown);
}

TEST(TensorSpec, ShardedMeansALayoutThatSaysSo) {
  MemoryConfig config;
  EXPECT_FALSE(config.sharded());  // absent says nothing
  config.layout = parse_memory_layout("INTERLEAVED");
  EXPECT_FALSE(config.sharded());
  for (const char* text : {"HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED"}) {
    config.layout = parse_memory_layout(text);
    EXPECT_TRUE(config.sharded()) << text;
  }
}

}  // namespace
}  // namespace opwright
