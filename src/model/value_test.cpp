#include "model/value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace opwright {
namespace {

MemoryConfig sharded_memory() {
  MemoryConfig config;
  config.buffer = parse_buffer_type("L1");
  config.layout = parse_memory_layout("HEIGHT_SHARDED");
  config.shard = ShardSpec{{{{0, 0}, {7, 6}}}, {224, 32}, parse_orientation("ROW_MAJOR"), "", {}};
  return config;
}

TensorSpec tensor() {
  TensorSpec spec;
  spec.shape = {1, 1, 12544, 32};
  spec.has_shape = true;
  spec.dtype = parse_dtype("BFLOAT8_B");
  spec.layout = parse_layout("TILE");
  return spec;
}

Fields fields(std::initializer_list<std::pair<std::string, Value>> entries) { return Fields(entries); }

TEST(Value, TextOfEachKind) {
  EXPECT_EQ(to_text(Value()), "none");
  EXPECT_EQ(to_text(Value(true)), "true");
  EXPECT_EQ(to_text(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(to_text(Value(BigInt{"18446744073709551616"})), "18446744073709551616");
  EXPECT_EQ(to_text(Value(0.5)), "0.5");
  EXPECT_EQ(to_text(Value(1.0)), "1.0");
  EXPECT_EQ(to_text(Value(-std::numeric_limits<double>::infinity())), "-inf");
  EXPECT_EQ(to_text(Value(std::nan(""))), "nan");
  EXPECT_EQ(to_text(Value("tëxt\n\"")), R"("t\u00ebxt\n\"")");
  EXPECT_EQ(to_text(Value(Enum{"DataType", "BFLOAT16"})), "DataType.BFLOAT16");
  EXPECT_EQ(to_text(Value(List{Value(std::int64_t{1}), Value(List{})})), "[1,[]]");
  EXPECT_EQ(to_text(Value::dict(fields({{"b", Value(true)}, {"a", Value()}}))), R"({"a":none,"b":true})");
  EXPECT_EQ(to_text(Value::structure("T", fields({{"b", Value(true)}, {"", Value("p")}, {"a", Value()}}))),
            R"(T("p",a=none,b=true))");
  EXPECT_EQ(to_text(Value::opaque("T", "x,y")), R"(opaque(T,"x,y"))");
}

TEST(Value, TextOfTensorsAndMemory) {
  EXPECT_EQ(to_text(sharded_memory()), "memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)");
  EXPECT_EQ(to_text(MemoryConfig{}), "memory()");
  EXPECT_EQ(to_text(TensorSpec{}), "tensor(shape absent)");
  TensorSpec spec = tensor();
  EXPECT_EQ(to_text(spec), "tensor([1,1,12544,32] BFLOAT8_B TILE)");
  spec.storage = parse_storage_type("DEVICE");
  spec.memory = sharded_memory();
  spec.memory->nd_shard = ShardSpec{{{{0, 0}, {0, 0}}, {{2, 0}, {3, 1}}}, {1, 32, 32}, {}, "GRID_2D", {}};
  spec.memory->more.emplace_back("flag", Value(true));
  spec.tile = Shape{32, 32};
  spec.device_shape = Shape{1, 1, 6272, 32};
  spec.placement = Placement{{"Shard(2)", "Replicate"}, {1, 2}, {4, 8}};
  spec.more.emplace_back("alignment", Value(List{}));
  EXPECT_EQ(to_text(spec),
            "tensor([1,1,12544,32] BFLOAT8_B TILE DEVICE memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) "
            "ROW_MAJOR nd_shard [1,32,32] on (0,0)-(0,0)+(2,0)-(3,1) distribution=GRID_2D {flag=true}) tile [32,32] on "
            "each device "
            "[1,1,6272,32] placed [Shard(2),Replicate] over [1,2] of mesh [4,8] {alignment=[]})");
  spec = TensorSpec{};
  spec.type = "torch.Tensor";
  spec.has_shape = true;  // rank 0
  EXPECT_EQ(to_text(spec), "tensor(torch.Tensor [])");
}

TEST(Value, TheOrderOfNamedFieldsSaysNothing) {
  const Fields ab = fields({{"a", Value(true)}, {"b", Value()}}), ba = fields({{"b", Value()}, {"a", Value(true)}});
  EXPECT_EQ(Value::dict(ab), Value::dict(ba));
  EXPECT_EQ(Value::structure("T", ab), Value::structure("T", ba));
  MemoryConfig left = sharded_memory(), right = sharded_memory();
  left.more = ab;
  right.more = ba;
  EXPECT_EQ(Value::memory(left), Value::memory(right));
  EXPECT_FALSE(Value(List{Value(true), Value()}) == Value(List{Value(), Value(true)}));
  EXPECT_FALSE(Value::structure("T", fields({{"", Value(true)}, {"", Value()}})) ==
               Value::structure("T", fields({{"", Value()}, {"", Value(true)}})));
}

TEST(Value, NumbersKeepTheirKind) {
  const Value all[] = {Value(true),   Value(std::int64_t{1}), Value(1.0), Value("1"),
                       Value("true"), Value(Enum{"E", "1"}),  Value(0.0), Value(-0.0)};
  for (const Value& a : all) {
    for (const Value& b : all) EXPECT_EQ(a == b, &a == &b) << to_text(a) << " " << to_text(b);
  }
}

// ---- different values never share a text
// -----------------------------------------------------------------------------

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Value value(int depth) {
    switch (pick(depth > 0 ? 13 : 8)) {
      case 0:
        return Value();
      case 1:
        return Value(pick(2) == 0);
      case 2:
        return Value(std::int64_t{pick(3)} - 1);
      case 3:
        return Value(BigInt{pick(2) == 0 ? "18446744073709551616" : "-18446744073709551616"});
      case 4:
        return Value(std::array{0.0, -0.0, 1.0, 1e-5, std::numeric_limits<double>::infinity(), std::nan("")}[pick(6)]);
      case 5:
        return Value(std::string(text()));
      case 6:
        return Value(Enum{std::string(word()), std::string(word())});
      case 7:
        return Value::opaque(std::string(word()), std::string(text()));
      case 8:
        return Value(list(depth));
      case 9:
        return Value::dict(named(depth, false));
      case 10:
        return Value::structure(std::string(word()), named(depth, true));
      case 11:
        return Value::memory(memory(depth));
      default:
        return Value::tensor(tensor_spec(depth));
    }
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  // Words as traces have them: names of types, enums and fields.
  std::string_view word() { return std::array<std::string_view, 4>{"A", "Bc", "D_1", "set"}[pick(4)]; }
  std::string_view text() {
    return std::array<std::string_view, 8>{"", "none", "1", "\"", ",", "A.Bc", "a\",\"b", "[1]"}[pick(8)];
  }
  Shape shape() {
    Shape shape;
    for (int i = pick(3); i > 0; --i) shape.push_back(pick(2));
    return shape;
  }
  List list(int depth) {
    List items;
    for (int i = pick(3); i > 0; --i) items.push_back(value(depth - 1));
    return items;
  }
  Fields named(int depth, bool positional) {
    std::map<std::string, Value> entries;
    for (int i = pick(3); i > 0; --i) entries.insert_or_assign(std::string(word()), value(depth - 1));
    Fields all;
    if (positional && pick(3) == 0) all.emplace_back("", value(depth - 1));
    all.insert(all.end(), entries.begin(), entries.end());
    return all;
  }
  ShardSpec shard() {
    ShardSpec spec{{{{0, 0}, {pick(2), 1}}}, shape(), {}, std::string(pick(2) == 0 ? "" : "GRID_2D"), {}};
    if (pick(2) == 0) spec.orientation = parse_orientation(pick(2) == 0 ? "ROW_MAJOR" : "COL_MAJOR");
    if (pick(3) == 0) spec.grid.push_back({{2, 2}, {3, 3}});
    return spec;
  }
  MemoryConfig memory(int depth) {
    MemoryConfig config;
    if (pick(3) > 0) config.buffer = parse_buffer_type(pick(2) == 0 ? "L1" : "DRAM");
    if (pick(3) > 0) config.layout = parse_memory_layout(pick(2) == 0 ? "INTERLEAVED" : "BLOCK_SHARDED");
    if (pick(3) == 0) config.shard = shard();
    if (pick(3) == 0) config.nd_shard = shard();
    if (pick(4) == 0) config.more = named(depth, false);
    return config;
  }
  TensorSpec tensor_spec(int depth) {
    TensorSpec spec;
    if (pick(4) == 0) spec.type = "torch.Tensor";
    spec.has_shape = pick(4) > 0;
    if (spec.has_shape) spec.shape = shape();
    if (pick(2) == 0) spec.dtype = parse_dtype(pick(2) == 0 ? "FLOAT32" : "UINT8");
    if (pick(2) == 0) spec.layout = parse_layout(pick(2) == 0 ? "TILE" : "ROW_MAJOR");
    if (pick(2) == 0) spec.storage = parse_storage_type(pick(2) == 0 ? "HOST" : "DEVICE");
    if (pick(2) == 0) spec.memory = memory(depth);
    if (pick(4) == 0) spec.tile = shape();
    if (pick(4) == 0) spec.device_shape = shape();
    if (pick(4) == 0) spec.placement = Placement{{"Shard(0)"}, shape(), shape()};
    if (pick(4) == 0) spec.more = named(depth, false);
    return spec;
  }

  std::mt19937 random_;
};

// A second description of a value that has nothing in common with its text: every part with its length.
std::string structure_of(const Value& value);

std::string counted(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

std::string structure_of(const Fields& all) {
  std::string positional;
  std::map<std::string, std::string> named;
  for (const auto& [name, value] : all) {
    if (name.empty())
      positional += counted(structure_of(value));
    else
      named[name] += counted(structure_of(value));
  }
  std::string text = counted(positional);
  for (const auto& [name, part] : named) text += counted(name) + counted(part);
  return text;
}

std::string structure_of(const Shape& shape) {
  std::string text = "s";
  for (const std::int64_t n : shape) text += counted(std::to_string(n));
  return text;
}

std::string structure_of(const std::optional<ShardSpec>& spec) {
  if (!spec) return "-";
  std::string text = counted(structure_of(spec->shape)) + counted(std::string(spec->orientation.name())) +
                     counted(spec->distribution) + counted(structure_of(spec->more));
  for (const CoreRange& r : spec->grid) text += counted(structure_of(Shape{r.start.x, r.start.y, r.end.x, r.end.y}));
  return text;
}

std::string structure_of(const MemoryConfig& config) {
  return counted(std::string(config.buffer.name())) + counted(std::string(config.layout.name())) +
         counted(structure_of(config.shard)) + counted(structure_of(config.nd_shard)) +
         counted(structure_of(config.more));
}

std::string structure_of(const TensorSpec& spec) {
  const auto optional = [](const std::optional<Shape>& shape) { return shape ? structure_of(*shape) : "-"; };
  std::string text = counted(spec.type) + (spec.has_shape ? counted(structure_of(spec.shape)) : "-");
  for (const std::string_view name : {spec.dtype.name(), spec.layout.name(), spec.storage.name()})
    text += counted(std::string(name));
  text += counted(spec.memory ? structure_of(*spec.memory) : "-") + counted(optional(spec.tile)) +
          counted(optional(spec.device_shape)) + counted(structure_of(spec.more));
  if (spec.placement) text += structure_of(spec.placement->distribution) + structure_of(spec.placement->mesh);
  return text;
}

std::string structure_of(const Value& value) {
  const std::string kind = counted(std::to_string(value.data().index()));
  if (const List* list = value.as_list()) {
    std::string text = kind;
    for (const Value& item : *list) text += counted(structure_of(item));
    return text;
  }
  if (const Fields* dict = value.as_dict()) return kind + structure_of(*dict);
  if (const Struct* s = value.as_struct()) return kind + counted(s->type) + structure_of(s->fields);
  if (const MemoryConfig* config = value.as_memory()) return kind + structure_of(*config);
  if (const TensorSpec* spec = value.as_tensor()) return kind + structure_of(*spec);
  if (const Enum* e = value.as_enum()) return kind + counted(e->type) + counted(e->name);
  if (const Opaque* o = value.as_opaque()) return kind + counted(o->type) + counted(o->text);
  if (const std::string* s = value.as_string()) return kind + counted(*s);
  return kind + to_text(value);  // null, bool and numbers
}

TEST(Value, DifferentValuesNeverShareAText) {
  Maker maker(7);
  std::map<std::string, std::string> seen;  // text -> structure
  for (int i = 0; i < 20000; ++i) {
    const Value value = maker.value(3);
    const std::string structure = structure_of(value);
    const auto [entry, added] = seen.try_emplace(to_text(value), structure);
    ASSERT_EQ(entry->second, structure) << entry->first;
  }
  EXPECT_GT(seen.size(), 4000u);
}

// Names of types, fields and enums, and names outside the known sets, come from files and may hold anything.
TEST(Value, NoNameCanBreakOutOfItsPlace) {
  const auto differ = [](const Value& a, const Value& b) { EXPECT_NE(to_text(a), to_text(b)); };
  const Value one(std::int64_t{1}), two(std::int64_t{2});
  differ(Value(Enum{"", "none"}), Value());
  differ(Value(Enum{"", "true"}), Value(true));
  differ(Value(Enum{"", "1"}), one);
  differ(Value(Enum{"A.B", "C"}), Value(Enum{"A", "B.C"}));
  differ(Value::structure("T", fields({{"a=1,b", two}})), Value::structure("T", fields({{"a", one}, {"b", two}})));
  differ(Value::structure("opaque", fields({{"", Value(Enum{"", "T"})}, {"", Value("x")}})), Value::opaque("T", "x"));
  TensorSpec rank2;
  rank2.has_shape = true;
  rank2.shape = {1, 2};
  differ(Value::structure("tensor", fields({{"", Value(List{one, two})}})), Value::tensor(rank2));
  TensorSpec odd_dtype, odd_layout;
  odd_dtype.dtype = parse_dtype("ODD");
  odd_layout.layout = parse_layout("ODD");
  differ(Value::tensor(odd_dtype), Value::tensor(odd_layout));
  EXPECT_EQ(to_text(Value::structure("a\nb", {})).find('\n'), std::string::npos);
}

TEST(Value, TensorsAndMemoriesAreFoundInside) {
  TensorSpec with_memory = tensor();
  with_memory.memory = sharded_memory();
  const Value nested(List{Value::tensor(with_memory), Value::dict(fields({{"k", Value::tensor(tensor())}})),
                          Value::structure("S", fields({{"m", Value::memory(sharded_memory())}, {"n", Value(true)}})),
                          Value("x")});
  int tensors = 0, memories = 0;
  for_each_tensor(nested, [&](const TensorSpec&) { ++tensors; });
  for_each_memory(nested, [&](const MemoryConfig&) { ++memories; });
  EXPECT_EQ(tensors, 2);
  EXPECT_EQ(memories, 1);  // that of the tensor belongs to the tensor
}

TEST(Value, ViewsAreNullForOtherKinds) {
  const Value text("x");
  EXPECT_EQ(*text.as_string(), "x");
  EXPECT_EQ(text.as_int(), nullptr);
  EXPECT_EQ(text.as_list(), nullptr);
  EXPECT_EQ(text.as_dict(), nullptr);
  EXPECT_EQ(text.as_tensor(), nullptr);
  EXPECT_FALSE(text.is_null());
  EXPECT_EQ(*Value::dict(fields({{"k", Value(true)}})).as_dict()->front().second.as_bool(), true);
}

}  // namespace
}  // namespace opwright
