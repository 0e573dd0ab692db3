#include "replay/live_tensors.h"

#include <algorithm>
#include <utility>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright::replay {

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kComputed:
      return "computed";
    case Origin::kRecorded:
      return "recorded";
    case Origin::kSketch:
      return "sketch";
    case Origin::kRecipe:
      return "recipe";
  }
  return "";
}

Content content_of(Values values, const TensorSpec& spec, Origin origin, HeldBytes& held) {
  Content out;
  out.dtype = spec.dtype.value;
  out.count = static_cast<std::int64_t>(values.size());
  out.device = held.keep(Packed(values, out.dtype, row_length(spec.shape)));
  out.origin = origin;
  return out;
}

LiveBytes bytes_of(const TensorSpec& spec) {
  LiveBytes bytes;
  if (!spec.has_shape || !spec.memory || !computed(spec.dtype.value) || spec.storage.value == StorageType::kHost)
    return bytes;
  const Pages pages = pages_of(spec);
  const std::int64_t all = pages.bytes * pages.count;
  switch (spec.memory->buffer.value) {
    case BufferType::kDram:
      bytes.dram = all;
      break;
    case BufferType::kL1:
    case BufferType::kL1Small:
      bytes.l1 = all;
      break;
    default:
      break;
  }
  return bytes;
}

std::size_t LiveTensors::make_storage(const TensorSpec& spec, std::uint64_t number) {
  std::size_t place = storages_.size();
  if (unused_.empty()) {
    storages_.emplace_back();
  } else {
    place = unused_.back();
    unused_.pop_back();
  }
  Storage& storage = storages_[place];
  storage = {};
  storage.number = number;
  storage.dtype = spec.dtype.value;
  storage.count = spec.has_shape ? volume(spec.shape) : 0;
  storage.bytes = bytes_of(spec);
  live_.dram += storage.bytes.dram;
  live_.l1 += storage.bytes.l1;
  peak_.dram = std::max(peak_.dram, live_.dram);
  peak_.l1 = std::max(peak_.l1, live_.l1);
  if (number != 0) by_number_[number] = place;
  return place;
}

void LiveTensors::declare(std::uint64_t id, const TensorSpec& spec, std::uint64_t storage, std::uint64_t view_of) {
  if (id == 0 || tensors_.contains(id)) return;
  std::optional<std::size_t> shared;
  if (const auto base = tensors_.find(view_of); view_of != 0 && base != tensors_.end()) shared = base->second;
  if (const auto named = by_number_.find(storage); !shared && storage != 0 && named != by_number_.end())
    shared = named->second;
  const std::int64_t count = spec.has_shape ? volume(spec.shape) : 0;
  if (shared && (storages_[*shared].count != count || storages_[*shared].dtype != spec.dtype.value)) {
    ++copied_views_;
    shared.reset();
    storage = 0;  // the number stays with whoever has it
  }
  const std::size_t place = shared ? *shared : make_storage(spec, storage);
  storages_[place].tensors.push_back(id);
  tensors_.emplace(id, place);
}

bool LiveTensors::share(std::uint64_t a, std::uint64_t b) const {
  const auto first = tensors_.find(a), second = tensors_.find(b);
  return first != tensors_.end() && second != tensors_.end() && first->second == second->second;
}

Content* LiveTensors::content(std::uint64_t id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end() || !storages_[found->second].content) return nullptr;
  return &*storages_[found->second].content;
}

bool LiveTensors::write(std::uint64_t id, Content content) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return false;
  Storage& storage = storages_[found->second];
  storage.dtype = content.dtype;
  storage.count = content.count;
  storage.content = std::move(content);
  return true;
}

void LiveTensors::end(std::size_t place) {
  Storage& storage = storages_[place];
  for (const std::uint64_t id : storage.tensors) tensors_.erase(id);
  live_.dram -= storage.bytes.dram;
  live_.l1 -= storage.bytes.l1;
  if (const auto named = by_number_.find(storage.number); named != by_number_.end() && named->second == place)
    by_number_.erase(named);
  storage = {};
  unused_.push_back(place);
}

void LiveTensors::free(std::uint64_t id) {
  if (const auto found = tensors_.find(id); found != tensors_.end()) end(found->second);
}

void LiveTensors::retire(std::uint64_t id) {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return;
  Storage& storage = storages_[found->second];
  if (storage.tensors.size() == 1) {
    end(found->second);
    return;
  }
  std::erase(storage.tensors, id);
  tensors_.erase(found);
}

}  // namespace opwright::replay
