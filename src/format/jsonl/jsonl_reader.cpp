#include "format/jsonl/jsonl_reader.h"

#include <fmt/format.h>

#include <optional>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "format/jsonl/to_native.h"
#include "format/native/spooled_trace.h"

namespace opwright::format {
namespace {

using json::Kind;
using json::Node;

// {"type": "RuntimeError", "message": "…"} is "RuntimeError: …", a text itself, anything else its JSON.
std::string error_text(const Node& error) {
  if (error.is(Kind::kString)) return std::string(error.text);
  const auto type = error.string_field("type"), message = error.string_field("message");
  if (type && message) return fmt::format("{}: {}", *type, *message);
  std::string text;
  json::append_python(text, error, {});
  return text;
}

}  // namespace

Status read_op_jsonl(Input& input, const std::string& path, TraceSink& sink) {
  json::Document document;
  StreamHash digest;
  std::string arguments;
  std::optional<SpooledTrace> spool;
  std::optional<JsonlConverter> converter;
  if (sink.keeps_calls()) {
    OPWRIGHT_TRY_ASSIGN(SpooledTrace created, SpooledTrace::create());
    spool.emplace(std::move(created));
    converter.emplace(*spool);
  }
  while (true) {
    const auto next = input.next_line();
    if (!next && next.error().code == ErrorCode::kUnsupported) return fail(next.error());  // beyond a limit
    if (!next) {  // a cut tail: what came before it is whole
      sink.lose({"cut_input", path, input.bytes_read(), next.error().message});
      break;
    }
    const auto& line = *next;
    if (!line) break;
    digest.add(*line);
    digest.add("\n");
    sink.add_bytes(line->size() + 1);
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) {
      const std::string_view blank = input.blank_lines();
      digest.add(blank);
      sink.add_bytes(blank.size());
      continue;
    }
    const bool marked = input.line_offset() == 0 && line->starts_with("\xEF\xBB\xBF");  // byte order mark
    const auto root = document.parse(marked ? line->substr(3) : *line);
    if (!root) {
      sink.lose({"damaged_line", path, input.line_offset() + root.error().offset, root.error().what});
      continue;
    }
    const Node& record = **root;
    if (document.duplicate_keys() > 0)
      sink.lose(
          {"duplicate_key", path, input.line_offset(), "a key stands twice in an object; the last one was taken"});
    const auto op = record.string_field("op_name");
    const Node* inputs = record.find("inputs");
    const Node* kwargs = record.find("kwargs");
    if (!op || inputs == nullptr || !inputs->is(Kind::kArray)) {
      sink.lose({"unknown_shape", path, input.line_offset(), "a line without op_name or inputs"});
      continue;
    }
    if (converter) converter->record(record, *op, *inputs);
    if (const Node* output = record.find("output"); !converter && output != nullptr && !output->is(Kind::kNull))
      sink.leave_out("return values", 1);
    arguments = "{\"inputs\": ";
    json::append_python(arguments, *inputs, {});
    arguments += ", \"kwargs\": ";
    if (kwargs != nullptr)
      json::append_python(arguments, *kwargs, {.sort_keys = true});
    else
      arguments += "{}";
    arguments += '}';
    Observed observed;
    observed.kind = FormKind::kOpJsonl;
    observed.op = *op;
    observed.arguments = arguments;
    observed.path = path;
    observed.offset = input.line_offset();
    Sighting sighting;
    if (const auto test = record.string_field("test_nodeid")) sighting.source = *test;
    std::string uid;
    if (const auto run = record.string_field("run_id")) sighting.trace_uid = uid = fmt::format("run_id:{}", *run);
    sighting.count = 1;
    std::string raised;
    if (const Node* error = record.find("error"); error != nullptr && !error->is(Kind::kNull)) {
      sighting.raised = 1;
      sighting.error = raised = error_text(*error);
    }
    observed.sightings.push_back(sighting);
    OPWRIGHT_TRY(sink.observe(observed));
  }
  if (converter) {
    OPWRIGHT_TRY(converter->finish(digest.digest()));
    OPWRIGHT_TRY(spool->keep(path, sink));
  }
  TraceInfo info;
  info.uid = "content:" + to_hex(digest.digest());
  info.format = "op-jsonl";
  info.path = path;
  return sink.end_trace(info);
}

}  // namespace opwright::format
