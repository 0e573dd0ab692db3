#include "cli/config_diff.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"

namespace opwright::cli {
namespace {

constexpr std::size_t kCommonField = 64;  // a field shared by more configurations says nothing about who is near whom

void flatten_shard(const std::string& path, const ShardSpec& spec, FlatConfig& out) {
  out.emplace_back(path + ".shape", to_text(spec.shape));
  std::string grid;
  for (const CoreRange& range : spec.grid) {
    grid += (grid.empty() ? "" : "+") + ("(" + std::to_string(range.start.x) + "," + std::to_string(range.start.y) +
                                         ")-(" + std::to_string(range.end.x) + "," + std::to_string(range.end.y) + ")");
  }
  out.emplace_back(path + ".grid", grid);
  if (spec.orientation.present()) out.emplace_back(path + ".orientation", spec.orientation.name());
  if (!spec.distribution.empty()) out.emplace_back(path + ".distribution", spec.distribution);
  for (const auto& [name, value] : spec.more) out.emplace_back(path + "." + name, to_text(value));
}

void flatten_memory(const std::string& path, const MemoryConfig& config, FlatConfig& out) {
  if (config.layout.present()) out.emplace_back(path + ".layout", config.layout.name());
  if (config.buffer.present()) out.emplace_back(path + ".buffer", config.buffer.name());
  if (config.shard) flatten_shard(path + ".shard", *config.shard, out);
  if (config.nd_shard) flatten_shard(path + ".nd_shard", *config.nd_shard, out);
  for (const auto& [name, value] : config.more) out.emplace_back(path + "." + name, to_text(value));
}

void flatten_value(const std::string& path, const Value& value, FlatConfig& out) {
  if (const TensorSpec* spec = value.as_tensor()) {
    if (!spec->type.empty()) out.emplace_back(path + ".type", spec->type);
    out.emplace_back(path + ".shape", spec->has_shape ? to_text(spec->shape) : "absent");
    if (spec->dtype.present()) out.emplace_back(path + ".dtype", spec->dtype.name());
    if (spec->layout.present()) out.emplace_back(path + ".layout", spec->layout.name());
    if (spec->storage.present()) out.emplace_back(path + ".storage", spec->storage.name());
    if (spec->memory) flatten_memory(path + ".memory", *spec->memory, out);
    if (spec->tile) out.emplace_back(path + ".tile", to_text(*spec->tile));
    if (spec->device_shape) out.emplace_back(path + ".device_shape", to_text(*spec->device_shape));
    if (spec->placement) {
      std::string dims;
      for (const std::string& dim : spec->placement->dims) dims += (dims.empty() ? "" : " ") + dim;
      out.emplace_back(path + ".placement", dims + " over " + to_text(spec->placement->distribution) + " of " +
                                                to_text(spec->placement->mesh));
    }
    for (const auto& [name, more] : spec->more) out.emplace_back(path + "." + name, to_text(more));
  } else if (const MemoryConfig* config = value.as_memory()) {
    flatten_memory(path, *config, out);
  } else if (const Struct* s = value.as_struct()) {
    out.emplace_back(path, s->type);
    std::size_t position = 0;
    for (const auto& [name, member] : s->fields)
      flatten_value(path + "." + (name.empty() ? std::to_string(position++) : name), member, out);
  } else if (const Fields* dict = value.as_dict()) {
    for (const auto& [name, member] : *dict) flatten_value(path + "." + name, member, out);
  } else if (const List* list = value.as_list();
             list != nullptr && !list->empty() &&
             (list->front().as_tensor() != nullptr || list->front().as_struct() != nullptr)) {
    for (std::size_t i = 0; i < list->size(); ++i) flatten_value(path + "[" + std::to_string(i) + "]", (*list)[i], out);
  } else {
    out.emplace_back(path, to_text(value));
  }
}

}  // namespace

FlatConfig flatten(const OpConfig& config) {
  FlatConfig out;
  out.emplace_back("convention", name_of(config.convention));
  for (const Argument& argument : config.args) flatten_value(argument.name, argument.value, out);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<FieldChange> changes_between(const FlatConfig& a, const FlatConfig& b) {
  std::vector<FieldChange> changes;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].first < b[j].first)) {
      changes.push_back({a[i].first, a[i].second, "absent"});
      ++i;
    } else if (i == a.size() || b[j].first < a[i].first) {
      changes.push_back({b[j].first, "absent", b[j].second});
      ++j;
    } else {
      if (a[i].second != b[j].second) changes.push_back({a[i].first, a[i].second, b[j].second});
      ++i;
      ++j;
    }
  }
  return changes;
}

OperationDiff diff_operation(const std::string& op, const std::vector<OpConfig>& a, const std::vector<OpConfig>& b) {
  OperationDiff diff;
  diff.op = op;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].key < b[j].key))
      diff.removed.push_back(&a[i++]);
    else if (i == a.size() || b[j].key < a[i].key)
      diff.added.push_back(&b[j++]);
    else
      ++diff.same, ++i, ++j;
  }
  if (diff.removed.empty() || diff.added.empty()) return diff;

  // Nearest pairs by shared fields, found through an index of fields, so that the work stays linear.
  std::vector<FlatConfig> added;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> having;
  const auto field_hash = [](const auto& field) { return xxh64(field.first + "=" + field.second); };
  for (const OpConfig* config : diff.added) {
    const auto number = static_cast<std::uint32_t>(added.size());
    added.push_back(flatten(*config));
    for (const auto& field : added.back()) {
      auto& list = having[field_hash(field)];
      if (list.size() <= kCommonField) list.push_back(number);
    }
  }
  std::vector<bool> taken(added.size());
  std::vector<const OpConfig*> removed;
  std::unordered_map<std::uint32_t, std::size_t> shared;
  for (const OpConfig* config : diff.removed) {
    const FlatConfig flat = flatten(*config);
    shared.clear();
    for (const auto& field : flat) {
      const auto list = having.find(field_hash(field));
      if (list == having.end() || list->second.size() > kCommonField) continue;
      for (const std::uint32_t number : list->second) {
        if (!taken[number]) ++shared[number];
      }
    }
    if (shared.empty()) {  // only common fields: any one left is as near as another
      for (std::uint32_t number = 0; number < added.size() && shared.size() < kCommonField; ++number) {
        if (!taken[number]) shared[number] = 1;
      }
    }
    std::size_t fewest = flat.size();
    std::uint32_t nearest = 0;
    std::vector<FieldChange> best;
    for (const auto& [number, count] : shared) {
      std::vector<FieldChange> changes = changes_between(flat, added[number]);
      if (best.empty() ? changes.size() * 2 <= std::max(flat.size(), added[number].size())
                       : changes.size() < fewest || (changes.size() == fewest && number < nearest)) {
        fewest = changes.size();
        nearest = number;
        best = std::move(changes);
      }
    }
    if (best.empty()) {
      removed.push_back(config);
    } else {
      taken[nearest] = true;
      diff.changed.push_back({config, diff.added[nearest], std::move(best)});
    }
  }
  std::vector<const OpConfig*> left;
  for (std::size_t k = 0; k < added.size(); ++k) {
    if (!taken[k]) left.push_back(diff.added[k]);
  }
  diff.removed = std::move(removed);
  diff.added = std::move(left);
  return diff;
}

}  // namespace opwright::cli
