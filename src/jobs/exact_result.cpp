#include "jobs/exact_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/npy.h"
#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/output_fields.h"
#include "exec/plan_call.h"
#include "model/call_json.h"
#include "model/quantize.h"

namespace opwright::jobs {
namespace {

// It is for small cases: all values of all tensors are written out.
constexpr std::int64_t kMostElements = std::int64_t{1} << 22;

std::string hex_of(const std::vector<double>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return to_hex(bytes.data(), bytes.size());
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Result<std::vector<double>> values_of(std::string_view hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return fail(ErrorCode::kBadInput, "\"inputs\": no hexadecimal digits");
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  if (hex.size() % (2 * sizeof(double)) != 0)
    return fail(ErrorCode::kBadInput, "\"inputs\": not whole numbers of 64 bits");
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string refusal_json(const Refusal& refusal) {
  return JsonObject().add("outcome", name_of(outcome_of(refusal))).add("reason", refusal.message).text();
}

std::string tensor_json(const OutputSpec& spec, const std::vector<double>& values, std::string_view param) {
  JsonObject object;
  if (!param.empty()) object.add("param", param);
  return object.add_raw("spec", encode_output(spec)).add("values", hex_of(values)).text();
}

Status put_given(const std::vector<double>& values, HostTensor& tensor) {
  if (static_cast<std::int64_t>(values.size()) != tensor.size())
    return fail(ErrorCode::kBadInput,
                fmt::format("\"inputs\": {} values for {} elements", values.size(), tensor.size()));
  if (tensor.integer() && !std::ranges::all_of(values, [](double v) { return std::abs(v) < 0x1p63; }))
    return fail(ErrorCode::kBadInput, "\"inputs\": NaN, or beyond 64 bits, for a tensor of whole numbers");
  if (tensor.integer())
    tensor.ints.assign(values.begin(), values.end());
  else
    tensor.floats.assign(values.begin(), values.end());
  quantize(tensor);
  return {};
}

template <class T, class From>
std::string elements_of(const std::vector<From>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T element = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

// In the smallest type of numpy that holds every value of the dtype: block floats and bfloat16 are floats.
std::string npy_of(const HostTensor& tensor) {
  const Shape& shape = tensor.spec.shape;
  if (!tensor.integer()) return npy_header("<f4", shape) + elements_of<float>(tensor.floats);
  switch (tensor.spec.dtype.value) {
    case DType::kUint8:
      return npy_header("|u1", shape) + elements_of<std::uint8_t>(tensor.ints);
    case DType::kUint16:
      return npy_header("<u2", shape) + elements_of<std::uint16_t>(tensor.ints);
    case DType::kUint32:
      return npy_header("<u4", shape) + elements_of<std::uint32_t>(tensor.ints);
    case DType::kInt32:
      return npy_header("<i4", shape) + elements_of<std::int32_t>(tensor.ints);
    default:
      return npy_header("<i8", shape) + elements_of<std::int64_t>(tensor.ints);
  }
}

Result<std::string> save_inputs(const PlannedCall& plan, const std::vector<HostTensor>& inputs,
                                const std::string& folder) {
  std::vector<std::string> saved;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string file = fmt::format("{}/{}.npy", folder, i);
    OPWRIGHT_TRY(write_atomically(file, npy_of(inputs[i])));
    saved.push_back(JsonObject()
                        .add("param", plan.call.tensors[i].param)
                        .add_raw("spec", encode_output({inputs[i].spec, {}, {}}))
                        .add("file", file)
                        .text());
  }
  return JsonObject()
      .add("operation", plan.op->name)
      .add("op", plan.op->name)
      .add_raw("inputs", json_array(saved, true))
      .text();
}

}  // namespace

Result<ExactRequest> parse_exact_request(std::string_view line) {
  json::Document document;
  const auto root = document.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput, "a request is a JSON object with \"case\"");
  ExactRequest request;
  request.line = (*root)->string_field("case").value_or("");
  if (request.line.empty()) return fail(ErrorCode::kBadInput, "a request without \"case\"");
  request.board = (*root)->string_field("board").value_or(request.board);
  request.folder = (*root)->string_field("save_inputs").value_or("");
  if (const auto data = (*root)->string_field("data")) {
    const auto distribution = parse_distribution(*data);
    if (!distribution) return fail(ErrorCode::kBadInput, fmt::format("no distribution \"{}\"", *data));
    request.recipe.distribution = *distribution;
  }
  if (const auto seed = (*root)->string_field("seed")) {
    const auto [end, error] = std::from_chars(seed->data(), seed->data() + seed->size(), request.recipe.seed);
    if (error != std::errc() || end != seed->data() + seed->size())
      return fail(ErrorCode::kBadInput, "\"seed\" is no number in quotes");
  }
  const json::Node* inputs = (*root)->find("inputs");
  if (inputs == nullptr) return request;
  if (!inputs->is(json::Kind::kObject)) return fail(ErrorCode::kBadInput, "\"inputs\" is no object");
  for (std::uint32_t i = 0; i < inputs->count; ++i) {
    const std::string_view name = inputs->fields[i].key;
    std::int64_t place = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
    if (error != std::errc() || end != name.data() + name.size())
      return fail(ErrorCode::kBadInput, "\"inputs\": its names are places of tensors");
    OPWRIGHT_TRY_ASSIGN(request.given[place], values_of(inputs->fields[i].value.text));
  }
  return request;
}

Result<std::string> exact_result(const ExactRequest& request) {
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(request.line));
  OPWRIGHT_TRY_ASSIGN(const Board board, find_board(request.board));
  const auto plan = plan_call(config, board);
  if (!plan) return refusal_json(plan.error());
  if (!request.folder.empty()) return save_inputs(*plan, make_inputs(*plan, request.recipe), request.folder);
  if (plan->op->reference == nullptr)
    return refusal_json({Refusal::Kind::kUnsupported, "", fmt::format("{} has no reference", plan->op->name)});
  std::int64_t elements = 0;
  for (const TensorSlot& slot : plan->call.tensors) elements += volume(slot.spec.shape);
  for (const OutputSpec& output : plan->outputs) elements += volume(output.spec.shape);
  if (elements > kMostElements)
    return fail(ErrorCode::kUnsupported, fmt::format("a case of {} elements: at most {}", elements, kMostElements));
  std::vector<HostTensor> inputs = make_inputs(*plan, request.recipe);
  for (const auto& [place, values] : request.given) {
    if (place < 0 || place >= static_cast<std::int64_t>(inputs.size()))
      return fail(ErrorCode::kBadInput, fmt::format("\"inputs\": there is no tensor {}", place));
    OPWRIGHT_TRY(put_given(values, inputs[static_cast<std::size_t>(place)]));
  }
  std::vector<std::string> given, made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> values;
    for (std::int64_t e = 0; e < inputs[i].size(); ++e) values.push_back(inputs[i].at(e));
    given.push_back(tensor_json({inputs[i].spec, {}, {}}, values, plan->call.tensors[i].param));
  }
  for (std::size_t o = 0; o < plan->outputs.size(); ++o) {
    if (has_own_form(plan->outputs[o])) continue;  // it has no exact values
    const Shape& shape = plan->outputs[o].spec.shape;
    Rows rows;
    rows.length = std::max<std::int64_t>(1, row_length(shape));
    rows.total = volume(shape) / rows.length;
    const auto exact = plan->op->reference({plan->call, inputs, plan->outputs, o, rows});
    if (!exact) return refusal_json(exact.error());
    made.push_back(tensor_json(plan->outputs[o], exact->value, ""));
  }
  return JsonObject()
      .add("operation", plan->op->name)
      .add("op", plan->op->name)
      .add_raw("inputs", json_array(given, true))
      .add_raw("outputs", json_array(made, true))
      .text();
}

}  // namespace opwright::jobs
