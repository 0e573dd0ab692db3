#include "device/external/messages.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/json_object.h"
#include "model/call_json.h"

namespace opwright {
namespace {

// The beginning of a line that makes no sense, for a message.
std::string shown(std::string_view line) {
  constexpr std::size_t kMost = 200;
  return line.size() > kMost ? std::string(line.substr(0, kMost)) + "…" : std::string(line);
}

bool flag(const json::Node& node, std::string_view key) {
  const json::Node* field = node.find(key);
  return field != nullptr && field->is_true();
}

std::optional<double> number(const json::Node& node) {
  if (!node.is(json::Kind::kNumber)) return std::nullopt;
  return std::strtod(std::string(node.text).c_str(), nullptr);
}

std::optional<double> number_field(const json::Node& node, std::string_view key) {
  const json::Node* field = node.find(key);
  return field == nullptr ? std::nullopt : number(*field);
}

Result<Board> board_of(const json::Node& hello) {
  const json::Node* given = hello.find("board");
  if (given == nullptr) return fail(ErrorCode::kBadInput, "it names no \"board\"");
  if (given->is(json::Kind::kString)) return find_board(given->text);
  const auto name = given->string_field("name");
  if (!name) return fail(ErrorCode::kBadInput, "its \"board\" has no \"name\"");
  // One that we do not know is like the smallest that we know, with the grid it says.
  auto board = find_board(given->string_field("like").value_or(*name));
  if (!board) board = find_board("n150");
  board->name = *name;
  const json::Node* grid = given->find("grid");
  if (grid != nullptr) {
    const auto x = grid->count == 2 ? grid->items[0].as_int64() : std::nullopt;
    const auto y = grid->count == 2 ? grid->items[1].as_int64() : std::nullopt;
    if (!x || !y || *x < 1 || *y < 1) return fail(ErrorCode::kBadInput, "the \"grid\" of its board is no [x, y]");
    board->grid = {*x, *y};
  }
  return board;
}

std::optional<Numerics> parse_numerics(std::string_view name) {
  for (const Numerics numerics : {Numerics::kNone, Numerics::kExactModel, Numerics::kReal})
    if (name_of(numerics) == name) return numerics;
  return std::nullopt;
}

std::optional<DeviceAnswer::Kind> parse_kind(std::string_view name) {
  if (name == "ok") return DeviceAnswer::Kind::kOk;
  if (name == "refused") return DeviceAnswer::Kind::kRefused;
  if (name == "out_of_memory") return DeviceAnswer::Kind::kOutOfMemory;
  if (name == "unsupported") return DeviceAnswer::Kind::kUnsupported;
  if (name == "error") return DeviceAnswer::Kind::kError;
  return std::nullopt;
}

// "RuntimeError: TT_FATAL … (condition at file:12)"
std::string error_text(const json::Node& error, DeviceAnswer::Kind kind) {
  std::string text(error.string_field("message").value_or(""));
  const std::string_view condition = error.string_field("condition").value_or("");
  if (!condition.empty() && text.find(condition) == std::string::npos) text += fmt::format(" ({})", condition);
  const std::string_view file = error.string_field("file").value_or("");
  if (!file.empty() && text.find(file) == std::string::npos) {
    text += fmt::format(" at {}", file);
    if (const json::Node* line = error.find("line"); line != nullptr && line->is(json::Kind::kNumber))
      text += fmt::format(":{}", line->text);
  }
  const std::string_view type = error.string_field("type").value_or("");
  if (kind == DeviceAnswer::Kind::kError && !type.empty() && !text.starts_with(type))
    text = fmt::format("{}: {}", type, text);
  if (error.string_field("stage").value_or("") == "input") text = "while an input was made: " + text;
  return text;
}

std::string places_json(const std::vector<SharedPlace>& places, std::span<const OutputSpec> specs) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < places.size(); ++i) {
    JsonObject place;
    place.add("offset", static_cast<std::int64_t>(places[i].offset))
        .add("bytes", static_cast<std::int64_t>(places[i].bytes))
        .add("type", places[i].type);
    if (i < specs.size())
      place.add_raw("shape", fmt::format("[{}]", fmt::join(specs[i].spec.shape, ", ")))
          .add("dtype", specs[i].spec.dtype.name());
    items.push_back(place.text());
  }
  return json_array(items, true);
}

}  // namespace

Result<Capabilities> parse_hello(std::string_view line) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: {}", what, shown(line)));
  };
  json::Document document;
  const auto root = document.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject)) return bad("its first line is no hello");
  const json::Node* hello = (*root)->find("hello");
  const json::Node* protocol = (*root)->find("protocol");
  if (hello == nullptr || !hello->is(json::Kind::kObject) || protocol == nullptr)
    return bad("its first line is no hello");
  if (protocol->as_int64() != kDeviceProtocol)
    return fail(ErrorCode::kUnsupported, fmt::format("it speaks version {} of the device protocol, this program {}",
                                                     protocol->text, kDeviceProtocol));
  Capabilities can;
  can.name = hello->string_field("name").value_or("");
  if (can.name.empty()) return bad("its hello has no \"name\"");
  const auto numerics = parse_numerics(hello->string_field("numerics").value_or(""));
  if (!numerics) return bad("the \"numerics\" of its hello are not real, exact-model or none");
  can.numerics = *numerics;
  auto board = board_of(*hello);
  if (!board) return bad(board.error().message);
  can.board = *std::move(board);
  can.memory_report = flag(*hello, "memory");
  can.timing = flag(*hello, "timing");
  can.mesh = flag(*hello, "mesh");
  can.capture = flag(*hello, "capture");
  can.golden = flag(*hello, "golden");
  can.recorded_calls = true;
  if (const json::Node* versions = hello->find("versions"); versions != nullptr && versions->is(json::Kind::kObject))
    for (std::size_t i = 0; i < versions->count; ++i)
      can.versions.emplace(versions->fields[i].key, versions->fields[i].value.text);
  return can;
}

Result<std::string> run_request(std::int64_t id, const DeviceCall& call, const SharedData* data) {
  OPWRIGHT_TRY_ASSIGN(const std::string call_text, encode_call(call.call.op, call.call.args, /*slots=*/true));
  return JsonObject()
      .add("id", id)
      .add("do", call.golden ? "golden" : "run")
      .add_raw("call", call_text)
      .add("data", data == nullptr ? "" : data->path())
      .add_raw("inputs", data == nullptr ? "[]" : places_json(data->inputs(), {}))
      .add_raw("outputs", data == nullptr ? "[]" : places_json(data->outputs(), call.outputs))
      .add("repeat", std::int64_t{call.repeat})
      .add_bool("memory", call.memory)
      .add_bool("capture", call.capture)
      .text();
}

Result<std::optional<DeviceAnswer>> parse_answer(std::string_view line, std::int64_t id) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: {}", what, shown(line)));
  };
  json::Document document;
  const auto root = document.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject)) return bad("the device wrote a line that is no JSON object");
  const json::Node& fields = **root;
  if (fields.find("beat") != nullptr && fields.find("outcome") == nullptr) return std::nullopt;
  const json::Node* answered = fields.find("id");
  if (answered == nullptr || answered->as_int64() != id)
    return bad(fmt::format("the device answered request {} instead of {}",
                           answered == nullptr      ? "?"
                           : answered->text.empty() ? "null"
                                                    : answered->text,
                           id));
  const auto kind = parse_kind(fields.string_field("outcome").value_or(""));
  if (!kind) return bad("the device answered with an outcome that the protocol does not know");
  DeviceAnswer answer;
  answer.kind = *kind;
  answer.argument = fields.string_field("argument").value_or("");
  if (const json::Node* error = fields.find("error"); error != nullptr && error->is(json::Kind::kObject)) {
    answer.message = error_text(*error, *kind);
    if (answer.argument.empty()) answer.argument = error->string_field("argument").value_or("");
  }
  if (answer.message.empty() && *kind != DeviceAnswer::Kind::kOk)
    answer.message = fmt::format("{}, without a word why", fields.string_field("outcome").value_or(""));
  if (const json::Node* outputs = fields.find("outputs"))
    for (const json::Node& output : *outputs) {
      auto spec = decode_output(output);
      if (!spec) return bad(fmt::format("an output of the answer: {}", spec.error().message));
      answer.outputs.push_back(*std::move(spec));
    }
  if (const json::Node* written = fields.find("written"); written != nullptr && written->as_int64().value_or(-1) >= 0)
    answer.written = static_cast<std::size_t>(*written->as_int64());
  if (const json::Node* seconds = fields.find("seconds"))
    for (const json::Node& one : *seconds) answer.seconds.push_back(number(one).value_or(0));
  answer.kernel_seconds = number_field(fields, "kernel_seconds");
  answer.memory.l1_per_core = static_cast<std::int64_t>(number_field(fields, "l1_per_core").value_or(0));
  answer.memory.dram = static_cast<std::int64_t>(number_field(fields, "dram").value_or(0));
  answer.trace = fields.string_field("trace").value_or("");
  return answer;
}

}  // namespace opwright
