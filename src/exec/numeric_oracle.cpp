#include "exec/numeric_oracle.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>

#include "base/input.h"
#include "model/call_json.h"
#include "model/quantize.h"

namespace opwright {
namespace {

// Word of the index ("bf8") -> dtype.
Result<DType> dtype_of(std::string_view word) {
  static const std::map<std::string_view, DType> words{
      {"bf16", DType::kBfloat16}, {"f32", DType::kFloat32}, {"bf8", DType::kBfloat8B}, {"bf4", DType::kBfloat4B},
      {"i32", DType::kInt32},     {"u32", DType::kUint32},  {"u16", DType::kUint16},   {"u8", DType::kUint8}};
  const auto found = words.find(word);
  if (found == words.end()) return fail(ErrorCode::kBadInput, fmt::format("unknown stored form '{}'", word));
  return found->second;
}

TensorSpec tile_in_dram(Shape shape, DType dtype) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = Layout::kTile;
  spec.storage.value = StorageType::kDevice;
  spec.memory = MemoryConfig{};
  spec.memory->layout.value = MemoryLayout::kInterleaved;
  spec.memory->buffer.value = BufferType::kDram;
  return spec;
}

Result<HostTensor> tensor_of(const json::Node& entry, std::string_view data) {
  Shape shape;
  const json::Node* dims = entry.find("shape");
  if (dims == nullptr || !dims->is(json::Kind::kArray)) return fail(ErrorCode::kBadInput, "a tensor without shape");
  std::int64_t elements = 1;
  for (const json::Node& n : *dims) {
    const std::int64_t dim = n.as_int64().value_or(-1);
    if (dim < 0 || (dim > 0 && elements > static_cast<std::int64_t>(data.size()) / dim))
      return fail(ErrorCode::kBadInput, "a shape with more elements than the .bin file has bytes");
    elements *= dim;
    shape.push_back(dim);
  }
  OPWRIGHT_TRY_ASSIGN(const DType stored, dtype_of(entry.string_field("stored").value_or("")));
  DType dtype = stored;
  if (const auto on_device = entry.string_field("device_dtype")) dtype = parse_dtype(*on_device).value;
  if (!computed(dtype)) return fail(ErrorCode::kUnsupported, "a tensor of a dtype that is not computed with");
  HostTensor tensor{tile_in_dram(std::move(shape), dtype), {}, {}};
  const std::size_t bytes = stored == DType::kBfloat16 ? 2 : 4;
  const json::Node* at = entry.find("offset");
  const auto offset = static_cast<std::size_t>(at == nullptr ? -1 : at->as_int64().value_or(-1));
  const auto count = static_cast<std::size_t>(tensor.size());
  if (offset > data.size() || count > (data.size() - offset) / bytes)
    return fail(ErrorCode::kBadInput, "its data lies beyond the end of the .bin file");
  const char* from = data.data() + offset;
  if (is_integer(stored)) {
    tensor.ints.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::int32_t value = 0;
      std::memcpy(&value, from + 4 * i, 4);
      tensor.ints[i] = value;
    }
    return tensor;
  }
  tensor.floats.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from + bytes * i, bytes);
    tensor.floats[i] = std::bit_cast<float>(bytes == 2 ? bits << 16U : bits);
  }
  return tensor;
}

Value ints(const Shape& shape) {
  List list;
  for (std::int64_t n : shape) list.emplace_back(n);
  return Value(std::move(list));
}

Shape numbers_field(const json::Node& kwargs, std::string_view key) {
  Shape out;
  if (const json::Node* numbers = kwargs.find(key))
    for (const json::Node& n : *numbers) out.push_back(n.as_int64().value_or(0));
  return out;
}

Value pair_field(const json::Node& kwargs, std::string_view key) { return ints(numbers_field(kwargs, key)); }

Value number_field(const json::Node& kwargs, std::string_view key) {
  const json::Node* number = kwargs.find(key);
  return Value(number != nullptr ? number->as_int64().value_or(0) : 0);
}

// What spell_out() takes for granted of a case. "" when it is there.
std::string what_is_missing(std::string_view op, const json::Node& kwargs, const OracleCase& out) {
  if (out.inputs.empty() || out.results.empty()) return "a case needs inputs and outputs, each a list of tensors";
  const std::size_t rank = out.inputs[0].spec.shape.size();
  const auto needs_numbers = [&](std::string_view key, std::size_t least) {
    return numbers_field(kwargs, key).size() >= least ? "" : fmt::format("{} needs a list \"{}\"", op, key);
  };
  if (op == "ttnn.embedding") return needs_numbers("indices", 1);
  if (op == "ttnn.conv2d" && out.inputs.size() < 2) return "ttnn.conv2d needs two inputs";
  if (op == "ttnn.conv2d" || op == "ttnn.max_pool2d") return needs_numbers("input_hw", 2);
  if (op == "ttnn.transpose") return needs_numbers("dims", 2);
  if ((op == "ttnn.pad" || op == "ttnn.repeat") && out.results[0].spec.shape.size() < rank)
    return fmt::format("the output of {} has fewer dims than its input", op);
  if (op == "ttnn.pad" && out.results[0].floats.empty()) return "ttnn.pad needs an output with elements";
  return "";
}

// The index writes calls in short; this says what was called.
Status spell_out(const json::Node& entry, OracleCase& out) {
  const std::string op(entry.string_field("op").value_or(""));
  const json::Node nothing{json::Kind::kObject};
  const json::Node* kwargs = entry.find("kwargs");
  if (kwargs == nullptr || !kwargs->is(json::Kind::kObject)) kwargs = &nothing;
  if (std::string missing = what_is_missing(op, *kwargs, out); !missing.empty())
    return fail(ErrorCode::kBadInput, std::move(missing));
  OpConfig& config = out.config;
  config.op = op;
  const auto add = [&](std::string name, Value value) { config.args.push_back({std::move(name), std::move(value)}); };
  const auto tensor = [&](std::size_t i) { return Value::tensor(out.inputs[i].spec); };

  if (op == "ttnn.embedding") {
    HostTensor ids{tile_in_dram({}, DType::kUint32), {}, {}};
    for (const json::Node& n : *kwargs->find("indices")) ids.ints.push_back(n.as_int64().value_or(0));
    ids.spec.shape = {1, static_cast<std::int64_t>(ids.ints.size())};
    ids.spec.layout.value = Layout::kRowMajor;
    out.inputs[0].spec.layout.value = Layout::kRowMajor;
    out.inputs.insert(out.inputs.begin(), std::move(ids));
    add("arg0", tensor(0));
    add("arg1", tensor(1));
    return {};
  }
  if (op == "ttnn.concat") {
    out.inputs.push_back(out.inputs[0]);
    add("arg0", Value(List{tensor(0), tensor(1)}));
  } else if (op == "ttnn.conv2d") {
    add("input_tensor", tensor(0));
    add("weight_tensor", tensor(1));
    for (const char* key : {"in_channels", "out_channels"}) add(key, number_field(*kwargs, key));
    add("batch_size", Value(std::int64_t{1}));
    const Value hw = pair_field(*kwargs, "input_hw");
    add("input_height", (*hw.as_list())[0]);
    add("input_width", (*hw.as_list())[1]);
    add("kernel_size", pair_field(*kwargs, "kernel"));
    add("stride", ints({1, 1}));
    add("padding", pair_field(*kwargs, "padding"));
    return {};
  } else if (op == "ttnn.max_pool2d") {
    const Value hw = pair_field(*kwargs, "input_hw");
    add("input_tensor", tensor(0));
    add("batch_size", Value(std::int64_t{1}));
    add("input_h", (*hw.as_list())[0]);
    add("input_w", (*hw.as_list())[1]);
    add("channels", number_field(*kwargs, "channels"));
    add("kernel_size", pair_field(*kwargs, "kernel"));
    add("stride", pair_field(*kwargs, "stride"));
    add("padding", pair_field(*kwargs, "padding"));
    add("dilation", ints({1, 1}));
    return {};
  } else if (op == "ttnn.layer_norm" || op == "ttnn.rms_norm") {
    add("arg0", tensor(0));
    if (out.inputs.size() > 1) add("weight", tensor(1));
    if (out.inputs.size() > 2) add("bias", tensor(2));
  } else if (op == "ttnn.linear" && out.inputs.size() == 3) {
    add("arg0", tensor(0));
    add("arg1", tensor(1));
    add("bias", tensor(2));
  } else {
    for (std::size_t i = 0; i < out.inputs.size(); ++i) add(fmt::format("arg{}", i), tensor(i));
  }
  const Shape& shape = out.inputs[0].spec.shape;
  const Shape& result = out.results[0].spec.shape;
  if (op == "ttnn.reshape") add("arg1", ints(result));
  if (op == "ttnn.slice") {
    add("arg1", ints(Shape(shape.size(), 0)));
    add("arg2", ints(result));
  }
  if (op == "ttnn.pad") {
    List pads;
    for (std::size_t i = 0; i < shape.size(); ++i) pads.push_back(ints({0, result[i] - shape[i]}));
    add("arg1", Value(std::move(pads)));
    // The index does not name the value that was padded with; the last element shows it.
    add("arg2", Value(static_cast<double>(out.results[0].floats.back())));
  }
  if (op == "ttnn.repeat") {
    Shape times;
    for (std::size_t i = 0; i < shape.size(); ++i) times.push_back(shape[i] == 0 ? 1 : result[i] / shape[i]);
    add("arg1", ints(times));
  }
  if (op == "ttnn.to_layout") add("arg1", Value(Enum{"Layout", "ROW_MAJOR"}));
  if (op == "ttnn.experimental.nlp_create_qkv_heads") add("transpose_k_heads", Value(false));
  Fields compute;
  for (std::size_t i = 0; i < kwargs->count; ++i) {
    const std::string key(kwargs->fields[i].key);
    const json::Node& field = kwargs->fields[i].value;
    OPWRIGHT_TRY_ASSIGN(Value value, decode_value(field));
    if (key == "math_fidelity" || key == "fp32_dest_acc_en" || key == "packer_l1_acc") {
      compute.emplace_back(key, std::move(value));
    } else if (key == "scalar") {
      add("arg1", std::move(value));
    } else if (key == "dtype") {
      OPWRIGHT_TRY_ASSIGN(const DType dtype, dtype_of(field.text));
      add("dtype", Value(Enum{"DataType", std::string(name_of(dtype))}));
    } else if (key == "dims" && op == "ttnn.transpose") {  // two of them: see what_is_missing()
      const Shape dims = numbers_field(*kwargs, key);
      add("arg1", Value(dims[0]));
      add("arg2", Value(dims[1]));
    } else if (key == "dims") {
      add("arg1", std::move(value));
    } else if (key != "outputs") {
      add(key, std::move(value));
    }
  }
  if (!compute.empty()) add("compute_kernel_config", Value::structure("ComputeKernelConfig", std::move(compute)));
  return {};
}

Result<OracleCase> case_of(const json::Node& entry, std::string_view data) {
  OracleCase out;
  out.id = entry.string_field("name").value_or("");
  OPWRIGHT_TRY_ASSIGN(out.board, find_board("n150"));
  const json::Node* inputs = entry.find("inputs");
  const json::Node* outputs = entry.find("outputs");
  if (inputs == nullptr || outputs == nullptr || outputs->count == 0 || inputs->count == 0)
    return fail(ErrorCode::kBadInput, "a case needs inputs and outputs");
  for (const json::Node& input : *inputs) {
    OPWRIGHT_TRY_ASSIGN(HostTensor tensor, tensor_of(input, data));
    // Bit patterns are what the device held; values were encoded on the host.
    if (input.string_field("stored") != "bf16") quantize(tensor);
    out.inputs.push_back(std::move(tensor));
  }
  if (const json::Node* weight = entry.find("weight")) {
    OPWRIGHT_TRY_ASSIGN(HostTensor tensor, tensor_of(*weight, data));
    tensor.spec.layout.value = Layout::kRowMajor;
    tensor.spec.storage.value = StorageType::kHost;
    out.inputs.push_back(std::move(tensor));
  }
  for (const json::Node& output : *outputs) {
    OPWRIGHT_TRY_ASSIGN(HostTensor tensor, tensor_of(output, data));
    out.results.push_back(std::move(tensor));
  }
  OPWRIGHT_TRY(spell_out(entry, out));
  return out;
}

}  // namespace

Status read_numeric_oracle(const std::string& path, const std::function<Status(OracleCase&&)>& use) {
  OPWRIGHT_TRY_ASSIGN(Input index_file, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const Text index, std::move(index_file).read_all());
  OPWRIGHT_TRY_ASSIGN(Input data_file, Input::open(path.substr(0, path.size() - 5) + ".bin"));
  OPWRIGHT_TRY_ASSIGN(const Text data, std::move(data_file).read_all());
  json::Document document;
  const auto root = document.parse(index.view());
  if (!root) return fail(ErrorCode::kBadInput, fmt::format("{}: {}", path, json::describe(index.view(), root.error())));
  const json::Node* cases = *root;
  if (const json::Node* inner = cases->find("cases")) cases = inner;
  if (!cases->is(json::Kind::kArray))
    return fail(ErrorCode::kBadInput, fmt::format("{}: not an index of numeric cases", path));
  for (const json::Node& entry : *cases) {
    auto parsed = case_of(entry, data.view());
    if (!parsed)
      return fail(parsed.error().code, fmt::format("{}: case {}: {}", path, entry.string_field("name").value_or("?"),
                                                   parsed.error().message));
    OPWRIGHT_TRY(use(std::move(*parsed)));
  }
  return {};
}

}  // namespace opwright
