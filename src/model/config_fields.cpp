#include "model/config_fields.h"

#include <algorithm>

namespace opwright {
namespace {

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

}  // namespace opwright
