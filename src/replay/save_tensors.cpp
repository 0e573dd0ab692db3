#include "replay/save_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json_object.h"
#include "base/npy.h"
#include "model/call_json.h"

namespace opwright::replay {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "files are written as they lie in memory");

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

Result<TensorFolder> TensorFolder::create(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error))
    return fail(ErrorCode::kIo, fmt::format("--save {}: cannot be made a folder: {}", path, error.message()));
  if (!fs::is_empty(path, error))
    return fail(ErrorCode::kUsage,
                fmt::format("--save {}: has files in it already; name a new folder, or empty this one", path));
  return TensorFolder(path);
}

Status TensorFolder::write(const std::string& name, const Content& content, const TensorSpec& spec,
                           std::uint64_t tensor, const Step& step) {
  const Values values = content.device->expanded();
  const bool whole = content.device->integer();
  std::string array = npy_header(whole ? "<i8" : "<f4", spec.shape);
  array += whole ? bytes_of(values.ints) : bytes_of(values.floats);
  OPWRIGHT_TRY(write_into(path_, name + ".npy", array));
  return write_into(path_, name + ".json",
                    JsonObject()
                            .add("call", static_cast<std::int64_t>(step.call))
                            .add("op", step.op)
                            .add("tensor", static_cast<std::int64_t>(tensor))
                            .add("values", name_of(content.origin))
                            .add_raw("spec", shown_value(Value::tensor(spec)))
                            .text() +
                        "\n");
}

Status TensorFolder::keep(const format::NativeCall& call, const KnownCall& known, LiveTensors& table,
                          const Step& step) {
  if (step.part != Part::kRun || !known.plan) return {};
  for (std::size_t i = 0; i < known.plan->call.tensors.size(); ++i) {
    const std::size_t slot = known.planned_slots[i];
    if (slot >= call.tensors.size()) continue;
    const Content* content = table.content(call.tensors[slot].id);
    const TensorSlot& tensor = known.plan->call.tensors[i];
    if (content == nullptr || content->count != volume(tensor.spec.shape)) continue;
    const bool outside = content->origin != Origin::kComputed && saved_.insert(call.tensors[slot].id).second;
    bool changed = false;
    for (const OutputSpec& output : known.plan->outputs) changed = changed || output.alias == tensor.param;
    if (!outside && !changed) continue;
    OPWRIGHT_TRY(write(fmt::format("{:06}-{}-{}", step.call, changed ? "changed" : "in",
                                   tensor.item == 0 ? tensor.param : fmt::format("{}{}", tensor.param, tensor.item)),
                       *content, tensor.spec, call.tensors[slot].id, step));
  }
  for (std::size_t i = 0; i < call.results.size() && i < known.results.size(); ++i) {
    const Content* content = table.content(call.results[i].id);
    if (content == nullptr || content->count != volume(known.results[i].shape)) continue;
    OPWRIGHT_TRY(write(fmt::format("{:06}-out{}", step.call, i), *content, known.results[i], call.results[i].id, step));
  }
  return {};
}

}  // namespace opwright::replay
