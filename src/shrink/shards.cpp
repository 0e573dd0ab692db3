#include "shrink/shards.h"

#include <algorithm>
#include <map>

#include "dialect/ttnn/tensor_layout.h"
#include "exec/call_facts.h"
#include "model/tensor_facts.h"
#include "shrink/edit.h"

namespace opwright::shrink {
namespace {

constexpr std::int64_t kTile = 32;

// The first cores of a grid, row by row.
std::vector<CoreRange> first_cores(const std::vector<CoreRange>& grid, std::int64_t cores) {
  std::vector<CoreRange> out;
  for (const CoreRange& range : grid) {
    const std::int64_t width = range.end.x - range.start.x + 1;
    const std::int64_t height = std::min(range.end.y - range.start.y + 1, cores / width);
    if (height > 0) out.push_back({range.start, {range.end.x, range.start.y + height - 1}});
    cores -= height * width;
    const std::int64_t next = range.start.y + height;
    if (cores > 0 && next <= range.end.y) {
      out.push_back({{range.start.x, next}, {range.start.x + std::min(cores, width) - 1, next}});
      cores -= std::min(cores, width);
    }
    if (cores <= 0) break;
  }
  return out;
}

// Of `length` elements: how many on one core, and on how many cores.
struct Cut {
  std::int64_t part = 1, cores = 1;
};
Cut cut(std::int64_t length, std::int64_t part, std::int64_t cores, Keep keep, std::int64_t step) {
  if (keep == Keep::kShard && part > 0 && part <= length) return {part, div_up(length, part)};
  cores = std::clamp<std::int64_t>(cores, 1, std::max<std::int64_t>(1, div_up(length, step)));
  const std::int64_t fitted = round_up(std::max<std::int64_t>(1, div_up(length, cores)), step);
  return {fitted, div_up(length, fitted)};
}

MemoryConfig fitted(const TensorSpec& spec, MemoryConfig memory, Keep keep) {
  if (!memory.shard || memory.shard->shape.size() != 2 || memory.shard->grid.empty()) return memory;
  ShardSpec& shard = *memory.shard;
  TensorSpec plain = spec;
  plain.memory = interleaved(BufferType::kDram);
  const Shape2D whole = physical_shape(plain);
  const std::int64_t step = spec.layout.value == Layout::kTile ? kTile : 1;
  const std::int64_t cores = cores_of(shard.grid);
  switch (memory.layout.value) {
    case MemoryLayout::kHeightSharded: {
      const Cut rows = cut(whole.height, shard.shape[0], cores, keep, step);
      shard.shape = {rows.part, whole.width};
      shard.grid = first_cores(shard.grid, rows.cores);
      break;
    }
    case MemoryLayout::kWidthSharded: {
      const Cut columns = cut(whole.width, shard.shape[1], cores, keep, step);
      shard.shape = {whole.height, columns.part};
      shard.grid = first_cores(shard.grid, columns.cores);
      break;
    }
    case MemoryLayout::kBlockSharded: {
      const CoreRange range = shard.grid.front();
      const bool turned = shard.orientation.value == Orientation::kColMajor;
      const std::int64_t x = range.end.x - range.start.x + 1, y = range.end.y - range.start.y + 1;
      const Cut rows = cut(whole.height, shard.shape[0], turned ? x : y, keep, step);
      const Cut columns = cut(whole.width, shard.shape[1], turned ? y : x, keep, step);
      shard.shape = {rows.part, columns.part};
      shard.grid = {{range.start,
                     {range.start.x + (turned ? rows.cores : columns.cores) - 1,
                      range.start.y + (turned ? columns.cores : rows.cores) - 1}}};
      break;
    }
    default:
      break;
  }
  return memory;
}

std::string text_of(const MemoryConfig& memory) { return to_text(memory); }

}  // namespace

OpConfig refitted(const OpConfig& config, const OpConfig& before, Keep keep, const Rules& rules) {
  OpConfig out = config;
  std::map<std::string, std::string> followed;  // memory before -> now
  for_each_tensor_fact(config, [&](const std::string& name, const TensorSpec& spec) {
    if (!spec.memory || !spec.memory->shard) return;
    const auto old = find_fact(before.args, name);
    const Value* value = old ? value_at(before.args, old->steps) : nullptr;
    if (value == nullptr || value->as_tensor() == nullptr || value->as_tensor()->shape == spec.shape) return;
    const std::string now = text_of(fitted(spec, *spec.memory, keep));
    followed.emplace(text_of(*spec.memory), now);
    if (auto made = with(out, name + ".memory", now)) out = *std::move(made);
  });
  for_each_value_fact(config, [&](const std::string& name, const Value& value) {
    const MemoryConfig* memory = value.as_memory();
    if (memory == nullptr || !memory->shard) return;
    std::string now;
    if (const auto found = followed.find(text_of(*memory)); found != followed.end()) {
      now = found->second;
    } else if (const auto loose = without(out, name)) {
      if (const auto output = rules.output_of(*loose)) now = text_of(fitted(*output, *memory, keep));
    }
    if (now.empty()) return;
    if (auto made = with(out, name, now)) out = *std::move(made);
  });
  return out;
}

std::string on_cores(const TensorSpec& spec, std::int64_t cores) {
  if (!spec.memory || !spec.memory->shard || spec.memory->shard->grid.empty()) return "";
  MemoryConfig memory = *spec.memory;
  if (memory.layout.value == MemoryLayout::kBlockSharded) {
    CoreRange& range = memory.shard->grid.front();
    const std::int64_t x = range.end.x - range.start.x + 1, y = range.end.y - range.start.y + 1;
    if (y > 1 && cores % x == 0)
      range.end.y = range.start.y + cores / x - 1;
    else
      range = {range.start, {range.start.x + cores - 1, range.start.y}};
  } else {
    memory.shard->grid = first_cores(memory.shard->grid, cores);
  }
  return text_of(fitted(spec, memory, Keep::kCores));
}

}  // namespace opwright::shrink
