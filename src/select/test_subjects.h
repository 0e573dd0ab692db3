// Configurations for the tests of this room: one from a real trace, and as many random ones as a law needs.
#pragma once

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/op_config.h"
#include "select/evaluate.h"

namespace opwright::select {

inline MemoryConfig sharded_memory(Shape shard) {
  MemoryConfig memory;
  memory.layout = parse_memory_layout("HEIGHT_SHARDED");
  memory.buffer = parse_buffer_type("L1");
  memory.shard = ShardSpec{{CoreRange{{0, 0}, {7, 6}}}, std::move(shard), parse_orientation("ROW_MAJOR"), "", {}};
  return memory;
}

inline MemoryConfig interleaved_memory(std::string_view buffer) {
  MemoryConfig memory;
  memory.layout = parse_memory_layout("INTERLEAVED");
  memory.buffer = parse_buffer_type(buffer);
  return memory;
}

inline TensorSpec tensor(Shape shape, std::string_view dtype, std::string_view layout, MemoryConfig memory) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype = parse_dtype(dtype);
  spec.layout = parse_layout(layout);
  spec.storage = parse_storage_type("DEVICE");
  spec.memory = std::move(memory);
  return spec;
}

// ttnn.matmul of a sharded BFLOAT8_B [1,1,12544,32] and an interleaved BFLOAT16 [32,64].
inline OpConfig matmul_config() {
  OpConfig config;
  config.op = "ttnn.matmul";
  config.key[0] = 0x1a;
  config.key[1] = 0xa2;
  config.key[2] = 0x3d;
  const auto add = [&](std::string name, Value value) { config.args.push_back({std::move(name), std::move(value)}); };
  add("input_tensor_a", Value::tensor(tensor({1, 1, 12544, 32}, "BFLOAT8_B", "TILE", sharded_memory({224, 32}))));
  add("input_tensor_b", Value::tensor(tensor({32, 64}, "BFLOAT16", "TILE", interleaved_memory("DRAM"))));
  add("arg2", Value(std::int64_t{7}));
  add("dim", Value(std::int64_t{3}));
  add("dtype", Value(Enum{"DataType", "BFLOAT16"}));
  add("eps", Value(1e-5));
  add("mode", Value("Fast::Path"));
  add("big", Value(BigInt{"340282366920938463463374607431768211455"}));
  add("memory_config", Value::memory(sharded_memory({448, 64})));
  add("output_shape", Value::structure("Shape", {{"", Value(List{Value(std::int64_t{1}), Value(std::int64_t{64})})}}));
  add("pads", Value(List{Value(0.5), Value(true)}));
  add("program_config",
      Value::structure("MatmulConfig", {{"in0_block_w", Value(std::int64_t{2})},
                                        {"fuse", Value::dict({{"Relu 6", Value(true)}})},
                                        {"grid", Value(List{Value(std::int64_t{8}), Value(std::int64_t{7})})}}));
  add("callback", Value::opaque("Function", "lambda"));
  add("transpose_a", Value());
  add("transpose_b", Value(false));
  return config;
}

// Draws from small pools, so that random selectors over the same pools often match.
class RandomConfigs {
 public:
  explicit RandomConfigs(std::uint32_t seed) : random_(seed) {}

  template <class Range>
  decltype(auto) pick(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
  }
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }

  static constexpr std::array<std::string_view, 6> kOps{
      "ttnn.add", "ttnn.matmul", "ttnn.experimental.add", "ttnn.transformer.softmax", "add", "torch.nn.Conv2d"};
  static constexpr std::array<std::string_view, 5> kDtypes{"BFLOAT16", "BFLOAT8_B", "FLOAT32", "UINT32", "FLOAT8_X"};
  static constexpr std::array<std::string_view, 5> kArguments{"dim", "dtype", "memory_config", "Scale", "arg3"};

  Shape shape() {
    static constexpr std::array<std::int64_t, 6> kSizes{0, 1, 2, 32, 64, 1024};
    Shape shape(below(5));
    for (std::int64_t& size : shape) size = pick(kSizes);
    return shape;
  }

  MemoryConfig memory() {
    MemoryConfig memory = chance(50) ? sharded_memory(shape()) : interleaved_memory(chance(50) ? "L1" : "DRAM");
    if (chance(10)) memory.layout = {};
    if (chance(10)) memory.buffer = parse_buffer_type("NEW_BUFFER");
    if (chance(10)) memory.nd_shard = ShardSpec{{}, shape(), {}, "GRID_2D", {}};
    return memory;
  }

  TensorSpec tensor_spec() {
    TensorSpec spec = tensor(shape(), pick(kDtypes), chance(50) ? "TILE" : "ROW_MAJOR", memory());
    if (chance(10)) spec.has_shape = false, spec.shape.clear();
    if (chance(20)) spec.memory.reset();
    if (chance(10)) spec.storage = parse_storage_type("HOST");
    if (chance(10)) spec.dtype = {};
    return spec;
  }

  Value value(int depth = 0) {
    switch (below(depth < 3 ? 14 : 9)) {
      case 0:
        return Value();
      case 1:
        return Value(chance(50));
      case 2:
        return Value(static_cast<std::int64_t>(below(4)));
      case 3:
        return Value(chance(50) ? 2.0 : 0.5);
      case 4:
        return Value(std::string(chance(50) ? "Relu" : chance(50) ? "2" : "ttnn::relu"));
      case 5:
        return Value(Enum{chance(50) ? "DataType" : "", "BFLOAT16"});
      case 6:
        return Value(BigInt{"340282366920938463463374607431768211455"});
      case 7:
        return Value::opaque("Function", "Relu");
      case 8:
        return Value(std::string(80, 'x'));
      case 9: {
        List list;
        for (const std::int64_t size : shape()) list.emplace_back(size);
        return Value(std::move(list));
      }
      case 10:
        return Value(List{value(depth + 1), value(depth + 1)});
      case 11:
        return Value::structure("Config", {{chance(50) ? "dim" : "", value(depth + 1)}});
      case 12:
        return Value::dict({{"Dim", value(depth + 1)}, {"0", value(depth + 1)}});
      default:
        return chance(50) ? Value::memory(memory()) : Value::tensor(tensor_spec());
    }
  }

  OpConfig config() {
    OpConfig config;
    config.op = pick(kOps);
    config.convention = chance(50) ? Convention::kPython : Convention::kCpp;
    for (auto& byte : config.key) byte = static_cast<std::uint8_t>(below(4));
    for (std::size_t i = below(4); i > 0; --i)
      config.args.push_back({"input" + std::to_string(i), Value::tensor(tensor_spec())});
    for (const std::string_view name : kArguments) {
      if (chance(40)) config.args.push_back({std::string(name), value()});
    }
    return config;
  }

 private:
  std::mt19937 random_;
};

// Random selector texts, in every spelling that the grammar allows.
class RandomSelectors {
 public:
  explicit RandomSelectors(std::uint32_t seed) : random_(seed) {}

  std::string text(int depth = 0) {
    const std::size_t kind = random_.below(depth < 4 ? 10 : 5);
    if (kind < 5) return predicate();
    if (kind < 7) return text(depth + 1) + word(" and ") + text(depth + 1);
    if (kind < 8) return text(depth + 1) + word(" OR ") + text(depth + 1);
    if (kind < 9) return word("not ") + text(depth + 1);
    return "( " + text(depth + 1) + ")";
  }

 private:
  std::string word(std::string text) {
    if (random_.chance(20))
      for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (random_.chance(10)) text += "\t";
    return text;
  }

  std::string relation(bool order, bool contains) {
    if (order && random_.chance(50)) return random_.pick(std::array<std::string, 4>{"<", " <= ", ">", ">="});
    if (contains && random_.chance(30)) return random_.chance(50) ? "~" : " ~ ";
    return random_.pick(std::array<std::string, 6>{"=", "=", "=", " = ", "==", "!="});
  }

  template <class Make>
  std::string compared(const std::string& field, bool order, bool contains, const Make& value) {
    if (random_.chance(20)) {
      std::string list = field + (random_.chance(30) ? " not in (" : " in (") + value(false);
      for (std::size_t i = random_.below(3); i > 0; --i) list += (random_.chance(50) ? "," : " , ") + value(false);
      return list + ")";
    }
    const std::string symbol = relation(order, contains);
    const bool exact = symbol.find_first_of("<>~") == std::string::npos;
    return field + symbol + value(!exact);
  }

  std::string shape() {
    std::string text = "[";
    for (const std::int64_t size : random_.shape()) {
      if (text.size() > 1) text += random_.chance(50) ? "," : ", ";
      text += random_.chance(25) ? "*" : random_.chance(15) ? "..." : std::to_string(size);
    }
    return text + "]";
  }

  std::string number(bool) {
    return random_.pick(std::array<std::string, 8>{"0", "1", "2", "3", "32", "1e3", "+4", "64.0"});
  }

  std::string predicate() {
    using Texts = std::vector<std::string>;
    const auto one_of = [this](const Texts& texts) { return [this, texts](bool) { return random_.pick(texts); }; };
    const std::string in = random_.chance(30) ? "in" + std::to_string(random_.below(3)) + "." : "";
    switch (random_.below(17)) {
      case 0:
        return compared("op", false, true,
                        one_of({"add", "ttnn.add", "ttnn::matmul", "Softmax", "transformer.softmax", "\"conv2d\""}));
      case 1:
        return compared(in + "dtype", false, true,
                        one_of({"BFLOAT16", "ttnn.bfloat8_b", "float32", "DataType::UINT32"}));
      case 2:
        return compared(in + "layout", false, true, one_of({"tile", "ROW_MAJOR", "TILE_LAYOUT"}));
      case 3:
        return compared(in + "Storage", false, true, one_of({"host", "DEVICE"}));
      case 4:
        return compared(in + "memory", false, true, one_of({"HEIGHT_SHARDED", "interleaved"}));
      case 5:
        return compared(in + "buffer", false, true, one_of({"L1", "dram"}));
      case 6:
        return compared(in + "orientation", false, true, one_of({"row_major", "COL_MAJOR"}));
      case 7:
        return in + "sharded";
      case 8:
        return compared(in + "shape", false, false, [this](bool) { return shape(); });
      case 9:
        return compared(in + "shard", false, false, [this](bool) { return shape(); });
      case 10:
        return compared(in + "rank", true, false, [this](bool b) { return number(b); });
      case 11:
        return compared(in + "dim[" + random_.pick(Texts{"0", "-1", " 2 "}) + "]", true, false,
                        [this](bool b) { return number(b); });
      case 12:
        return compared(in + "volume", true, false, [this](bool b) { return number(b); });
      case 13:
        return compared(random_.pick(Texts{"calls", "tensors", "raised"}), true, false,
                        [this](bool b) { return number(b); });
      case 14:
        return compared(random_.pick(Texts{"model", "machine", "error"}), false, true,
                        one_of({"llama", "\"a b\"", "x/y.py::test-1", "'q\\'\"\\\\'"}));
      case 15:
        return compared(random_.pick(Texts{"key", "KEY"}), false, false, one_of({"00", "01", "0203", "0"}));
      default:
        break;
    }
    std::string path = "arg." +
                       random_.pick(Texts{"dim", "DTYPE", "memory_config", "scale", "3", "\"arg3\"", "absent"}) +
                       random_.pick(Texts{"", "", "", ".dim", ".0", ".\"dim\"", ".0.0"});
    if (random_.chance(20)) return path;
    return compared(path, true, true, [this](bool text_only) {
      if (text_only) return number(true);
      if (random_.chance(20)) return shape();
      return random_.pick(Texts{"none", "NULL", "True", "2", "2.0", "relu", "ttnn.relu", "BFLOAT16",
                                "DataType.BFLOAT16", "ttnn.bfloat16", "\"[true,2]\"", "\"Config(dim=2)\"", "\"\"",
                                std::string(80, 'x'), "340282366920938463463374607431768211455", "0.50",
                                "\"memory(L1 INTERLEAVED)\""});
    });
  }

  RandomConfigs random_;
};

}  // namespace opwright::select
