#include "select/fields.h"

#include <array>

#include "base/broken.h"
#include "model/op_config.h"
#include "model/tensor_spec.h"

namespace opwright::select {
namespace {

constexpr std::array kFields{
    FieldInfo{Field::kOp, FieldType::kText, false, "op", "op=ttnn.add",
              "the operator: its full name, or its last components (`add`)"},
    FieldInfo{Field::kDtype, FieldType::kName, true, "dtype", "dtype=BFLOAT8_B", "the data type of a tensor"},
    FieldInfo{Field::kLayout, FieldType::kName, true, "layout", "layout=TILE", "the layout of a tensor"},
    FieldInfo{Field::kStorage, FieldType::kName, true, "storage", "storage=HOST", "where a tensor is held"},
    FieldInfo{Field::kShape, FieldType::kShape, true, "shape", "shape=[1,1,32,*]",
              "the shape of a tensor; `*` is any one dimension, `...` any number of them"},
    FieldInfo{Field::kRank, FieldType::kWhole, true, "rank", "rank>=3", "the number of dimensions of a tensor"},
    FieldInfo{Field::kDim, FieldType::kWhole, true, "dim", "dim[-1]>1024",
              "one dimension of a tensor, counted from 0, or from the end with -1"},
    FieldInfo{Field::kVolume, FieldType::kWhole, true, "volume", "volume>1e6", "the number of elements of a tensor"},
    FieldInfo{Field::kDevice, FieldType::kText, true, "device", "device=cuda:0",
              "the device of a tensor, where the trace names it by a text (dialect aten)"},
    FieldInfo{Field::kStrides, FieldType::kShape, true, "strides", "strides=[1,*]",
              "the strides of a tensor, where they are others than its shape gives (dialect aten)"},
    FieldInfo{Field::kMemory, FieldType::kName, true, "memory", "memory=HEIGHT_SHARDED",
              "the memory layout of a tensor or of a memory-config argument"},
    FieldInfo{Field::kBuffer, FieldType::kName, true, "buffer", "buffer=L1",
              "the buffer type of a tensor or of a memory-config argument"},
    FieldInfo{Field::kSharded, FieldType::kFlag, true, "sharded", "sharded",
              "a tensor or a memory-config argument has a memory layout other than INTERLEAVED"},
    FieldInfo{Field::kShard, FieldType::kShape, true, "shard", "shard=[224,32]",
              "the shard shape of a tensor or of a memory-config argument"},
    FieldInfo{Field::kOrientation, FieldType::kName, true, "orientation", "orientation=ROW_MAJOR",
              "the shard orientation of a tensor or of a memory-config argument"},
    FieldInfo{Field::kArgument, FieldType::kValue, false, "arg", "arg.dim=3",
              "an argument by its name; alone: it is there and not none"},
    FieldInfo{Field::kTensors, FieldType::kWhole, false, "tensors", "tensors=2", "the number of tensors in the call"},
    FieldInfo{Field::kConvention, FieldType::kName, false, "convention", "convention=cpp",
              "whether the call was seen in Python or in C++"},
    FieldInfo{Field::kKey, FieldType::kKey, false, "key", "key=1aa23d", "the beginning of the configuration's key"},
    FieldInfo{Field::kModel, FieldType::kText, false, "model", "model~llama",
              "a model or source the configuration was seen in"},
    FieldInfo{Field::kMachine, FieldType::kText, false, "machine", "machine~n300",
              "a machine the configuration was seen on"},
    FieldInfo{Field::kCalls, FieldType::kWhole, false, "calls", "calls>100", "how often the configuration was called"},
    FieldInfo{Field::kRaised, FieldType::kWhole, false, "raised", "raised=0", "how many of these calls raised"},
    FieldInfo{Field::kError, FieldType::kText, false, "error", "error~TT_FATAL", "an example of what they raised"},
};

template <class E, Spelled<E> (*Parse)(std::string_view)>
NameSet name_set(std::string_view what) {
  NameSet set{what, {}, [](std::string_view text) -> std::optional<std::string_view> {
                const E value = Parse(text).value;
                if (value == E::kAbsent || value == E::kUnknown) return std::nullopt;
                return name_of(value);
              }};
  for (int i = static_cast<int>(E::kAbsent) + 1; i < static_cast<int>(E::kUnknown); ++i) {
    set.names.push_back(name_of(static_cast<E>(i)));
  }
  return set;
}

std::optional<std::string_view> canonical_convention(std::string_view text) {
  const std::string word = fold(text);
  if (word == "python" || word == "py") return name_of(Convention::kPython);
  if (word == "cpp" || word == "c++") return name_of(Convention::kCpp);
  return std::nullopt;
}

}  // namespace

const NameSet& names_of(Field field) {
  static const NameSet dtypes = name_set<DType, parse_dtype>("dtype");
  static const NameSet layouts = name_set<Layout, parse_layout>("layout");
  static const NameSet storages = name_set<StorageType, parse_storage_type>("storage type");
  static const NameSet memories = name_set<MemoryLayout, parse_memory_layout>("memory layout");
  static const NameSet buffers = name_set<BufferType, parse_buffer_type>("buffer type");
  static const NameSet orientations = name_set<Orientation, parse_orientation>("shard orientation");
  static const NameSet conventions{
      "convention", {name_of(Convention::kPython), name_of(Convention::kCpp)}, canonical_convention};
  switch (field) {
    case Field::kDtype:
      return dtypes;
    case Field::kLayout:
      return layouts;
    case Field::kStorage:
      return storages;
    case Field::kMemory:
      return memories;
    case Field::kBuffer:
      return buffers;
    case Field::kOrientation:
      return orientations;
    default:
      return conventions;
  }
}

std::span<const Relation> relations_of(FieldType type) {
  using enum Relation;
  static constexpr std::array kOfText{kEqual, kNotEqual, kContains, kIn};
  static constexpr std::array kOfWhole{kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn};
  static constexpr std::array kOfExact{kEqual, kNotEqual, kIn};
  static constexpr std::array kOfFlag{kHolds};
  static constexpr std::array kOfValue{kHolds,     kEqual,   kNotEqual,     kContains, kLess,
                                       kLessEqual, kGreater, kGreaterEqual, kIn};
  switch (type) {
    case FieldType::kText:
    case FieldType::kName:
      return kOfText;
    case FieldType::kWhole:
      return kOfWhole;
    case FieldType::kShape:
    case FieldType::kKey:
      return kOfExact;
    case FieldType::kFlag:
      return kOfFlag;
    case FieldType::kValue:
      return kOfValue;
  }
  broken("a field is of one of the types", std::to_string(static_cast<int>(type)));
}

std::span<const FieldInfo> fields() { return kFields; }

const FieldInfo& info_of(Field field) {
  for (const FieldInfo& info : kFields) {
    if (info.field == field) return info;
  }
  broken("every field has a row in the table", std::to_string(static_cast<int>(field)));
}

std::string_view symbol_of(Relation relation) {
  switch (relation) {
    case Relation::kHolds:
      return "";
    case Relation::kEqual:
      return "=";
    case Relation::kNotEqual:
      return "!=";
    case Relation::kContains:
      return "~";
    case Relation::kLess:
      return "<";
    case Relation::kLessEqual:
      return "<=";
    case Relation::kGreater:
      return ">";
    case Relation::kGreaterEqual:
      return ">=";
    case Relation::kIn:
      return "in";
  }
  broken("a relation is one of those", std::to_string(static_cast<int>(relation)));
}

}  // namespace opwright::select
