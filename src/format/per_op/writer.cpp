#include "format/per_op/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "format/native/made_text.h"
#include "format/native/native_arguments.h"
#include "format/native/object_kinds.h"
#include "format/per_op/json_lines.h"

namespace opwright::format {

using capture::Tag;

namespace {

constexpr std::size_t kKeptLimit = 256 << 20;

std::uint64_t shared_key(const NativeValue& value, int level) {
  return static_cast<std::uint64_t>(value.id) << 8 | static_cast<std::uint64_t>(level);
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

}  // namespace

PerOpWriter::PerOpWriter(NativeTrace& trace)
    : trace_(trace),
      sweep_source_hash_(trace.fact_text("sweep_source_hash")),
      has_lost_nesting_(trace.fact_text("converted_from") == "per-op") {}

bool PerOpWriter::write(const NativeCall& call, std::uint64_t operation_id, std::string& out) {
  static const std::vector<TensorData> kNoData;
  const NativeValue* const value_of_call = trace_.values().call(call.call);
  if (value_of_call == nullptr) return false;
  if (kept_bytes_ > kKeptLimit) forget();
  const bool has_data = trace_.has_data() && !trace_.blobs().empty();
  const std::vector<TensorData> data = has_data ? trace_.data_of(call.seq) : kNoData;
  const bool top = call.parent == 0 && !has_lost_nesting_;

  out += fmt::format("{{\n  \"operation_id\": {},\n", operation_id);
  if (data.empty()) {
    const Hash128 key{static_cast<std::uint64_t>(call.call) << 1 | (top ? 1 : 0), change_of(call) + call.call};
    const auto [known, added] = bodies_.try_emplace(key);
    if (added) {
      body(*value_of_call, top, {&call, &data, false, 0}, known->second);
      kept_bytes_ += known->second.size();
    }
    out += known->second;
  } else {
    body(*value_of_call, top, {&call, &data, false, 0}, out);
  }
  std::string_view sweep = trace_.context(call.context).sweep_source_hash;
  if (sweep.empty()) sweep = sweep_source_hash_;
  if (!sweep.empty()) {
    out += ",\n  \"sweep_source_hash\": ";
    json::append_quoted(out, sweep);
  }
  const NativeValue* result = call.result != 0 ? trace_.values().value(call.result) : nullptr;
  if (result != nullptr && !result->is_null()) {
    out += ",\n  \"return_value\": ";
    Slots slots{&call, &data, true, 0};
    if (data.empty()) {
      const auto [known, added] = results_.try_emplace(call.result);
      if (added) {
        value(*result, 1, slots, known->second);
        kept_bytes_ += known->second.size();
      }
      out += known->second;
    } else {
      value(*result, 1, slots, out);
    }
  }
  out += "\n}";
  return true;
}

void PerOpWriter::forget() {
  shared_.clear();
  bodies_.clear();
  results_.clear();
  kept_bytes_ = 0;
}

void PerOpWriter::body(const NativeValue& call, bool top, Slots slots, std::string& out) {
  out += "  \"operation_name\": ";
  json::append_quoted(out, call.text);
  out += ",\n  \"args\": ";
  JsonLines args = json_list(out, 1);
  for (std::uint32_t i = 0; i < call.positional; ++i) {
    JsonLines arg = json_object(args.item(), 2);
    arg.key("position") += std::to_string(i);
    arg.key("value");
    value(*call.items[i], 3, slots, out);
    arg.end();
  }
  args.end();
  out += ",\n  \"kwargs\": ";
  const std::string_view queue = top ? queue_keyword(call) : std::string_view();
  JsonLines kwargs = json_object(out, 1);
  for (std::size_t i = 0; i < call.names.size(); ++i) {
    if (!queue.empty() && call.names[i] == queue) continue;
    kwargs.key(call.names[i]);
    value(*call.items[call.positional + i], 2, slots, out);
  }
  kwargs.end();
}

const Blob* PerOpWriter::content(const Slots& slots, std::uint32_t slot) const {
  const TensorData* best = nullptr;  // the library looks after the call
  for (const TensorData& data : *slots.data) {
    if (data.of_result == slots.result && data.slot == slot && data.hash && (best == nullptr || data.after))
      best = &data;
  }
  return best != nullptr ? trace_.blob(*best->hash) : nullptr;
}

void PerOpWriter::value(const NativeValue& value_at, int level, Slots& slots, std::string& out) {
  switch (value_at.tag) {
    case Tag::kTensor: {
      const std::uint32_t slot = slots.next++;
      const NativeValue* spec = value_at.items[0];
      if (!slots.result) {
        for (const TensorWrite& write : slots.call->writes) {
          const NativeValue* after = write.slot == slot ? trace_.values().value(write.spec) : nullptr;
          if (after != nullptr) spec = after;
        }
      }
      const std::vector<std::uint32_t>& frees = slots.call->frees;
      const bool freed = !slots.result && std::find(frees.begin(), frees.end(), slot) != frees.end();
      const Blob* blob = slots.data->empty() ? nullptr : content(slots, slot);
      const bool as_usual = blob == nullptr && !freed;  // then it is like others of its spec
      if (!as_usual && spec->is_struct("ttnn.Tensor"))
        tensor(*spec, level, blob, freed, out);
      else if (!as_usual && spec->is_struct("torch.Tensor"))
        torch_tensor(*spec, level, blob, out);
      else
        shared(*spec, level, out);
      return;
    }
    case Tag::kList:
    case Tag::kTuple: {
      JsonLines list = json_list(out, level);
      for (const NativeValue* item : value_at.items) {
        list.item();
        value(*item, level + 1, slots, out);
      }
      list.end();
      return;
    }
    case Tag::kDict: {
      JsonLines object_lines = json_object(out, level);
      for (std::size_t i = 0; i + 1 < value_at.items.size(); i += 2) {
        object_lines.key(key_text(*value_at.items[i]));
        value(*value_at.items[i + 1], level + 1, slots, out);
      }
      object_lines.end();
      return;
    }
    default:
      plain(value_at, level, out);
  }
}

void PerOpWriter::plain(const NativeValue& value_at, int level, std::string& out) {
  switch (value_at.tag) {
    case Tag::kNull:
      out += "null";
      return;
    case Tag::kTrue:
    case Tag::kFalse:
      out += boolean(value_at.is(Tag::kTrue));
      return;
    case Tag::kInt:
      fmt::format_to(std::back_inserter(out), "{}", value_at.number);
      return;
    case Tag::kBigInt:
      if (value_at.text.empty() ||
          value_at.text.find_first_not_of("0123456789", value_at.text[0] == '-' ? 1 : 0) != std::string_view::npos)
        json::append_quoted(out, value_at.text);
      else
        out += value_at.text;
      return;
    case Tag::kFloat:
      json::append_float(out, value_at.real);
      return;
    case Tag::kString:
      json::append_quoted(out, value_at.text);
      return;
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kDict:
    case Tag::kTensor: {
      static const std::vector<TensorData> kNoData;
      static const NativeCall kNoCall;
      Slots none{&kNoCall, &kNoData, true, 0};
      value(value_at, level, none, out);
      return;
    }
    default:
      shared(value_at, level, out);
  }
}

// Objects are values of their own that repeat: each is written once a level.
void PerOpWriter::shared(const NativeValue& value_at, int level, std::string& out) {
  if (value_at.id == 0) return object(value_at, level, out);
  const std::uint64_t key = shared_key(value_at, level);
  if (const auto known = shared_.find(key); known != shared_.end()) {
    out += known->second;
    return;
  }
  std::string text;
  object(value_at, level, text);
  out += text;
  kept_bytes_ += text.size();
  shared_.emplace(key, std::move(text));
}

void PerOpWriter::object(const NativeValue& value_at, int level, std::string& out) {
  if (!value_at.is(Tag::kStruct)) return printed_object(value_at, level, out);
  if (value_at.type == "ttnn.Tensor") return tensor(value_at, level, nullptr, false, out);
  if (value_at.type == "torch.Tensor") return torch_tensor(value_at, level, nullptr, out);
  if (value_at.type == "MeshDevice") return mesh_device(value_at, level, out);
  if (value_at.type == "MemoryConfig") return memory_config(value_at, level, out);
  if (is_compute_config(value_at.type)) return compute_config(value_at, level, out);
  if (is_matmul_config(value_at.type) && program_config(value_at, level, out)) return;
  printed_object(value_at, level, out);
}

std::string PerOpWriter::printed(const NativeValue& value_at) {
  if (const PrintedText* text = value_at.id != 0 ? trace_.values().printed(value_at.id) : nullptr)
    return std::string(text->text);
  if (value_at.is(Tag::kStruct)) ++texts_made_;
  return made_text(value_at);
}

void PerOpWriter::printed_object(const NativeValue& value_at, int level, std::string& out) {
  const PrintedText* text = value_at.id != 0 ? trace_.values().printed(value_at.id) : nullptr;
  // Enums of the library have a __dict__, most of its other objects have none.
  const bool has_dict = text != nullptr ? text->has_dict : value_at.is(Tag::kEnum);
  JsonLines object_lines = json_object(out, level);
  object_lines.text("type", value_at.is(Tag::kBytes) ? "bytes" : last_part(value_at.type, "."));
  object_lines.text(has_dict ? "repr" : "value", printed(value_at));
  object_lines.end();
}

}  // namespace opwright::format
