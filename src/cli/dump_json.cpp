#include "cli/dump_json.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "base/json_write.h"
#include "cli/output.h"
#include "format/native/call_stream.h"
#include "format/native/value_json.h"

namespace opwright::cli {
namespace {

using capture::Tag;
using format::NativeCall;
using format::NativeTrace;
using format::NativeValue;
using format::ValueId;

// In a document the same objects stand in lists; as lines each has its kind as its only field.
class Out {
 public:
  Out(std::ostream& out, bool lines) : out_(out), lines_(lines) {}

  void list(std::string_view name) {  // the next part of the document
    if (lines_) return;
    out_ << (first_list_ ? "{" : "\n],\n") << '"' << name << "\": [";
    first_list_ = false;
    first_item_ = true;
  }
  void item(std::string_view kind, std::string_view json) {
    if (lines_)
      out_ << "{\"" << kind << "\": " << json << "}\n";
    else
      out_ << (first_item_ ? "\n " : ",\n ") << json;
    first_item_ = false;
  }
  void end() {
    if (!lines_) out_ << "\n]}\n";
  }

 private:
  std::ostream& out_;
  bool lines_;
  bool first_list_ = true;
  bool first_item_ = true;
};

std::string header_json(const NativeTrace& trace) {
  const capture::Header& header = trace.header();
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  return JsonObject()
      .add("path", trace.path())
      .add("version", number(header.version))
      .add("pid", number(header.pid))
      .add("state", number(header.state))
      .add("start_unix_ns", number(header.start_unix_ns))
      .add("calls", number(header.calls))
      .add("errors", number(header.errors))
      .add("calls_filtered", number(header.calls_filtered))
      .add("calls_thinned", number(header.calls_thinned))
      .add("calls_lost", number(header.calls_lost))
      .add("values", number(header.values))
      .add("opaque", number(header.opaque))
      .add("recorder_ns", trace.ns_of(header.recorder_ticks + header.start_ticks))
      .text();
}

class Dump {
 public:
  Dump(NativeTrace& trace, bool lines, std::ostream& out) : trace_(trace), lines_(lines), out_(out, lines) {}

  void run(const format::CallFilter& filter, std::size_t limit) {
    head();
    out_.list("calls");
    format::CallChooser chooser(trace_, filter);
    format::CallsInOrder calls(trace_);
    std::size_t shown = 0;
    while (const NativeCall* call = calls.next()) {
      if (!chooser.takes(*call) || shown >= limit) continue;
      ++shown;
      one_call(*call);
      trace_.values().forget();
    }
    out_.list("losses");
    for (const auto& [kind, entry] : trace_.damage().entries())
      out_.item("loss", JsonObject()
                            .add("kind", kind)
                            .add("count", static_cast<std::int64_t>(entry.count))
                            .add("offset", static_cast<std::int64_t>(entry.offset))
                            .add("example", entry.example)
                            .text());
    out_.end();
  }

 private:
  void head() {
    out_.list("trace");
    out_.item("trace", header_json(trace_));
    out_.list("facts");
    for (const format::Fact& fact : trace_.facts()) {
      const NativeValue* value = trace_.values().decode(fact.encoded);
      out_.item("fact", JsonObject()
                            .add("name", fact.name)
                            .add_raw("value", value != nullptr ? format::to_json(*value) : "null")
                            .text());
    }
    out_.list("tests");
    for (const format::TestOutcome& test : trace_.tests())
      out_.item(
          "test",
          JsonObject().add("id", test.id).add("outcome", test.outcome).add_number("seconds", test.seconds).text());
    out_.list("notes");
    for (const format::Note& note : trace_.notes())
      out_.item("note", JsonObject().add("kind", note.kind).add("text", note.text).text());
    out_.list("unrecorded");
    static constexpr std::string_view kReasons[] = {"filtered", "thinned", "lost"};
    for (const format::UnrecordedCalls& calls : trace_.unrecorded())
      out_.item("unrecorded", JsonObject()
                                  .add("operation", calls.op)
                                  .add("reason", kReasons[static_cast<std::size_t>(calls.reason)])
                                  .add("calls", static_cast<std::int64_t>(calls.calls))
                                  .text());
  }

  // Objects stand once as lines before the first call that names them; in a document they stand where they are used.
  std::string value_json(const NativeValue& value, const std::function<std::string()>& next_tensor) {
    format::OwnJson own;
    own.value = [&](const NativeValue& part, std::string& out) {
      if (part.is(Tag::kTensor))
        out += next_tensor();
      else if (part.is(Tag::kStruct))
        out += struct_json(part);
      else
        return false;
      return true;
    };
    own.key = [](const NativeValue& key) {
      return key.is(Tag::kString) ? std::string(key.text) : format::to_json(key);
    };
    std::string out;
    format::append_json(value, out, own);
    return out;
  }

  std::string struct_json(const NativeValue& value) {
    if (!lines_ || value.id == 0) return format::to_json(value);
    if (configs_.insert(value.id).second)
      out_.item("config", fmt::format("{{\"id\": {}, \"value\": {}}}", value.id, format::to_json(value)));
    return fmt::format("{{\"$c\": {}}}", value.id);
  }

  std::string tensor_json(std::uint64_t id, std::uint64_t version, ValueId spec, const format::TensorResult* made) {
    if (!lines_) {
      const NativeValue* value = trace_.values().value(spec);
      JsonObject object;
      object.add("id", static_cast<std::int64_t>(id)).add("version", static_cast<std::int64_t>(version));
      if (made != nullptr)
        object.add("storage", static_cast<std::int64_t>(made->storage))
            .add("address", static_cast<std::int64_t>(made->address))
            .add("view_of", static_cast<std::int64_t>(made->view_of));
      object.add_raw("spec", value != nullptr ? format::to_json(*value) : "null");
      return object.text();
    }
    auto& known = tensors_[id];
    if (known != std::pair{version, spec}) {
      known = {version, spec};
      JsonObject object;
      object.add("id", static_cast<std::int64_t>(id)).add("version", static_cast<std::int64_t>(version));
      if (made != nullptr)
        object.add("storage", static_cast<std::int64_t>(made->storage))
            .add("address", static_cast<std::int64_t>(made->address))
            .add("view_of", static_cast<std::int64_t>(made->view_of));
      const NativeValue* value = trace_.values().value(spec);
      if (value != nullptr && configs_.insert(spec).second)
        out_.item("config", fmt::format("{{\"id\": {}, \"value\": {}}}", spec, format::to_json(*value)));
      object.add_raw("spec", fmt::format("{{\"$c\": {}}}", spec));
      out_.item("tensor", object.text());
    }
    return fmt::format("{{\"$t\": {}}}", id);
  }

  void one_call(const NativeCall& call) {
    const format::CallContext context = trace_.context(call.context);
    const NativeValue* value = trace_.values().call(call.call);
    if (value == nullptr)
      trace_.damage().add("missing_value", call.offset,
                          [&] { return fmt::format("call {}: its arguments are not whole in the file", call.seq); });
    std::size_t slot = 0;
    std::vector<std::string> args;
    JsonObject kw;
    if (value != nullptr) {
      const auto walk = [&](const NativeValue& item) {
        // Tensors come in the order of their slots.
        std::vector<ValueId> specs;
        collect_specs(item, specs);
        std::size_t at = 0;
        return value_json(item, [&] {
          const format::TensorUse use = slot < call.tensors.size() ? call.tensors[slot] : format::TensorUse{};
          ++slot;
          return tensor_json(use.id, use.version, specs[at++], trace_.outside_tensor(use.id));
        });
      };
      for (std::size_t i = 0; i < value->items.size(); ++i) {
        if (i < value->positional)
          args.push_back(walk(*value->items[i]));
        else
          kw.add_raw(value->names[i - value->positional], walk(*value->items[i]));
      }
    }
    std::string ret = "null";
    if (const NativeValue* result = call.result != 0 ? trace_.values().value(call.result) : nullptr) {
      std::vector<ValueId> specs;
      collect_specs(*result, specs);
      std::size_t at = 0;
      ret = value_json(*result, [&] {
        const format::TensorResult made = at < call.results.size() ? call.results[at] : format::TensorResult{};
        const ValueId spec = specs[at++];
        return tensor_json(made.id, made.version, spec, &made);
      });
    }
    JsonObject object;
    object.add("v", std::int64_t{1})
        .add("seq", static_cast<std::int64_t>(call.seq))
        .add("parent", call.parent == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(call.parent))
        .add("tid", static_cast<std::int64_t>(call.thread));
    for (const auto& [name, text] :
         {std::pair{"test", context.test}, std::pair{"phase", context.phase}, std::pair{"label", context.label}}) {
      if (!text.empty()) object.add(name, text);
    }
    object.add("op", value != nullptr ? value->text : std::string_view("?")).add("t0_ns", call.start_ns);
    if (call.finished)
      object.add("t1_ns", call.start_ns + call.duration_ns);
    else
      object.add_raw("t1_ns", "null");
    const NativeValue* error = call.error != 0 ? trace_.values().value(call.error) : nullptr;
    object.add_raw("err", call.error == 0    ? "null"
                          : error != nullptr ? format::to_json(*error)
                                             : "\"?\"")
        .add_raw("args", json_array(args, true))
        .add_raw("kw", kw.text())
        .add_raw("ret", ret)
        .add_raw("writes", changes_json(call, true))
        .add_raw("frees", changes_json(call, false));
    if (trace_.flow().edges == DataFlow::kInferred) object.add("flow", "inferred");
    if (call.thinned) object.add_bool("thinned", true);
    if (call.direct) object.add_bool("direct", true);
    add_data(call, object);
    out_.item("call", object.text());
  }

  static void collect_specs(const NativeValue& value, std::vector<ValueId>& specs) {
    if (value.is(Tag::kTensor)) {
      specs.push_back(value.id);
    } else if (value.is_list() || value.is(Tag::kDict)) {
      for (std::size_t i = value.is(Tag::kDict) ? 1 : 0; i < value.items.size(); i += value.is(Tag::kDict) ? 2 : 1)
        collect_specs(*value.items[i], specs);
    }
  }

  std::string changes_json(const NativeCall& call, bool writes) {
    std::vector<std::string> items;
    const auto id_of = [&](std::size_t slot) { return slot < call.tensors.size() ? call.tensors[slot].id : 0; };
    if (writes) {
      for (const format::TensorWrite& write : call.writes)
        items.push_back(tensor_json(id_of(write.slot), write.version, write.spec, nullptr));
    } else {
      for (const std::uint32_t slot : call.frees) items.push_back(std::to_string(id_of(slot)));
    }
    return json_array(items, true);
  }

  void add_data(const NativeCall& call, JsonObject& object) {
    std::vector<std::string> reads, writes;
    for (const format::TensorData& data : trace_.data_of(call.seq)) {
      JsonObject one;
      one.add("slot", static_cast<std::int64_t>(data.slot)).add("of", data.of_result ? "result" : "arguments");
      if (data.hash) one.add("hash", to_hex(*data.hash));
      const NativeValue* sketch = data.sketch != 0 ? trace_.values().value(data.sketch) : nullptr;
      if (sketch != nullptr) one.add_raw("sketch", format::to_json(*sketch));
      (data.after || data.of_result ? writes : reads).push_back(one.text());
    }
    if (!reads.empty()) object.add_raw("reads_hash", json_array(reads, true));
    if (!writes.empty()) object.add_raw("writes_hash", json_array(writes, true));
    if (const std::string_view device = trace_.device_of(call.seq); !device.empty()) {
      if (const NativeValue* graph = trace_.values().decode(device)) object.add_raw("dev", format::to_json(*graph));
    }
  }

  NativeTrace& trace_;
  bool lines_;
  Out out_;
  std::unordered_set<ValueId> configs_;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, ValueId>> tensors_;  // id -> what was written of it
};

}  // namespace

void dump_json(NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, bool lines, std::ostream& out) {
  Dump(trace, lines, out).run(filter, limit);
}

}  // namespace opwright::cli
