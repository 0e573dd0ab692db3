#include "model/value_bytes.h"

#include <utility>

#include "base/bytes.h"

namespace opwright {
namespace {

// In files.
enum class Tag : std::uint8_t {
  kNull = 0,
  kFalse = 1,
  kTrue = 2,
  kInt = 3,
  kBigInt = 4,
  kFloat = 5,
  kText = 6,
  kEnum = 7,
  kList = 8,
  kDict = 9,
  kStruct = 10,
  kOpaque = 11,
  kTensor = 12,
  kMemory = 13,
};

// A name outside its set: its text follows. The sets grow, so this is not the number of kUnknown.
constexpr std::uint8_t kUnknownName = 255;
constexpr int kDeepest = 256;  // more are read from their text

// Which parts of a tensor, a memory config or a shard spec there are.
enum Has : std::uint8_t {
  kHasShape = 1,
  kHasMemory = 2,
  kHasPlacement = 4,
  kHasDeviceShape = 8,
  kHasTile = 16,
  kHasMore = 32,
  kHasType = 64,
};
enum HasInMemory : std::uint8_t { kHasShard = 1, kHasNdShard = 2, kHasMoreOfMemory = 4 };
enum HasInShard : std::uint8_t { kHasDistribution = 1, kHasMoreOfShard = 2 };

// ---- to bytes

void append_value(std::string& out, const Value& value);

void append_byte(std::string& out, std::uint8_t byte) { out += static_cast<char>(byte); }
void append_tag(std::string& out, Tag tag) { append_byte(out, static_cast<std::uint8_t>(tag)); }

template <class E>
void append_name_of(std::string& out, const Spelled<E>& name) {
  if (name.value != E::kUnknown) return append_byte(out, static_cast<std::uint8_t>(name.value));
  append_byte(out, kUnknownName);
  append_sized(out, name.unknown);
}

void append_shape(std::string& out, const Shape& shape) {
  append_varint(out, shape.size());
  for (const std::int64_t size : shape) append_zigzag(out, size);
}

void append_fields(std::string& out, const Fields& fields) {
  append_varint(out, fields.size());
  for (const auto& [name, value] : fields) {
    append_sized(out, name);
    append_value(out, value);
  }
}

void append_shard(std::string& out, const ShardSpec& shard) {
  append_byte(out, static_cast<std::uint8_t>((shard.distribution.empty() ? 0 : kHasDistribution) |
                                             (shard.more.empty() ? 0 : kHasMoreOfShard)));
  append_varint(out, shard.grid.size());
  for (const CoreRange& range : shard.grid) {
    for (const std::int64_t place : {range.start.x, range.start.y, range.end.x, range.end.y}) append_zigzag(out, place);
  }
  append_shape(out, shard.shape);
  append_name_of(out, shard.orientation);
  if (!shard.distribution.empty()) append_sized(out, shard.distribution);
  if (!shard.more.empty()) append_fields(out, shard.more);
}

void append_memory(std::string& out, const MemoryConfig& memory) {
  append_byte(out, static_cast<std::uint8_t>((memory.shard ? kHasShard : 0) | (memory.nd_shard ? kHasNdShard : 0) |
                                             (memory.more.empty() ? 0 : kHasMoreOfMemory)));
  append_name_of(out, memory.layout);
  append_name_of(out, memory.buffer);
  if (memory.shard) append_shard(out, *memory.shard);
  if (memory.nd_shard) append_shard(out, *memory.nd_shard);
  if (!memory.more.empty()) append_fields(out, memory.more);
}

void append_tensor(std::string& out, const TensorSpec& spec) {
  append_byte(out, static_cast<std::uint8_t>((spec.has_shape ? kHasShape : 0) | (spec.memory ? kHasMemory : 0) |
                                             (spec.placement ? kHasPlacement : 0) |
                                             (spec.device_shape ? kHasDeviceShape : 0) | (spec.tile ? kHasTile : 0) |
                                             (spec.more.empty() ? 0 : kHasMore) | (spec.type.empty() ? 0 : kHasType)));
  append_name_of(out, spec.dtype);
  append_name_of(out, spec.layout);
  append_name_of(out, spec.storage);
  if (!spec.type.empty()) append_sized(out, spec.type);
  if (spec.has_shape) append_shape(out, spec.shape);
  if (spec.memory) append_memory(out, *spec.memory);
  if (spec.placement) {
    append_varint(out, spec.placement->dims.size());
    for (const std::string& dim : spec.placement->dims) append_sized(out, dim);
    append_shape(out, spec.placement->distribution);
    append_shape(out, spec.placement->mesh);
  }
  if (spec.device_shape) append_shape(out, *spec.device_shape);
  if (spec.tile) append_shape(out, *spec.tile);
  if (!spec.more.empty()) append_fields(out, spec.more);
}

void append_value(std::string& out, const Value& value) {
  std::visit(Overloaded{[&](std::monostate) { append_tag(out, Tag::kNull); },
                        [&](bool b) { append_tag(out, b ? Tag::kTrue : Tag::kFalse); },
                        [&](std::int64_t i) {
                          append_tag(out, Tag::kInt);
                          append_zigzag(out, i);
                        },
                        [&](const BigInt& i) {
                          append_tag(out, Tag::kBigInt);
                          append_sized(out, i.digits);
                        },
                        [&](double d) {
                          append_tag(out, Tag::kFloat);
                          append_real(out, d);
                        },
                        [&](const std::string& s) {
                          append_tag(out, Tag::kText);
                          append_sized(out, s);
                        },
                        [&](const Enum& e) {
                          append_tag(out, Tag::kEnum);
                          append_sized(out, e.type);
                          append_sized(out, e.name);
                        },
                        [&](const List& list) {
                          append_tag(out, Tag::kList);
                          append_varint(out, list.size());
                          for (const Value& item : list) append_value(out, item);
                        },
                        [&](const std::shared_ptr<const Dict>& dict) {
                          append_tag(out, Tag::kDict);
                          append_fields(out, dict->entries);
                        },
                        [&](const std::shared_ptr<const Struct>& s) {
                          append_tag(out, Tag::kStruct);
                          append_sized(out, s->type);
                          append_fields(out, s->fields);
                        },
                        [&](const Opaque& o) {
                          append_tag(out, Tag::kOpaque);
                          append_sized(out, o.type);
                          append_sized(out, o.text);
                        },
                        [&](const std::shared_ptr<const TensorSpec>& spec) {
                          append_tag(out, Tag::kTensor);
                          append_tensor(out, *spec);
                        },
                        [&](const std::shared_ptr<const MemoryConfig>& config) {
                          append_tag(out, Tag::kMemory);
                          append_memory(out, *config);
                        }},
             value.data());
}

// ---- from bytes

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : in_(bytes) {}
  bool ok() const { return ok_ && in_.ok(); }
  bool at_end() const { return in_.at_end(); }
  std::string text() { return std::string(in_.text()); }

  Value value() {
    if (depth_ >= kDeepest || !ok()) return wrong();
    ++depth_;
    Value value = inner();
    --depth_;
    return value;
  }

 private:
  Value wrong() {
    ok_ = false;
    return {};
  }

  Value inner() {
    switch (static_cast<Tag>(in_.byte())) {
      case Tag::kNull:
        return {};
      case Tag::kFalse:
        return Value(false);
      case Tag::kTrue:
        return Value(true);
      case Tag::kInt:
        return Value(in_.zigzag());
      case Tag::kBigInt:
        return Value(BigInt{text()});
      case Tag::kFloat:
        return Value(in_.real());
      case Tag::kText:
        return Value(text());
      case Tag::kEnum: {
        Enum e;
        e.type = text();
        e.name = text();
        return Value(std::move(e));
      }
      case Tag::kList: {
        List list;
        const std::uint64_t count = in_.count(1);
        list.reserve(count);
        for (std::uint64_t i = 0; i < count && ok(); ++i) list.push_back(value());
        return Value(std::move(list));
      }
      case Tag::kDict:
        return Value::dict(fields());
      case Tag::kStruct: {
        std::string type = text();
        return Value::structure(std::move(type), fields());
      }
      case Tag::kOpaque: {
        std::string type = text();
        return Value::opaque(std::move(type), text());
      }
      case Tag::kTensor:
        return Value::tensor(tensor());
      case Tag::kMemory:
        return Value::memory(memory());
    }
    return wrong();
  }

  Fields fields() {
    Fields fields;
    const std::uint64_t count = in_.count(2);
    fields.reserve(count);
    for (std::uint64_t i = 0; i < count && ok(); ++i) {
      std::string name = text();
      fields.emplace_back(std::move(name), value());
    }
    return fields;
  }

  Shape shape() {
    Shape shape;
    const std::uint64_t count = in_.count(1);
    shape.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) shape.push_back(in_.zigzag());
    return shape;
  }

  template <class E>
  Spelled<E> name() {
    const std::uint8_t number = in_.byte();
    if (number == kUnknownName) return {E::kUnknown, text()};
    Spelled<E> name;
    name.value = static_cast<E>(number);
    if (number >= static_cast<std::uint8_t>(E::kUnknown)) {
      ok_ = false;
      name.value = E::kAbsent;
    }
    return name;
  }

  ShardSpec shard() {
    ShardSpec shard;
    const std::uint8_t has = in_.byte();
    const std::uint64_t ranges = in_.count(4);
    shard.grid.reserve(ranges);
    for (std::uint64_t i = 0; i < ranges; ++i) {
      CoreRange range;
      range.start.x = in_.zigzag();
      range.start.y = in_.zigzag();
      range.end.x = in_.zigzag();
      range.end.y = in_.zigzag();
      shard.grid.push_back(range);
    }
    shard.shape = shape();
    shard.orientation = name<Orientation>();
    if ((has & kHasDistribution) != 0) shard.distribution = text();
    if ((has & kHasMoreOfShard) != 0) shard.more = fields();
    return shard;
  }

  MemoryConfig memory() {
    MemoryConfig memory;
    const std::uint8_t has = in_.byte();
    memory.layout = name<MemoryLayout>();
    memory.buffer = name<BufferType>();
    if ((has & kHasShard) != 0) memory.shard = shard();
    if ((has & kHasNdShard) != 0) memory.nd_shard = shard();
    if ((has & kHasMoreOfMemory) != 0) memory.more = fields();
    return memory;
  }

  TensorSpec tensor() {
    TensorSpec spec;
    const std::uint8_t has = in_.byte();
    spec.dtype = name<DType>();
    spec.layout = name<Layout>();
    spec.storage = name<StorageType>();
    if ((has & kHasType) != 0) spec.type = text();
    spec.has_shape = (has & kHasShape) != 0;
    if (spec.has_shape) spec.shape = shape();
    if ((has & kHasMemory) != 0) spec.memory = memory();
    if ((has & kHasPlacement) != 0) {
      Placement& placement = spec.placement.emplace();
      const std::uint64_t dims = in_.count(1);
      for (std::uint64_t i = 0; i < dims && ok(); ++i) placement.dims.push_back(text());
      placement.distribution = shape();
      placement.mesh = shape();
    }
    if ((has & kHasDeviceShape) != 0) spec.device_shape = shape();
    if ((has & kHasTile) != 0) spec.tile = shape();
    if ((has & kHasMore) != 0) spec.more = fields();
    return spec;
  }

  ByteReader in_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace

void append_bytes(std::string& out, const Argument& argument) {
  append_byte(out, kBytesVersion);
  append_sized(out, argument.name);
  append_value(out, argument.value);
}

std::optional<Argument> argument_of(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != static_cast<char>(kBytesVersion)) return std::nullopt;
  Decoder decoder(bytes.substr(1));
  Argument argument;
  argument.name = decoder.text();
  argument.value = decoder.value();
  if (!decoder.ok() || !decoder.at_end()) return std::nullopt;
  return argument;
}

}  // namespace opwright
