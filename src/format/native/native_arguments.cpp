#include "format/native/native_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json_write.h"
#include "base/text.h"
#include "format/native/made_text.h"
#include "format/native/object_kinds.h"
#include "format/reflection.h"
#include "model/position_name.h"

namespace opwright::format {

using capture::Tag;
using json::Field;
using json::Node;

namespace {

constexpr std::size_t kKeptLimit = 64 << 20;

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

}  // namespace

std::uint64_t change_of(const NativeCall& call) {
  if (call.writes.empty() && call.frees.empty()) return 0;
  std::string text;
  for (const TensorWrite& write : call.writes)
    fmt::format_to(std::back_inserter(text), "{},{};", write.slot, write.spec);
  for (const std::uint32_t slot : call.frees) fmt::format_to(std::back_inserter(text), "-{};", slot);
  return xxh64(text) | 1;
}

Hash128 same_call(const NativeCall& call) {
  return {static_cast<std::uint64_t>(call.call) << 32 | call.result,
          (change_of(call) << 1) | (call.parent == 0 ? 1U : 0U)};
}

NativeArguments::NativeArguments(NativeTrace& trace, const Node* machine_info)
    : trace_(trace), tree_(machine_info), has_lost_nesting_(trace.fact_text("converted_from") == "per-op") {}

NativeArguments::Outcome NativeArguments::make(const NativeCall& call, CallArguments& arguments, std::string_view& op,
                                               std::string& wrong) {
  make_room();
  const NativeValue* const value_of_call = trace_.values().call(call.call);
  if (value_of_call == nullptr) return Outcome::kNotWhole;
  const NativeValue& called = *value_of_call;
  op = tree_.key(called.text);
  wrong_.clear();
  tree_.begin_call(op);
  Slots slots{&call, 0};
  for (std::uint32_t i = 0; i < called.positional; ++i) tree_.add(position_name(i), value(*called.items[i], slots));
  const bool top = call.parent == 0 && !has_lost_nesting_;
  const std::string_view queue = top ? queue_keyword(called) : std::string_view();
  for (std::size_t i = 0; i < called.names.size(); ++i) {
    const std::string_view name = called.names[i];
    if (!queue.empty() && name == queue) continue;
    const Node given = value(*called.items[called.positional + i], slots);
    if (!tree_.is_left_out(name)) tree_.add(std::string(name), given);
  }
  wrong = tree_.end_call(arguments);
  if (wrong.empty()) wrong = wrong_;
  return wrong.empty() ? Outcome::kDone : Outcome::kNoJson;
}

Node NativeArguments::result(const NativeCall& call) {
  const NativeValue* result = call.result != 0 ? trace_.values().value(call.result) : nullptr;
  return result != nullptr ? plain(*result) : ArgumentTree::null();
}

// Decoded values and trees that were made of them go when they take too much: never while a call is being made.
void NativeArguments::make_room() {
  trace_.values().forget();
  if (tree_.bytes() <= kKeptLimit) return;
  tree_.clear();
  shared_.clear();
}

Node NativeArguments::value(const NativeValue& value_at, Slots& slots) {
  switch (value_at.tag) {
    case Tag::kTensor: {
      const std::uint32_t slot = slots.next++;
      const NativeValue* spec = value_at.items[0];
      bool freed = false;
      if (slots.call != nullptr) {
        for (const TensorWrite& write : slots.call->writes) {
          const NativeValue* after = write.slot == slot ? trace_.values().value(write.spec) : nullptr;
          if (after != nullptr) spec = after;
        }
        freed = std::ranges::find(slots.call->frees, slot) != slots.call->frees.end();
      }
      return freed && spec->is_struct("ttnn.Tensor") ? tensor(*spec, true) : shared(*spec);
    }
    case Tag::kList:
    case Tag::kTuple: {
      std::vector<Node> items;
      items.reserve(value_at.items.size());
      for (const NativeValue* item : value_at.items) items.push_back(value(*item, slots));
      return tree_.list(items);
    }
    case Tag::kDict: {
      Fields fields;
      for (std::size_t i = 0; i + 1 < value_at.items.size(); i += 2)
        fields.push_back({tree_.key(tree_.keep(key_text(*value_at.items[i]))), value(*value_at.items[i + 1], slots)});
      return tree_.object(fields);
    }
    case Tag::kNull:
      return ArgumentTree::null();
    case Tag::kTrue:
    case Tag::kFalse:
      return ArgumentTree::boolean(value_at.is(Tag::kTrue));
    case Tag::kInt:
      return ArgumentTree::number(tree_.keep(std::to_string(value_at.number)));
    case Tag::kBigInt:
      return big_number(value_at.text);
    case Tag::kFloat:
      return ArgumentTree::number(tree_.keep(json::float_text(value_at.real)));
    case Tag::kString:
      return tree_.text(value_at.text);
    default:
      return shared(value_at);
  }
}

Node NativeArguments::plain(const NativeValue& value_at) {
  Slots none{nullptr, 0};
  return value(value_at, none);
}

Node NativeArguments::big_number(std::string_view digits) {
  const std::string_view unsigned_digits = digits.starts_with('-') ? digits.substr(1) : digits;
  if (digits.empty() || unsigned_digits.find_first_not_of("0123456789") != std::string_view::npos)
    return tree_.text(digits);
  if (unsigned_digits.empty() || (unsigned_digits.size() > 1 && unsigned_digits[0] == '0'))
    wrong_ = fmt::format("its arguments cannot be written as JSON: '{}' is not a JSON value", digits.substr(0, 40));
  return ArgumentTree::number(digits);
}

// Objects are values of their own that repeat: each is made once.
Node NativeArguments::shared(const NativeValue& value_at) {
  if (value_at.id == 0) return object(value_at);
  if (const auto known = shared_.find(value_at.id); known != shared_.end()) return known->second;
  const bool was_right = wrong_.empty();
  const Node node = object(value_at);
  if (was_right && wrong_.empty()) shared_.emplace(value_at.id, node);
  return node;
}

Node NativeArguments::object(const NativeValue& value_at) {
  if (!value_at.is(Tag::kStruct)) return printed_object(value_at);
  if (value_at.type == "ttnn.Tensor") return tensor(value_at, false);
  if (value_at.type == "torch.Tensor") return torch_tensor(value_at);
  if (value_at.type == "MeshDevice") return mesh_device(value_at);
  if (value_at.type == "MemoryConfig") return memory_config(value_at);
  if (is_compute_config(value_at.type)) return compute_config(value_at);
  if (Node node; is_matmul_config(value_at.type) && program_config(value_at, node)) return node;
  return printed_object(value_at);
}

std::string_view NativeArguments::printed(const NativeValue* value_at) {
  if (value_at == nullptr) return "None";
  if (const PrintedText* text = value_at->id != 0 ? trace_.values().printed(value_at->id) : nullptr) return text->text;
  return tree_.keep(made_text(*value_at));
}

Node NativeArguments::printed_text(const NativeValue* value_at) { return tree_.text(printed(value_at)); }

// {"__type__": …, "fields": {member: value, …}}; false where the trace has no members, or only such as belong to one
// run.
bool NativeArguments::members(const NativeValue& value_at, Node& out) {
  if (!value_at.is(Tag::kStruct) || !std::ranges::any_of(value_at.names, is_member)) return false;
  Fields fields;
  for (std::size_t i = 0; i < value_at.names.size(); ++i) {
    if (is_member(value_at.names[i])) fields.push_back({tree_.key(value_at.names[i]), plain(*value_at.items[i])});
  }
  Fields both{{"__type__", tree_.text(last_part(value_at.type, "."))}, {"fields", tree_.object(fields)}};
  out = tree_.object(both);
  return true;
}

Node NativeArguments::printed_object(const NativeValue& value_at) {
  const bool say_more = value_at.is(Tag::kStruct) && (holds_tensor(value_at) || tells_nothing(printed(&value_at)));
  if (Node node; say_more && members(value_at, node)) return node;
  const PrintedText* text = value_at.id != 0 ? trace_.values().printed(value_at.id) : nullptr;
  // Enums of the library have a __dict__, most of its other objects have none.
  const bool has_dict = text != nullptr ? text->has_dict : value_at.is(Tag::kEnum);
  Fields fields{{"type", tree_.text(value_at.is(Tag::kBytes) ? "bytes" : last_part(value_at.type, "."))},
                {has_dict ? "repr" : "value", printed_text(&value_at)}};
  return tree_.object(fields);
}

}  // namespace opwright::format
