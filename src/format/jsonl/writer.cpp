#include "format/jsonl/writer.h"

#include <fmt/format.h>

#include <ctime>
#include <unordered_map>

#include "base/json_write.h"
#include "format/native/call_stream.h"
#include "format/native/dropped.h"
#include "format/native/made_text.h"
#include "format/native/object_kinds.h"
#include "format/native/run_facts.h"

namespace opwright::format {
namespace {

using capture::Tag;

constexpr std::size_t kWriteAfter = 1 << 20;

std::string utc_second(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string member(const NativeValue* value) {
  if (value == nullptr || value->is_null()) return "None";
  return value->is(Tag::kEnum) ? std::string(value->text) : made_text(*value);
}

class LineWriter {
 public:
  explicit LineWriter(NativeTrace& trace) : trace_(trace), dropped_(trace, Target::kOpJsonl) {
    run_id_ = facts_of_run(trace).uid;
    if (run_id_.starts_with("run_id:"))
      run_id_ = run_id_.substr(7);
    else
      run_id_ = utc_second(trace.start_unix_ns());
  }

  // False when the call's value is not whole.
  bool line(const NativeCall& call, std::string& out) {
    const NativeValue* value = trace_.values().call(call.call);
    if (value == nullptr) return false;
    dropped_.add(call);
    const CallContext context = trace_.context(call.context);
    out += "{\"run_id\": ";
    json::append_quoted(out, run_id_);
    field(out, "test_nodeid");
    text_or_null(out, context.test);
    field(out, "module");
    text_or_null(out, context.label);
    out += fmt::format(", \"op_index\": {}", indices_[std::string(context.test)]++);
    field(out, "op_name");
    json::append_quoted(out, value->text);
    field(out, "start_ts");  // taken after the call, as the plugin does
    json::append_quoted(out, utc_second(trace_.start_unix_ns() + call.start_ns + call.duration_ns));
    field(out, "duration_ms");
    json::append_float(out, static_cast<double>(call.duration_ns) / 1e6);
    field(out, "inputs");
    out += '[';
    for (std::uint32_t i = 0; i < value->positional; ++i) {
      if (i > 0) out += ", ";
      append(out, *value->items[i]);
    }
    out += ']';
    field(out, "kwargs");
    out += '{';
    for (std::size_t i = 0; i < value->names.size(); ++i) {
      if (i > 0) out += ", ";
      json::append_quoted(out, value->names[i]);
      out += ": ";
      append(out, *value->items[value->positional + i]);
    }
    out += '}';
    field(out, "output");
    const NativeValue* result = call.result != 0 && !call.raised() ? trace_.values().value(call.result) : nullptr;
    if (result != nullptr)
      append(out, *result);
    else
      out += "null";
    if (call.raised()) append_error(out, call.error);
    out += "}\n";
    return true;
  }

  void tell(Conversion& conversion) const { dropped_.tell(conversion); }

 private:
  static void field(std::string& out, std::string_view name) {
    out += ", ";
    json::append_quoted(out, name);
    out += ": ";
  }
  static void text_or_null(std::string& out, std::string_view text) {
    if (text.empty())
      out += "null";
    else
      json::append_quoted(out, text);
  }
  void append_error(std::string& out, ValueId id) {
    const NativeValue* error = trace_.values().value(id);
    field(out, "error");
    out += "{\"type\": ";
    json::append_quoted(out, error != nullptr ? text_of(error->find("type")) : std::string_view());
    out += ", \"message\": ";
    json::append_quoted(out, error != nullptr ? text_of(error->find("message")) : std::string_view());
    out += '}';
  }

  void append(std::string& out, const NativeValue& value) {
    switch (value.tag) {
      case Tag::kNull:
        out += "null";
        return;
      case Tag::kTrue:
      case Tag::kFalse:
        out += value.is(Tag::kTrue) ? "true" : "false";
        return;
      case Tag::kInt:
        out += std::to_string(value.number);
        return;
      case Tag::kBigInt:
        if (value.text.empty() ||
            value.text.find_first_not_of("0123456789", value.text[0] == '-' ? 1 : 0) != std::string_view::npos)
          return json::append_quoted(out, value.text);
        out += value.text;
        return;
      case Tag::kFloat:
        return json::append_float(out, value.real);
      case Tag::kString:
        return json::append_quoted(out, value.text);
      case Tag::kList:
      case Tag::kTuple:
        out += '[';
        for (std::size_t i = 0; i < value.items.size(); ++i) {
          if (i > 0) out += ", ";
          append(out, *value.items[i]);
        }
        out += ']';
        return;
      case Tag::kDict:
        out += '{';
        for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
          if (i > 0) out += ", ";
          json::append_quoted(out, key_text(*value.items[i]));
          out += ": ";
          append(out, *value.items[i + 1]);
        }
        out += '}';
        return;
      case Tag::kTensor:
        return append_object(out, *value.items[0]);
      default:
        return append_object(out, value);
    }
  }

  void append_object(std::string& out, const NativeValue& value) {
    if (value.is_struct("ttnn.Tensor")) return append_tensor(out, value);
    if (value.is_struct("MemoryConfig")) return append_memory(out, value);
    if (value.is_struct("MeshDevice")) return append_device(out, value);
    if (value.is(Tag::kStruct) && value.type.find("ProgramConfig") != std::string_view::npos) {
      out += "{\"__type__\": ";
      json::append_quoted(out, value.type.find('.') == std::string_view::npos ? "ttnn." + std::string(value.type)
                                                                              : std::string(value.type));
      for (std::size_t i = 0; i < value.names.size(); ++i) {
        if (value.names[i].starts_with('@')) continue;
        field(out, value.names[i]);
        append(out, *value.items[i]);
      }
      out += '}';
      return;
    }
    const bool path =
        value.is(Tag::kOpaque) && (value.type == "PosixPath" || value.type == "Path" || value.type == "path");
    out += path ? "{\"__type__\": \"path\", \"value\": " : "{\"__type__\": \"repr\", \"value\": ";
    const PrintedText* printed = value.id != 0 ? trace_.values().printed(value.id) : nullptr;
    json::append_quoted(out, printed != nullptr ? std::string(printed->text) : made_text(value));
    out += '}';
  }

  void append_device(std::string& out, const NativeValue& device) {
    out += "{\"__type__\": \"ttnn.MeshDevice\", \"mesh_shape\": ";
    const NativeValue* shape = device.find("shape");
    append_or_null(out, shape != nullptr ? shape : device.find("mesh_shape"));
    out += '}';
  }

  void append_or_null(std::string& out, const NativeValue* value) {
    if (value != nullptr)
      append(out, *value);
    else
      out += "null";
  }

  void append_tensor(std::string& out, const NativeValue& spec) {
    out += "{\"__type__\": \"ttnn.TensorRef\", \"shape\": ";
    append_or_null(out, spec.find("shape"));
    field(out, "dtype");
    const NativeValue* dtype = spec.find("dtype");
    json::append_quoted(out, dtype != nullptr ? made_text(*dtype) : "None");
    field(out, "memory_config");
    append_or_null(out, spec.find("memory_config"));
    out += '}';
  }

  void append_memory(std::string& out, const NativeValue& config) {
    out += "{\"__type__\": \"ttnn.MemoryConfig\", \"memory_layout\": ";
    json::append_quoted(out, member(config.find("memory_layout")));
    field(out, "buffer_type");
    json::append_quoted(out, member(config.find("buffer_type")));
    const NativeValue* shard = config.find("shard_spec");
    if (shard != nullptr && !shard->is_null()) {
      field(out, "shard_spec");
      append_shard(out, *shard);
    }
    out += '}';
  }

  // More than the plugin writes: it has the shape alone, and a reader that knows no more passes over the rest.
  void append_shard(std::string& out, const NativeValue& shard) {
    if (shard.is(Tag::kDict)) return append(out, shard);
    const NativeValue* shape = shard.find("shape");
    if (shape == nullptr) return json::append_quoted(out, made_text(shard));
    out += "{\"shape\": ";
    append(out, *shape);
    if (const NativeValue* dims = shard.find("dims")) {
      field(out, "dims");
      append(out, *dims);
    }
    const NativeValue* grid = shard.find("grid");
    if (const NativeValue* ranges = grid != nullptr ? grid->find("ranges") : nullptr) {
      field(out, "grid");
      out += '[';
      for (std::size_t i = 0; i < ranges->items.size(); ++i) {
        if (i > 0) out += ", ";
        out += "{\"start\": " + coord(ranges->items[i]->find("start")) +
               ", \"end\": " + coord(ranges->items[i]->find("end")) + "}";
      }
      out += ']';
    }
    if (const NativeValue* orientation = shard.find("orientation")) {
      field(out, "orientation");
      json::append_quoted(out, member(orientation));
    }
    out += '}';
  }

  static std::string coord(const NativeValue* value) {
    const auto axis = [value](std::string_view name) {
      const NativeValue* number = value != nullptr ? value->find(name) : nullptr;
      return number != nullptr ? number->number : 0;
    };
    return fmt::format("{{\"x\": {}, \"y\": {}}}", axis("x"), axis("y"));
  }

  NativeTrace& trace_;
  DroppedCounter dropped_;
  std::string run_id_;
  std::unordered_map<std::string, std::uint64_t> indices_;
};

}  // namespace

Result<Conversion> native_to_jsonl(NativeTrace& trace, const std::function<Status(std::string_view)>& write) {
  Conversion conversion;
  LineWriter writer(trace);
  std::string lines;
  CallStream calls(trace);
  while (const NativeCall* call = calls.next()) {
    if (!call->finished) {
      conversion.drop("calls that never ended");
    } else if (writer.line(*call, lines)) {
      ++conversion.calls;
    } else {
      conversion.lose("missing_value", fmt::format("call {}: its arguments are not whole in the file", call->seq));
    }
    if (lines.size() > kWriteAfter) {
      OPWRIGHT_TRY(write(lines));
      lines.clear();
    }
    trace.values().forget();
  }
  OPWRIGHT_TRY(write(lines));
  writer.tell(conversion);
  if (!trace.tests().empty()) conversion.drop("outcomes of tests", trace.tests().size());
  for (const auto& [kind, entry] : trace.damage().entries()) conversion.lose(kind, entry.example, entry.count);
  return conversion;
}

}  // namespace opwright::format
