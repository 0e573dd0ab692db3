#include "format/per_op/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "format/per_op/json_lines.h"
#include "format/per_op/made_text.h"
#include "format/reflection.h"

namespace opwright::format {

using capture::Tag;

namespace {

constexpr std::size_t kKeptLimit = 256 << 20;

std::uint64_t shared_key(const NativeValue& value, int level) {
  return static_cast<std::uint64_t>(value.id) << 8 | static_cast<std::uint64_t>(level);
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

bool is_compute_config(std::string_view type) {
  return type == "WormholeComputeKernelConfig" || type == "BlackholeComputeKernelConfig" ||
         type == "DeviceComputeKernelConfig";
}

bool is_matmul_config(std::string_view type) {
  return type.find("ProgramConfig") != std::string_view::npos && type.find("Matmul") != std::string_view::npos;
}

std::string_view class_name(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

// `<SliceParams object at 0x7f…>`, or a text that no grammar reads: then the members of the object say more.
bool tells_nothing(std::string_view text) {
  if (text.find(" at 0x") != std::string_view::npos) return true;
  const auto parsed = parse_reflection(text);
  return !parsed || parsed->as_opaque() != nullptr;
}

// A tensor prints its elements, which are no part of a configuration.
bool holds_tensor(const NativeValue& value) {
  return std::ranges::any_of(value.items, [](const NativeValue* item) {
    return item->is(Tag::kTensor) || (item->is_list() && holds_tensor(*item));
  });
}

// Not what the recorder adds for its own purposes, nor where an object of one run lies.
bool is_member(std::string_view name) { return !name.starts_with('@') && name != "address"; }

// A key of a dict as json.dump turns it into text.
std::string key_text(const NativeValue& key) {
  switch (key.tag) {
    case Tag::kNull:
      return "null";
    case Tag::kTrue:
      return "true";
    case Tag::kFalse:
      return "false";
    case Tag::kInt:
      return std::to_string(key.number);
    case Tag::kFloat:
      return json::float_text(key.real);
    case Tag::kString:
    case Tag::kBigInt:
      return std::string(key.text);
    default:
      return made_text(key);
  }
}

}  // namespace

PerOpWriter::PerOpWriter(NativeTrace& trace, PerOpStyle style)
    : trace_(trace),
      style_(style),
      sweep_source_hash_(trace.fact_text("sweep_source_hash")),
      has_lost_nesting_(trace.fact_text("converted_from") == "per-op") {}

bool PerOpWriter::write(const NativeCall& call, std::uint64_t operation_id, std::string& out) {
  static const std::vector<TensorData> kNoData;
  const NativeValue* const value_of_call = trace_.values().call(call.call);
  if (value_of_call == nullptr) return false;
  if (kept_bytes_ > kKeptLimit) forget();
  const bool has_data = style_.values && trace_.has_data() && !trace_.blobs().empty();
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

std::uint64_t change_of(const NativeCall& call) {
  if (call.writes.empty() && call.frees.empty()) return 0;
  std::string text;
  for (const TensorWrite& write : call.writes)
    fmt::format_to(std::back_inserter(text), "{},{};", write.slot, write.spec);
  for (const std::uint32_t slot : call.frees) fmt::format_to(std::back_inserter(text), "-{};", slot);
  return xxh64(text) | 1;
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
  // The library takes the queue of a call away before it writes the call down; inside another call it does not.
  std::string_view queue;
  for (const std::string_view name : {"cq_id", "queue_id"}) {
    if (top && std::find(call.names.begin(), call.names.end(), name) != call.names.end()) queue = name;
  }
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

// {"__type__": …, "fields": {member: value, …}}; false where the trace has no members, or only such as belong to one
// run.
bool PerOpWriter::members(const NativeValue& value_at, int level, std::string& out) {
  if (!value_at.is(Tag::kStruct) || !std::ranges::any_of(value_at.names, is_member)) return false;
  JsonLines lines = json_object(out, level);
  lines.text("__type__", class_name(value_at.type));
  JsonLines fields = json_object(lines.key("fields"), lines.inner());
  for (std::size_t i = 0; i < value_at.names.size(); ++i) {
    if (!is_member(value_at.names[i])) continue;
    fields.key(value_at.names[i]);
    plain(*value_at.items[i], fields.inner(), out);
  }
  fields.end();
  lines.end();
  return true;
}

void PerOpWriter::printed_object(const NativeValue& value_at, int level, std::string& out) {
  const bool say_more =
      style_.extended && value_at.is(Tag::kStruct) && (holds_tensor(value_at) || tells_nothing(printed(value_at)));
  if (say_more && members(value_at, level, out)) return;
  const PrintedText* text = value_at.id != 0 ? trace_.values().printed(value_at.id) : nullptr;
  // Enums of the library have a __dict__, most of its other objects have none.
  const bool has_dict = text != nullptr ? text->has_dict : value_at.is(Tag::kEnum);
  JsonLines object_lines = json_object(out, level);
  object_lines.text("type", value_at.is(Tag::kBytes) ? "bytes" : class_name(value_at.type));
  object_lines.text(has_dict ? "repr" : "value", printed(value_at));
  object_lines.end();
}

}  // namespace opwright::format
