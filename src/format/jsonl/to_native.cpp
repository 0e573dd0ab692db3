#include "format/jsonl/to_native.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <optional>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "format/native/infer_flow.h"
#include "format/native/native_writer.h"
#include "format/per_op/json_values.h"

namespace opwright::format {
namespace {

using capture::Encoder;
using json::Kind;
using json::Node;

// "2025-09-10T12:00:00Z" -> ns since 1970; nothing where that is no time, or one that 64 bits do not hold (from 2262
// on)
std::optional<std::int64_t> time_of(std::string_view text) {
  std::tm parts{};
  if (text.size() < 20 || strptime(std::string(text.substr(0, 19)).c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr)
    return std::nullopt;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(timegm(&parts)), std::int64_t{1'000'000'000}, &ns))
    return std::nullopt;
  return ns;
}

// Values of op JSONL; lists, dicts and plain values are as in per-op files.
class Values {
 public:
  explicit Values(NativeWriter& writer) : writer_(writer), scalars_(writer) {}

  const std::vector<ValueId>& specs() const { return specs_; }  // of the tensors, in order
  void clear() { specs_.clear(); }

  void put(const Node& node, Encoder& out) {
    if (node.is(Kind::kArray)) {
      out.list(node.count);
      for (const Node& item : node) put(item, out);
    } else if (!node.is(Kind::kObject)) {
      scalars_.put(node, out);
    } else if (const auto type = node.string_field("__type__")) {
      put_typed(node, *type, out);
    } else if (const auto kind = node.string_field("__enum__"); kind && node.string_field("name")) {
      Encoder value;
      value.enumerator(last_part(*kind), *node.string_field("name"));
      refer(value, out);
    } else {
      out.dict(node.count);
      for (std::uint32_t i = 0; i < node.count; ++i) {
        out.string(node.fields[i].key);
        put(node.fields[i].value, out);
      }
    }
  }

 private:
  void refer(const Encoder& value, Encoder& out) { out.reference(writer_.value(value.view())); }

  void put_typed(const Node& node, std::string_view type, Encoder& out) {
    if (type == "ttnn.TensorRef") return put_tensor(node, out);
    if (type == "ttnn.MemoryConfig") return put_memory(node, out);
    Encoder value;
    const auto text = node.string_field("value");
    if (text && node.count == 2) {
      const std::size_t dot = text->find('.');
      const bool names = type == "repr" && dot != std::string_view::npos && dot > 0 &&
                         text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.") ==
                             std::string_view::npos &&
                         text->find('.', dot + 1) == std::string_view::npos && (*text)[0] >= 'A' && (*text)[0] <= 'Z';
      if (names)
        value.enumerator(text->substr(0, dot), text->substr(dot + 1));
      else
        value.opaque(type, *text);
      return refer(value, out);
    }
    const Node* inner = node.find("fields");
    const Node& fields = inner != nullptr && inner->is(Kind::kObject) && node.count == 2 ? *inner : node;
    std::uint64_t count = 0;
    Encoder members;
    for (std::uint32_t i = 0; i < fields.count; ++i) {
      if (fields.fields[i].key == "__type__") continue;
      members.field(fields.fields[i].key);
      put(fields.fields[i].value, members);
      ++count;
    }
    value.structure(last_part(type), count);
    value.raw(members.view());
    refer(value, out);
  }

  void put_tensor(const Node& node, Encoder& out) {
    std::uint64_t count = 0;
    Encoder members, spec;
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const auto& [key, value] = node.fields[i];
      if (key == "__type__") continue;
      members.field(key);
      ++count;
      if (key == "dtype" && value.is(Kind::kString))
        put_enum("DataType", value.text, members);
      else
        put(value, members);
    }
    spec.structure("ttnn.Tensor", count);
    spec.raw(members.view());
    specs_.push_back(writer_.value(spec.view()));
    out.tensor(specs_.back());
  }

  void put_enum(std::string_view type, std::string_view name, Encoder& out) {
    Encoder value;
    value.enumerator(type, last_part(name));
    refer(value, out);
  }

  void put_memory(const Node& node, Encoder& out) {
    std::uint64_t count = 0;
    Encoder members, config;
    bool interleaved = false;
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const auto& [key, value] = node.fields[i];
      if (key == "__type__") continue;
      members.field(key);
      ++count;
      if (key == "memory_layout" && value.is(Kind::kString)) {
        interleaved = last_part(value.text) == "INTERLEAVED";
        put_enum("TensorMemoryLayout", value.text, members);
      } else if (key == "buffer_type" && value.is(Kind::kString)) {
        put_enum("BufferType", value.text, members);
      } else if (key == "shard_spec" && value.is(Kind::kObject)) {
        put_shard(value, members);
      } else {
        put(value, members);
      }
    }
    if (node.find("shard_spec") == nullptr) {
      members.field("shard_spec");
      members.null();
      ++count;
    }
    members.field("is_sharded");
    members.boolean(!interleaved);
    members.field("interleaved");
    members.boolean(interleaved);
    config.structure("MemoryConfig", count + 2);
    config.raw(members.view());
    refer(config, out);
  }

  // The library's shard spec where it is one: shape and grid. Anything else stays the object that it is.
  void put_shard(const Node& node, Encoder& out) {
    const Node* shape = node.find("shape");
    const Node* grid = node.find("grid");
    if (shape == nullptr || !shape->is(Kind::kArray) || grid == nullptr || !grid->is(Kind::kArray))
      return put(node, out);
    Encoder spec;
    spec.structure("ShardSpec", node.count);
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const auto& [key, value] = node.fields[i];
      spec.field(key);
      if (key == "orientation" && value.is(Kind::kString)) {
        put_enum("ShardOrientation", value.text, spec);
      } else if (key == "grid" && value.is(Kind::kArray)) {
        Encoder ranges;
        ranges.structure("CoreRangeSet", 1);
        ranges.field("ranges");
        ranges.list(value.count);
        for (const Node& range : value) put_struct("CoreRange", range, ranges);
        refer(ranges, spec);
      } else {
        put(value, spec);
      }
    }
    refer(spec, out);
  }

  void put_struct(std::string_view type, const Node& node, Encoder& out) {
    if (!node.is(Kind::kObject)) return put(node, out);
    Encoder value;
    value.structure(type, node.count);
    for (std::uint32_t i = 0; i < node.count; ++i) {
      value.field(node.fields[i].key);
      put_struct("CoreCoord", node.fields[i].value, value);
    }
    refer(value, out);
  }

  NativeWriter& writer_;
  JsonValues scalars_;  // numbers, texts, shapes: as in per-op files
  std::vector<ValueId> specs_;
};

}  // namespace

class JsonlConverter::Lines {
 public:
  explicit Lines(TraceOutput& output) : output_(output) {}

  void record(const Node& record, std::string_view op, const Node& inputs) {
    start(record);
    call(op, inputs, record);
  }

  Result<Conversion> finish(const Hash128& digest) {
    if (!writer_) start({});
    Encoder uid;
    uid.string(run_id_.empty() ? "content:" + to_hex(digest) : "run_id:" + run_id_);
    writer_->fact("uid", uid.view());
    flow_.tell(*writer_);
    OPWRIGHT_TRY(writer_->finish());
    conversion_.calls = writer_->calls();
    return conversion_;
  }

 private:
  void start(const Node& first) {
    if (writer_) return;
    const auto time = time_of(first.string_field("start_ts").value_or(""));
    start_ = time ? *time - duration_of(first) : 0;
    writer_.emplace(output_, NativeWriter::Start{.start_unix_ns = static_cast<std::uint64_t>(start_)});
    values_.emplace(*writer_);
    Encoder from;
    from.string("op-jsonl");
    writer_->fact("converted_from", from.view());
    run_id_ = first.string_field("run_id").value_or("");
  }

  static std::int64_t duration_of(const Node& record) {
    const Node* duration = record.find("duration_ms");
    double ms = 0;
    if (duration == nullptr || !duration->is(Kind::kNumber) ||
        std::from_chars(duration->text.data(), duration->text.data() + duration->text.size(), ms).ec != std::errc() ||
        !(ms >= 0) || ms > 1e12)
      return 0;
    return std::llround(ms * 1e6);
  }

  void call(std::string_view op, const Node& inputs, const Node& record) {
    if (record.string_field("run_id").value_or("") != run_id_) conversion_.drop("run ids other than the first line's");
    Encoder name, encoded;
    name.string(op);
    encoded.tag(capture::Tag::kCall);
    encoded.varint(writer_->value(name.view()));
    encoded.varint(inputs.count);
    values_->clear();
    for (const Node& input : inputs) values_->put(input, encoded);
    const Node* kwargs = record.find("kwargs");
    const bool has_kwargs = kwargs != nullptr && kwargs->is(Kind::kObject);
    encoded.varint(has_kwargs ? kwargs->count : 0);
    for (std::uint32_t i = 0; has_kwargs && i < kwargs->count; ++i) {
      encoded.text(kwargs->fields[i].key);
      values_->put(kwargs->fields[i].value, encoded);
    }
    NativeCall at;
    at.seq = writer_->calls() + 1;
    at.call = writer_->value(encoded.view());
    at.context = context_of(record);
    flow_.uses(record.string_field("test_nodeid").value_or(""), values_->specs(), at);
    // The format has whole seconds, and the end of the call; the begin is reckoned back from it.
    const auto ended = time_of(record.string_field("start_ts").value_or(""));
    const std::int64_t duration = duration_of(record);
    std::int64_t begin = std::max(ended ? *ended - start_ - duration : 0, last_end_);
    writer_->begin(at, static_cast<std::uint64_t>(begin));
    values_->clear();
    const Node* output = record.find("output");
    if (output != nullptr && !output->is(Kind::kNull)) {
      Encoder result;
      values_->put(*output, result);
      at.result = writer_->value(result.view());
      flow_.results(values_->specs(), at);
    }
    if (const Node* error = record.find("error"); error != nullptr && !error->is(Kind::kNull)) {
      Encoder value;
      value.structure("error", 2);
      value.field("type");
      value.string(error->string_field("type").value_or(""));
      value.field("message");
      value.string(error->string_field("message").value_or(error->is(Kind::kString) ? error->text : ""));
      at.error = writer_->value(value.view());
    }
    last_end_ = begin + duration;
    writer_->end(at, static_cast<std::uint64_t>(last_end_));
    for (std::uint32_t i = 0; i < record.count; ++i) {
      const std::string_view key = record.fields[i].key;
      if (key != "run_id" && key != "test_nodeid" && key != "module" && key != "op_index" && key != "op_name" &&
          key != "start_ts" && key != "duration_ms" && key != "inputs" && key != "kwargs" && key != "output" &&
          key != "error")
        conversion_.drop(fmt::format("field {}", key));
    }
  }

  ValueId context_of(const Node& record) {
    const std::string_view test = record.string_field("test_nodeid").value_or("");
    const std::string_view module = record.string_field("module").value_or("");
    if (test.empty() && module.empty()) return 0;
    Encoder encoded;
    encoded.dict(static_cast<std::uint64_t>(!test.empty()) + static_cast<std::uint64_t>(!module.empty()));
    if (!test.empty()) {
      encoded.string("test");
      encoded.string(test);
    }
    if (!module.empty()) {
      encoded.string("label");
      encoded.string(module);
    }
    return writer_->value(encoded.view());
  }

  TraceOutput& output_;
  std::optional<NativeWriter> writer_;
  std::optional<Values> values_;
  FlowInference flow_;
  std::string run_id_;
  std::int64_t start_ = 0, last_end_ = 0;
  Conversion conversion_;
};

JsonlConverter::JsonlConverter(TraceOutput& output) : lines_(std::make_unique<Lines>(output)) {}
JsonlConverter::~JsonlConverter() = default;
void JsonlConverter::record(const Node& record, std::string_view op, const Node& inputs) {
  lines_->record(record, op, inputs);
}
Result<Conversion> JsonlConverter::finish(const Hash128& digest) { return lines_->finish(digest); }

Result<Conversion> jsonl_to_native(Input& input, TraceOutput& output) {
  JsonlConverter converter(output);
  Conversion lost;
  json::Document document;
  StreamHash digest;
  while (true) {
    const auto next = input.next_line();
    if (!next && next.error().code == ErrorCode::kUnsupported) return fail(next.error());  // beyond a limit
    if (!next) {  // a cut tail: what came before it is whole
      lost.lose("cut_input", next.error().message);
      break;
    }
    if (!*next) break;
    std::string_view text = **next;
    digest.add(text);
    digest.add("\n");
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
      digest.add(input.blank_lines());
      continue;
    }
    const std::size_t offset = input.line_offset();
    if (offset == 0 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
    const auto root = document.parse(text);
    if (!root) {
      lost.lose("damaged_line", fmt::format("byte {}: {}", offset, root.error().what));
      continue;
    }
    const auto op = (*root)->string_field("op_name");
    const Node* inputs = (*root)->find("inputs");
    if (op && inputs != nullptr && inputs->is(Kind::kArray))
      converter.record(**root, *op, *inputs);
    else
      lost.lose("unknown_shape", fmt::format("byte {}: a line without op_name or inputs", offset));
  }
  OPWRIGHT_TRY_ASSIGN(Conversion conversion, converter.finish(digest.digest()));
  conversion.losses.merge(lost.losses);
  return conversion;
}

}  // namespace opwright::format
