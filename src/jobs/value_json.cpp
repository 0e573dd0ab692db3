#include "jobs/value_json.h"

#include <cmath>

#include "base/json_object.h"
#include "base/json_write.h"

namespace opwright::jobs {
namespace {

std::string fields_json(const Fields& fields) {
  JsonObject object;
  std::int64_t position = 0;
  for (const auto& [name, value] : fields)
    object.add_raw(name.empty() ? std::to_string(position++) : name, value_json(value));
  return object.text();
}

std::string shard_json(const ShardSpec& spec) {
  std::vector<std::string> grid;
  for (const CoreRange& range : spec.grid)
    grid.push_back(to_text(Shape{range.start.x, range.start.y, range.end.x, range.end.y}));
  JsonObject object;
  object.add_raw("shape", to_text(spec.shape)).add_raw("grid", json_array(grid, true));
  if (spec.orientation.present()) object.add("orientation", spec.orientation.name());
  if (!spec.distribution.empty()) object.add("distribution", spec.distribution);
  if (!spec.more.empty()) object.add_raw("more", fields_json(spec.more));
  return object.text();
}

std::string memory_json(const MemoryConfig& config) {
  JsonObject object;
  if (config.layout.present()) object.add("layout", config.layout.name());
  if (config.buffer.present()) object.add("buffer", config.buffer.name());
  if (config.shard) object.add_raw("shard", shard_json(*config.shard));
  if (config.nd_shard) object.add_raw("nd_shard", shard_json(*config.nd_shard));
  if (!config.more.empty()) object.add_raw("more", fields_json(config.more));
  return object.text();
}

std::string tensor_json(const TensorSpec& spec) {
  JsonObject object;
  if (!spec.type.empty()) object.add("type", spec.type);
  if (spec.has_shape) object.add_raw("shape", to_text(spec.shape));
  if (spec.dtype.present()) object.add("dtype", spec.dtype.name());
  if (spec.layout.present()) object.add("layout", spec.layout.name());
  if (spec.storage.present()) object.add("storage", spec.storage.name());
  if (spec.memory) object.add_raw("memory", memory_json(*spec.memory));
  if (spec.tile) object.add_raw("tile", to_text(*spec.tile));
  if (spec.device_shape) object.add_raw("device_shape", to_text(*spec.device_shape));
  if (spec.placement) {
    JsonObject placement;
    placement.add_raw("dims", json_array(spec.placement->dims, false))
        .add_raw("distribution", to_text(spec.placement->distribution))
        .add_raw("mesh", to_text(spec.placement->mesh));
    object.add_raw("placement", placement.text());
  }
  if (!spec.more.empty()) object.add_raw("more", fields_json(spec.more));
  return object.text();
}

std::string one(std::string_view name, const std::string& json) { return JsonObject().add_raw(name, json).text(); }

}  // namespace

std::string value_json(const Value& value) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string("null"); }, [](bool b) { return std::string(b ? "true" : "false"); },
          [](std::int64_t i) { return std::to_string(i); }, [](const BigInt& i) { return i.digits; },
          [](double d) {
            return std::isfinite(d) ? json::float_text(d)
                                    : one("float", json_string(std::isnan(d) ? "nan"
                                                               : d < 0       ? "-inf"
                                                                             : "inf"));
          },
          [](const std::string& s) { return json_string(s); },
          [](const Enum& e) { return one("enum", json_string(e.type.empty() ? e.name : e.type + "." + e.name)); },
          [](const List& list) {
            std::vector<std::string> items;
            for (const Value& item : list) items.push_back(value_json(item));
            return json_array(items, true);
          },
          [](const std::shared_ptr<const Dict>& dict) { return one("dict", fields_json(dict->entries)); },
          [](const std::shared_ptr<const Struct>& s) {
            return JsonObject().add("struct", s->type).add_raw("fields", fields_json(s->fields)).text();
          },
          [](const Opaque& o) { return JsonObject().add("opaque", o.type).add("text", o.text).text(); },
          [](const std::shared_ptr<const TensorSpec>& spec) { return one("tensor", tensor_json(*spec)); },
          [](const std::shared_ptr<const MemoryConfig>& config) { return one("memory", memory_json(*config)); }},
      value.data());
}

std::string arguments_json(const OpConfig& config) {
  JsonObject object;
  for (const Argument& argument : config.args) object.add_raw(argument.name, value_json(argument.value));
  return object.text();
}

std::string tensor_line(const TensorSpec& spec) {
  std::string text = spec.type.empty() ? "" : spec.type + " ";
  text += spec.has_shape ? to_text(spec.shape) : "shape absent";
  if (spec.dtype.present()) text += " " + std::string(spec.dtype.name());
  if (spec.layout.present()) text += " " + std::string(spec.layout.name());
  if (spec.storage.present() && spec.storage.value != StorageType::kDevice)
    text += " " + std::string(spec.storage.name());
  if (spec.memory) {
    text += "  " + std::string(spec.memory->buffer.name()) + " " + std::string(spec.memory->layout.name());
    MemoryConfig only = *spec.memory;
    if (only.shard && only.nd_shard && only.nd_shard->shape == only.shard->shape &&
        only.nd_shard->grid == only.shard->grid)
      only.nd_shard.reset();  // the same spec said twice
    const std::string all = to_text(only);
    if (const std::size_t at = all.find(" shard "); at != std::string::npos)
      text += " " + all.substr(at, all.size() - at - 1);
    else if (const std::size_t nd = all.find(" nd_shard "); nd != std::string::npos)
      text += " " + all.substr(nd, all.size() - nd - 1);
  }
  for (const auto& [name, value] : spec.more) {
    if (name != "alignment") text += "  " + name + "=" + to_text(value);
  }
  if (spec.placement && !(spec.placement->mesh == Shape{1, 1})) {
    text += "  over " + to_text(spec.placement->mesh);
    for (const std::string& dim : spec.placement->dims) text += " " + dim;
  }
  return text;
}

}  // namespace opwright::jobs
