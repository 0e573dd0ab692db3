#include "jobs/value_text.h"

#include "base/json_object.h"
#include "model/call_json.h"

namespace opwright::jobs {

std::string arguments_json(const OpConfig& config) {
  JsonObject object;
  for (const Argument& argument : config.args) object.add_raw(argument.name, shown_value(argument.value));
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
