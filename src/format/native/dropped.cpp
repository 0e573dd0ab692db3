#include "format/native/dropped.h"

#include <algorithm>

namespace opwright::format {

using capture::Tag;

std::string_view DroppedCounter::name_of(What what) {
  switch (what) {
    case kNesting:
      return "nesting";
    case kDurations:
      return "durations";
    case kThreads:
      return "threads";
    case kPhases:
      return "phases and labels";
    case kIdentity:
      return "tensor identity";
    case kChanges:
      return "arguments before the call, and which were freed";
    case kThinned:
      return "mark of calls with less detail";
    case kHashes:
      return "content hashes and sketches";
    case kContents:
      return "tensor contents";
    case kDevice:
      return "device graphs";
    case kTuples:
      return "tuples (written as lists)";
    case kNdShards:
      return "nd_shard_spec";
    case kTiles:
      return "tile other than 32x32";
    case kPadding:
      return "padded_shape other than shape";
    case kLayouts:
      return "layout";
    case kPlacements:
      return "placements and devices of tensors";
    case kStorage:
      return "storage_type";
    case kTorch:
      return "strides and devices of torch tensors";
    case kCount:
      break;
  }
  return "";
}

void DroppedCounter::add(const NativeCall& call) {
  std::uint32_t bits = of_value(call.call);
  const auto set = [&bits](What what, bool is) { bits |= is ? 1U << what : 0U; };
  set(kNesting, call.parent != 0);
  set(kDurations, call.duration_ns > 0 && target_ == Target::kPerOp);
  if (first_thread_ == 0) first_thread_ = call.thread;
  set(kThreads, call.thread != first_thread_);
  const CallContext context = trace_.context(call.context);
  set(kPhases, !context.phase.empty() || (!context.label.empty() && target_ == Target::kPerOp));
  const auto known = [](const auto& tensor) { return tensor.id != 0; };
  set(kIdentity,
      trace_.flow().edges == DataFlow::kRecorded && (std::any_of(call.tensors.begin(), call.tensors.end(), known) ||
                                                     std::any_of(call.results.begin(), call.results.end(), known)));
  set(kChanges, !call.writes.empty() || !call.frees.empty());
  set(kThinned, call.thinned);
  if (trace_.has_data()) {
    for (const TensorData& data : trace_.data_of(call.seq)) {
      const bool has_content = data.hash && trace_.blob(*data.hash) != nullptr;
      set(kContents, has_content && target_ != Target::kPerOp);
      set(kHashes, data.sketch != 0 || (data.hash && !has_content));
    }
  }
  set(kDevice, !trace_.device_of(call.seq).empty());
  for (std::size_t what = 0; what < kCount; ++what) counts_[what] += bits >> what & 1U;
}

std::uint32_t DroppedCounter::of_value(ValueId id) {
  const auto [entry, added] = known_.try_emplace(id, 0);
  if (!added) return entry->second;
  const NativeValue* value = trace_.values().value(id);
  if (value == nullptr) return 0;
  std::uint32_t bits = scan(*value);
  if (target_ == Target::kPerOp) bits &= ~(1U << kLayouts | 1U << kPlacements | 1U << kStorage);
  return entry->second = bits;
}

std::uint32_t DroppedCounter::scan(const NativeValue& value) {
  std::uint32_t bits = value.is(Tag::kTuple) ? 1U << kTuples : 0;
  if (value.is_struct("MemoryConfig")) {
    const NativeValue* shard = value.find("shard_spec");
    const NativeValue* nd_shard = value.find("nd_shard_spec");
    if ((shard == nullptr || shard->is_null()) && nd_shard != nullptr && !nd_shard->is_null()) bits |= 1U << kNdShards;
    return bits;
  }
  if (value.is_struct("ttnn.Tensor")) {
    const NativeValue* tile = value.find("tile");
    const NativeValue* sides = tile != nullptr ? tile->find("tile_shape") : nullptr;
    const NativeValue* layout = value.find("layout");
    const bool row_major = layout != nullptr && layout->text == "ROW_MAJOR";
    if (sides != nullptr && !row_major &&
        std::any_of(sides->items.begin(), sides->items.end(),
                    [](const NativeValue* side) { return side->number != 32; }))
      bits |= 1U << kTiles;
    const NativeValue* shape = value.find("shape");
    const NativeValue* padded = value.find("padded_shape");
    if (shape != nullptr && padded != nullptr &&
        !std::equal(shape->items.begin(), shape->items.end(), padded->items.begin(), padded->items.end(),
                    [](const NativeValue* a, const NativeValue* b) { return a->number == b->number; }))
      bits |= 1U << kPadding;
    if (layout != nullptr) bits |= 1U << kLayouts;
    if (value.find("storage_type") != nullptr) bits |= 1U << kStorage;
    if (value.find("topology") != nullptr || value.find("device") != nullptr) bits |= 1U << kPlacements;
  }
  if (value.is_struct("torch.Tensor") && (value.find("strides") != nullptr || value.find("device") != nullptr))
    bits |= 1U << kTorch;
  // Inside structs tuples are the library's own affair.
  for (const NativeValue* item : value.items) {
    const std::uint32_t inner = scan(*item);
    bits |= value.is(Tag::kStruct) ? inner & ~(1U << kTuples) : inner;
  }
  return bits;
}

void DroppedCounter::tell(Conversion& conversion) const {
  for (std::size_t what = 0; what < kCount; ++what) {
    if (counts_[what] > 0) conversion.drop(name_of(static_cast<What>(what)), counts_[what]);
  }
}

}  // namespace opwright::format
