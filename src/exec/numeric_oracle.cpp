#include "exec/numeric_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "base/input.h"
#include "exec/oracle_spellings.h"
#include "model/call_json.h"
#include "model/position_name.h"
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

Value number_field(const json::Node& kwargs, std::string_view key) {
  const json::Node* number = kwargs.find(key);
  return Value(number != nullptr ? number->as_int64().value_or(0) : 0);
}

// One argument of a row of the table.
Result<Value> spelled(const SpelledArgument& argument, const json::Node& kwargs, OracleCase& out) {
  const std::string& op = out.config.op;
  const Shape& shape = out.inputs[0].spec.shape;
  const Shape& result = out.results[0].spec.shape;
  const auto needs_list = [&] {
    return fail(ErrorCode::kBadInput, fmt::format("{} needs a list \"{}\"", op, argument.key));
  };
  const auto per_dimension = [&](const auto& of) -> Result<Value> {
    if (result.size() < shape.size())
      return fail(ErrorCode::kBadInput, fmt::format("the output of {} has fewer dims than its input", op));
    List list;
    for (std::size_t i = 0; i < shape.size(); ++i) list.push_back(of(shape[i], result[i]));
    return Value(std::move(list));
  };
  switch (argument.from) {
    case From::kNothing:
      break;
    case From::kInput:
    case From::kInputIf:
      if (out.inputs.size() <= argument.at)
        return fail(ErrorCode::kBadInput, fmt::format("{} needs {} inputs", op, argument.at + 1));
      return Value::tensor(out.inputs[argument.at].spec);
    case From::kInputTwice:
      out.inputs.push_back(out.inputs[0]);
      return Value(List{Value::tensor(out.inputs[0].spec), Value::tensor(out.inputs[1].spec)});
    case From::kIds: {
      HostTensor ids{tile_in_dram({}, DType::kUint32), {}, numbers_field(kwargs, argument.key)};
      if (ids.ints.empty()) return needs_list();
      ids.spec.shape = {1, static_cast<std::int64_t>(ids.ints.size())};
      out.inputs.insert(out.inputs.begin(), std::move(ids));
      for (HostTensor& input : out.inputs) input.spec.layout.value = Layout::kRowMajor;
      return Value::tensor(out.inputs[0].spec);
    }
    case From::kNumber:
      return number_field(kwargs, argument.key);
    case From::kNumbers:
      return ints(numbers_field(kwargs, argument.key));
    case From::kItem: {
      const Shape numbers = numbers_field(kwargs, argument.key);
      if (numbers.size() < 2) return needs_list();
      return Value(numbers[argument.at]);
    }
    case From::kOne:
      return Value(std::int64_t{1});
    case From::kOnes:
      return ints({1, 1});
    case From::kZeros:
      return ints(Shape(shape.size(), 0));
    case From::kResultShape:
      return ints(result);
    case From::kGrowth:
      return per_dimension([](std::int64_t from, std::int64_t to) { return ints({0, to - from}); });
    case From::kTimes:
      return per_dimension([](std::int64_t from, std::int64_t to) { return Value(from == 0 ? 1 : to / from); });
    case From::kLastResult:
      if (out.results[0].floats.empty())
        return fail(ErrorCode::kBadInput, fmt::format("{} needs an output with elements", op));
      return Value(static_cast<double>(out.results[0].floats.back()));
    case From::kRowMajor:
      return Value(Enum{"Layout", "ROW_MAJOR"});
    case From::kFalse:
      return Value(false);
  }
  return Value();
}

// The index writes calls in short; this says what was called.
Status spell_out(const json::Node& entry, OracleCase& out) {
  OpConfig& config = out.config;
  config.op = entry.string_field("op").value_or("");
  const json::Node nothing{json::Kind::kObject};
  const json::Node* kwargs = entry.find("kwargs");
  if (kwargs == nullptr || !kwargs->is(json::Kind::kObject)) kwargs = &nothing;
  if (out.inputs.empty() || out.results.empty())
    return fail(ErrorCode::kBadInput, "a case needs inputs and outputs, each a list of tensors");
  const auto add = [&](std::string name, Value value) { config.args.push_back({std::move(name), std::move(value)}); };

  std::set<std::string_view> taken{"outputs"};  // keywords that the table has made arguments of
  if (const auto row = std::ranges::find(kSpellings, config.op, &Spelling::op); row != kSpellings.end()) {
    for (const SpelledArgument& argument : row->arguments) {
      if (argument.from == From::kNothing) break;
      if (argument.from == From::kInputIf && out.inputs.size() <= argument.at) continue;
      OPWRIGHT_TRY_ASSIGN(Value value, spelled(argument, *kwargs, out));
      add(std::string(argument.name), std::move(value));
      taken.insert(argument.key);
    }
    if (row->whole) return {};
  } else {
    for (std::size_t i = 0; i < out.inputs.size(); ++i) add(position_name(i), Value::tensor(out.inputs[i].spec));
  }
  Fields compute;
  for (std::size_t i = 0; i < kwargs->count; ++i) {
    const std::string key(kwargs->fields[i].key);
    if (taken.contains(key)) continue;
    const json::Node& field = kwargs->fields[i].value;
    OPWRIGHT_TRY_ASSIGN(Value value, decode_value(field));
    if (key == "math_fidelity" || key == "fp32_dest_acc_en" || key == "packer_l1_acc") {
      compute.emplace_back(key, std::move(value));
    } else if (key == "scalar" || key == "dims") {
      add(position_name(1), std::move(value));
    } else if (key == "dtype") {
      OPWRIGHT_TRY_ASSIGN(const DType dtype, dtype_of(field.text));
      add("dtype", Value(Enum{"DataType", std::string(name_of(dtype))}));
    } else {
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
