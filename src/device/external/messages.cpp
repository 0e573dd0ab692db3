#include "device/external/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/json_object.h"
#include "model/call_json.h"

namespace opwright {
namespace {

constexpr std::size_t kMostWords = 16384;  // of a message; backtraces are long, and nobody reads more
constexpr std::size_t kMostOutputs = 1024;
constexpr std::size_t kMostVersions = 256;

// The beginning of a line that makes no sense, for a message: what is no text is shown as '?'.
bool beats(const json::Node& fields) { return fields.find("beat") != nullptr && fields.find("outcome") == nullptr; }

std::string shown(std::string_view line) {
  constexpr std::size_t kMost = 200;
  std::string out(line.substr(0, kMost));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return out + (line.size() > kMost ? "…" : "");
}

// A text of a device, no longer than a person reads; what is cut is counted. Characters are not cut in two.
std::string cut_words(std::string_view text, std::size_t most = kMostWords) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}… ({} bytes more)", text.substr(0, end), text.size() - end);
}

bool flag(const json::Node& node, std::string_view key) {
  const json::Node* field = node.find(key);
  return field != nullptr && field->is_true();
}

// A time or a size: finite, not negative, and no larger than `most`. Left out and null are "not known".
Result<std::optional<double>> measure(const json::Node* node, std::string_view name, double most) {
  if (node == nullptr || node->is(json::Kind::kNull)) return std::optional<double>();
  const double value =
      node->is(json::Kind::kNumber) ? std::strtod(std::string(node->text).c_str(), nullptr) : std::nan("");
  if (!(value >= 0 && value <= most))
    return fail(ErrorCode::kBadInput, fmt::format("the device answered with \"{}\" that cannot be: {}", name,
                                                  node->text.empty() ? "no number" : shown(node->text.substr(0, 40))));
  return std::optional<double>(value);
}
constexpr double kMostSeconds = 1e9;
constexpr double kMostMemory = 1e18;  // bytes
constexpr std::size_t kMostTimes = 1'000'000;

// One an iteration.
Result<std::vector<double>> times_of(const json::Node& answer, std::string_view name) {
  std::vector<double> out;
  const json::Node* list = answer.find(name);
  if (list == nullptr) return out;
  if (list->is(json::Kind::kArray) && list->count > kMostTimes)
    return fail(ErrorCode::kBadInput, fmt::format("the device answered with more than {} \"{}\"", kMostTimes, name));
  for (const json::Node& one : *list) {
    OPWRIGHT_TRY_ASSIGN(const auto value, measure(&one, name, kMostSeconds));
    out.push_back(value.value_or(0));
  }
  return out;
}

Result<Board> board_of(const json::Node& hello) {
  const json::Node* given = hello.find("board");
  if (given == nullptr) return fail(ErrorCode::kBadInput, "it names no \"board\"");
  if (given->is(json::Kind::kString)) return find_board(given->text);
  const auto name = given->string_field("name");
  if (!name) return fail(ErrorCode::kBadInput, "its \"board\" has no \"name\"");
  if (name->size() > 256) return fail(ErrorCode::kBadInput, "the name of its board is longer than any");
  // One that we do not know is like the smallest that we know, with the grid it says.
  auto board = find_board(given->string_field("like").value_or(*name));
  if (!board) board = find_board("n150");
  board->name = *name;
  const json::Node* grid = given->find("grid");
  if (grid != nullptr) {
    const bool is_pair = grid->is(json::Kind::kArray) && grid->count == 2;
    const auto x = is_pair ? grid->items[0].as_int64() : std::nullopt;
    const auto y = is_pair ? grid->items[1].as_int64() : std::nullopt;
    constexpr std::int64_t kMostCores = 1024;  // on a side
    if (!x || !y || *x < 1 || *y < 1 || *x > kMostCores || *y > kMostCores)
      return fail(ErrorCode::kBadInput, "the \"grid\" of its board is no [x, y]");
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
  std::string text = cut_words(error.string_field("message").value_or(""));
  const std::string condition = cut_words(error.string_field("condition").value_or(""));
  if (!condition.empty() && text.find(condition) == std::string::npos) text += fmt::format(" ({})", condition);
  const std::string file = cut_words(error.string_field("file").value_or(""), 1024);
  if (!file.empty() && text.find(file) == std::string::npos) {
    text += fmt::format(" at {}", file);
    if (const json::Node* line = error.find("line"); line != nullptr && line->is(json::Kind::kNumber))
      text += fmt::format(":{}", line->text.substr(0, 20));
  }
  const std::string type = cut_words(error.string_field("type").value_or(""), 256);
  if (kind == DeviceAnswer::Kind::kError && !type.empty() && !text.starts_with(type))
    text = fmt::format("{}: {}", type, text);
  if (error.string_field("stage").value_or("") == "input") text = "while an input was made: " + text;
  return text;
}

// Shapes are multiplied later, by whoever counts elements and bytes.
std::string impossible(const OutputSpec& output) {
  for (const Shape* shape : {&output.spec.shape, &output.padded}) {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    std::int64_t elements = 1;
    for (const std::int64_t n : *shape) {
      if (n < 0 || n > kMost) return fmt::format("a side of {}", n);
      if (n > 0 && elements > kMost / n) return "more elements than any memory holds";
      elements *= std::max<std::int64_t>(n, 1);
    }
  }
  return "";
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
                                                     shown(protocol->text), kDeviceProtocol));
  Capabilities can;
  can.name = cut_words(hello->string_field("name").value_or(""), 256);
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
  if (const json::Node* perf = hello->find("perf"); perf != nullptr && perf->is(json::Kind::kObject)) {
    can.perf.refusal = cut_words(perf->string_field("refused").value_or(""), 1024);
    can.perf.eager = can.perf.refusal.empty();
    can.perf.trace = flag(*perf, "trace");
    can.perf.cache_off = flag(*perf, "program_cache");
    can.perf.device_time = flag(*perf, "device_time");
  }
  can.recorded_calls = true;
  if (const json::Node* versions = hello->find("versions"); versions != nullptr && versions->is(json::Kind::kObject))
    for (std::size_t i = 0; i < std::min<std::size_t>(versions->count, kMostVersions); ++i)
      can.versions.emplace(cut_words(versions->fields[i].key, 256), cut_words(versions->fields[i].value.text, 256));
  return can;
}

Result<std::string> run_request(std::int64_t id, const DeviceCall& call, const SharedData* data,
                                const std::string& folder, const TimingOrder* timing) {
  OPWRIGHT_TRY_ASSIGN(const std::string call_text, encode_call(call.call.op, call.call.args, /*slots=*/true));
  JsonObject request;
  request.add("id", id).add("do", timing != nullptr ? "time" : call.golden ? "golden" : "run");
  if (timing != nullptr)
    request.add_raw("time", JsonObject()
                                .add("warm_up", std::int64_t{timing->warm_up})
                                .add("iterations", std::int64_t{timing->iterations})
                                .add_bool("device_time", timing->device_time)
                                .add_bool("trace", timing->trace)
                                .add_bool("program_cache", timing->program_cache)
                                .text());
  return request.add_raw("call", call_text)
      .add("data", data == nullptr ? "" : data->path())
      .add_raw("inputs", data == nullptr ? "[]" : places_json(data->inputs(), {}))
      .add_raw("outputs", data == nullptr ? "[]" : places_json(data->outputs(), call.outputs))
      .add("repeat", std::int64_t{call.repeat})
      .add_bool("memory", call.memory)
      .add_bool("capture", call.capture)
      .add("folder", call.capture ? folder : "")
      .text();
}

bool is_beat(std::string_view line) {
  json::Document document;
  const auto root = document.parse(line);
  return root && (*root)->is(json::Kind::kObject) && beats(**root);
}

std::string one_too_many(std::string_view line) {
  return fmt::format("the device wrote a line more than it was asked for: {}", shown(line));
}

Result<std::optional<DeviceAnswer>> parse_answer(std::string_view line, std::int64_t id) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: {}", what, shown(line)));
  };
  json::Document document;
  const auto root = document.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject)) return bad("the device wrote a line that is no JSON object");
  const json::Node& fields = **root;
  if (beats(fields)) return std::nullopt;
  const json::Node* answered = fields.find("id");
  if (answered == nullptr || answered->as_int64() != id)
    return bad(fmt::format("the device answered request {} instead of {}",
                           answered == nullptr      ? std::string("?")
                           : answered->text.empty() ? "null"
                                                    : shown(answered->text),
                           id));
  const auto kind = parse_kind(fields.string_field("outcome").value_or(""));
  if (!kind) return bad("the device answered with an outcome that the protocol does not know");
  DeviceAnswer answer;
  answer.kind = *kind;
  answer.argument = cut_words(fields.string_field("argument").value_or(""), 1024);
  if (const json::Node* error = fields.find("error"); error != nullptr && error->is(json::Kind::kObject)) {
    answer.message = error_text(*error, *kind);
    if (answer.argument.empty()) answer.argument = cut_words(error->string_field("argument").value_or(""), 1024);
  }
  if (answer.message.empty() && *kind != DeviceAnswer::Kind::kOk)
    answer.message = fmt::format("{}, without a word why", fields.string_field("outcome").value_or(""));
  if (const json::Node* outputs = fields.find("outputs"); outputs != nullptr && !outputs->is(json::Kind::kNull)) {
    if (!outputs->is(json::Kind::kArray) || outputs->count > kMostOutputs)
      return bad(fmt::format("the \"outputs\" of the answer are no list of at most {}", kMostOutputs));
    for (const json::Node& output : *outputs) {
      auto spec = decode_output(output);
      if (!spec) return bad(fmt::format("an output of the answer: {}", spec.error().message));
      if (const std::string wrong = impossible(*spec); !wrong.empty())
        return bad(fmt::format("an output of the answer: {}", wrong));
      answer.outputs.push_back(*std::move(spec));
    }
  }
  if (const json::Node* written = fields.find("written"); written != nullptr && !written->is(json::Kind::kNull)) {
    const auto count = written->as_int64();
    if (!count || *count < 0) return bad("the device answered with \"written\" that is no number of outputs");
    answer.written = static_cast<std::size_t>(*count);
  }
  OPWRIGHT_TRY_ASSIGN(answer.seconds, times_of(fields, "seconds"));
  OPWRIGHT_TRY_ASSIGN(answer.host_seconds, times_of(fields, "host_seconds"));
  OPWRIGHT_TRY_ASSIGN(answer.device_seconds, times_of(fields, "device_seconds"));
  OPWRIGHT_TRY_ASSIGN(answer.kernel_seconds, measure(fields.find("kernel_seconds"), "kernel_seconds", kMostSeconds));
  OPWRIGHT_TRY_ASSIGN(const auto l1, measure(fields.find("l1_per_core"), "l1_per_core", kMostMemory));
  OPWRIGHT_TRY_ASSIGN(const auto dram, measure(fields.find("dram"), "dram", kMostMemory));
  answer.memory.l1_per_core = static_cast<std::int64_t>(l1.value_or(0));
  answer.memory.dram = static_cast<std::int64_t>(dram.value_or(0));
  answer.trace = fields.string_field("trace").value_or("");
  return answer;
}

}  // namespace opwright
