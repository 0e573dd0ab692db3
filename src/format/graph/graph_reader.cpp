#include "format/graph/graph_reader.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json_write.h"
#include "format/graph/to_native.h"
#include "format/native/spooled_trace.h"

namespace opwright::format {
namespace {

using json::Kind;
using json::Node;

// What of a tensor node describes the tensor; ids, addresses and sizes do not.
constexpr std::array<std::string_view, 5> kTensorFields{"dtype", "layout", "memory_config", "shape", "storage_type"};

void append_tensor(std::string& out, const Node& params) {
  out += "{\"Tensor\": {";
  bool first = true;
  for (const std::string_view name : kTensorFields) {
    const Node* value = params.find(name);
    if (value == nullptr) continue;
    if (!first) out += ", ";
    first = false;
    json::append_quoted(out, name);
    out += ": ";
    json::append_python(out, *value, {});
  }
  out += "}}";
}

std::string uid_of(std::string_view text) { return "content:" + to_hex(xxh128(text)); }

Status end(std::string_view text, const std::string& path, std::string_view format, TraceSink& sink) {
  TraceInfo info;
  info.uid = uid_of(text);
  info.format = format;
  info.path = path;
  return sink.end_trace(info);
}

Status emit(FormKind kind, std::string_view op, std::string_view arguments, const std::string& path, TraceSink& sink) {
  Observed observed;
  observed.kind = kind;
  observed.op = op;
  observed.arguments = arguments;
  observed.path = path;
  Sighting sighting;
  sighting.count = 1;
  observed.sightings.push_back(sighting);
  return sink.observe(observed);
}

}  // namespace

Status read_graph(const Node& nodes, std::string_view text, const std::string& path, TraceSink& sink) {
  if (!nodes.is(Kind::kArray))
    return fail(ErrorCode::kNotATrace, fmt::format("{}: its 'graph' is not a list of nodes", path));
  // A tensor node lists the functions that consume it; the older format says it nowhere else.
  std::unordered_map<std::int64_t, const Node*> tensors;
  std::unordered_map<std::int64_t, std::vector<const Node*>> consumed;
  for (const Node& node : nodes) {
    if (node.string_field("node_type") != "tensor") continue;
    const Node* params = node.find("params");
    const Node* counter = node.find("counter");
    if (params == nullptr || counter == nullptr || !counter->as_int64()) continue;
    tensors[*counter->as_int64()] = params;
    if (const Node* connections = node.find("connections"); connections != nullptr && connections->is(Kind::kArray)) {
      for (const Node& target : *connections) {
        if (target.as_int64()) consumed[*target.as_int64()].push_back(params);
      }
    }
  }
  std::string arguments;
  std::size_t index = 0;
  for (const Node& node : nodes) {
    const std::size_t at = index++;
    if (node.string_field("node_type") != "function_start") continue;
    const Node* params = node.find("params");
    const auto name = params != nullptr ? params->string_field("name") : std::nullopt;
    const Node* counter = node.find("counter");
    if (!name || counter == nullptr || !counter->as_int64()) {
      sink.lose({"unknown_shape", path, 0, fmt::format("node {}: a function_start without a name or counter", at)});
      continue;
    }
    arguments.clear();
    const auto add_tensor = [&](const Node& tensor) {
      arguments += arguments.empty() ? "[" : ", ";
      append_tensor(arguments, tensor);
    };
    const Node* texts = node.find("arguments");
    if (texts != nullptr && texts->is(Kind::kArray) && texts->count > 0) {
      json::append_python(arguments, *texts, {});
      arguments.pop_back();
    } else if (texts != nullptr) {
      if (const Node* inputs = node.find("input_tensors"); inputs != nullptr && inputs->is(Kind::kArray)) {
        for (const Node& input : *inputs) {
          const auto found = input.as_int64() ? tensors.find(*input.as_int64()) : tensors.end();
          if (found != tensors.end())
            add_tensor(*found->second);
          else
            sink.lose({"unknown_shape", path, 0,
                       fmt::format("node {}: its input tensor {} is no node of the graph", at, input.text)});
        }
      }
    } else {
      for (const Node* tensor : consumed[*counter->as_int64()]) add_tensor(*tensor);
    }
    if (arguments.empty()) {
      sink.leave_out("graph calls that carry no arguments (their device operations do: see --all-ops)", 1);
      continue;
    }
    arguments += ']';
    OPWRIGHT_TRY(emit(FormKind::kGraph, *name, arguments, path, sink));
  }
  return end(text, path, "graph", sink);
}

Status read_python_io(const Node& records, std::string_view text, const std::string& path, TraceSink& sink) {
  std::string arguments;
  std::size_t index = 0;
  for (const Node& record : records) {
    const std::size_t at = index++;
    const auto name = record.string_field("name");
    const Node* texts = record.find("arguments");
    if (!name || texts == nullptr || !texts->is(Kind::kObject)) {
      sink.lose({"unknown_shape", path, 0, fmt::format("record {} has no name or arguments", at)});
      continue;
    }
    arguments.clear();
    json::append_python(arguments, *texts, {.sort_keys = true});
    OPWRIGHT_TRY(emit(FormKind::kPythonIo, *name, arguments, path, sink));
  }
  if (sink.keeps_calls()) {
    OPWRIGHT_TRY_ASSIGN(SpooledTrace spool, SpooledTrace::create());
    OPWRIGHT_TRY(python_io_to_native(records, uid_of(text), spool));
    OPWRIGHT_TRY(spool.keep(path, sink));
  }
  return end(text, path, "graph-python-io", sink);
}

}  // namespace opwright::format
