#include "exec/recorded_return.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json_object.h"
#include "base/words.h"
#include "exec/output_fields.h"
#include "model/call_json.h"

namespace opwright {
namespace {

using Specs = std::vector<OutputSpec>;

bool is_sharded(const TensorSpec& spec) { return spec.memory && spec.memory->sharded(); }

// The recorded output, with what the trace does not say of it, or what hangs on another board, as `other` has it.
OutputSpec completed(OutputSpec recorded, const OutputSpec& other, bool same_board) {
  TensorSpec& spec = recorded.spec;
  if (recorded.padded.empty()) recorded.padded = other.padded;
  if (!spec.has_shape) spec.shape = other.spec.shape;
  if (!spec.dtype.present()) spec.dtype = other.spec.dtype;
  if (!spec.layout.present()) spec.layout = other.spec.layout;
  if (!spec.storage.present()) spec.storage = other.spec.storage;
  if (!spec.memory || (!same_board && (is_sharded(spec) || is_sharded(other.spec)))) spec.memory = other.spec.memory;
  return recorded;
}

std::vector<std::string> differences(const RecordedReturn& recorded, const Specs& other, std::string_view name,
                                     std::string_view board) {
  Specs filled;
  for (std::size_t i = 0; i < recorded.outputs.size(); ++i)
    filled.push_back(i < other.size() ? completed(recorded.outputs[i], other[i], recorded.board == board)
                                      : recorded.outputs[i]);
  return output_differences(filled, other, "recorded", name);
}

// Of several recorded returns the one that differs least; empty: one agrees, or none was recorded.
std::string difference(const Returned& returned, const Specs& other, std::string_view name) {
  std::optional<std::vector<std::string>> least;
  for (const RecordedReturn& recorded : returned.recorded) {
    std::vector<std::string> found = differences(recorded, other, name, returned.board);
    if (!least || found.size() < least->size()) least = std::move(found);
  }
  return least ? fmt::format("{}", fmt::join(*least, "; ")) : "";
}

std::string evidence_of(const Returned& returned) {
  std::int64_t calls = 0;
  for (const RecordedReturn& recorded : returned.recorded) calls += recorded.calls;
  const std::string& board = returned.recorded.front().board;
  return fmt::format("{} of the traces returned so{}{}", plural(calls, "call"), board.empty() ? "" : " on " + board,
                     returned.recorded.size() > 1 ? fmt::format(", in {} ways", returned.recorded.size()) : "");
}

}  // namespace

std::string to_json(std::span<const RecordedReturn> returns) {
  std::vector<std::string> items;
  for (const RecordedReturn& one : returns) {
    std::vector<std::string> outputs;
    for (const OutputSpec& output : one.outputs) outputs.push_back(encode_output(output));
    items.push_back(JsonObject()
                        .add("calls", one.calls)
                        .add("board", one.board)
                        .add_raw("outputs", json_array(outputs, true))
                        .text());
  }
  return json_array(items, true);
}

Result<std::vector<RecordedReturn>> parse_returns(const json::Node& list) {
  std::vector<RecordedReturn> out;
  for (const json::Node& item : list) {
    const json::Node* outputs = item.find("outputs");
    const json::Node* calls = item.find("calls");
    if (outputs == nullptr || calls == nullptr || !calls->as_int64())
      return fail(ErrorCode::kBadInput, "a recorded return without \"outputs\" or \"calls\"");
    RecordedReturn& one = out.emplace_back();
    one.calls = *calls->as_int64();
    one.board = item.string_field("board").value_or("");
    for (const json::Node& output : *outputs) {
      OPWRIGHT_TRY_ASSIGN(OutputSpec spec, decode_output(output));
      one.outputs.push_back(std::move(spec));
    }
  }
  return out;
}

bool tensors_of(const Value& value, std::vector<OutputSpec>& out) {
  if (const TensorSpec* spec = value.as_tensor()) {
    if (!spec->type.empty()) return false;  // a tensor of another library
    out.push_back({*spec, {}, {}});
    return true;
  }
  if (const List* list = value.as_list())
    return std::ranges::all_of(*list, [&](const Value& item) { return tensors_of(item, out); });
  return value.is_null() || value.as_bool() != nullptr || value.as_int() != nullptr || value.as_float() != nullptr;
}

SpecVerdict judge_returned(const Returned& returned) {
  const auto* promised = returned.promised;
  const auto* came = returned.came;
  if (returned.recorded.empty()) {
    if (promised == nullptr || came == nullptr) return {};
    const auto found = output_differences(*promised, *came, "promised", "came");
    if (found.empty()) return {};
    return {Outcome::kFailed, fmt::format("{}", fmt::join(found, "; ")),
            "the device and the rules here differ, and no trace recorded what is right"};
  }
  const std::string by_rules = promised == nullptr ? "" : difference(returned, *promised, "promised");
  const std::string by_device = came == nullptr ? "" : difference(returned, *came, "came");
  if (!by_device.empty())
    return {Outcome::kFailed, by_device,
            evidence_of(returned) + (promised == nullptr ? ""
                                     : by_rules.empty()  ? ", and the rules here promise the same"
                                                         : "; the rules here promise something else again")};
  if (by_rules.empty()) return {};
  return {Outcome::kReferenceWrong, by_rules,
          evidence_of(returned) + (came == nullptr ? "" : ", and the device returns the same")};
}

}  // namespace opwright
