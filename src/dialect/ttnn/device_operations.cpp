#include "dialect/ttnn/device_operations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/broken.h"
#include "base/take.h"

namespace opwright {
namespace embedded {
extern const std::string_view kTtnnDeviceOperations;
}
namespace {

constexpr std::array<std::pair<DeviceWork, std::string_view>, 18> kWorks{{
    {DeviceWork::kUnknown, "unknown"},
    {DeviceWork::kMatmul, "matmul"},
    {DeviceWork::kConvolution, "convolution"},
    {DeviceWork::kEltwise, "eltwise"},
    {DeviceWork::kReduction, "reduction"},
    {DeviceWork::kNormalization, "normalization"},
    {DeviceWork::kAttention, "attention"},
    {DeviceWork::kPooling, "pooling"},
    {DeviceWork::kEmbedding, "embedding"},
    {DeviceWork::kCache, "cache"},
    {DeviceWork::kDataMovement, "data_movement"},
    {DeviceWork::kShard, "shard"},
    {DeviceWork::kUnshard, "unshard"},
    {DeviceWork::kReshard, "reshard"},
    {DeviceWork::kTilize, "tilize"},
    {DeviceWork::kUntilize, "untilize"},
    {DeviceWork::kTypecast, "typecast"},
    {DeviceWork::kCollective, "collective"},
}};

std::vector<DeviceOperation> read_table() {
  std::vector<DeviceOperation> table;
  std::string_view text = embedded::kTtnnDeviceOperations;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    DeviceOperation operation;
    operation.name = take(line, '\t');
    const std::string_view kind = take(line, '\t');
    const auto found =
        std::find_if(kWorks.begin(), kWorks.end(), [&](const auto& work) { return work.second == kind; });
    if (found == kWorks.end()) broken("a kind of work in device_operations.tsv", kind);
    operation.work = found->first;
    operation.collective = take(line, '\t') == "1";
    while (!line.empty()) operation.operations.push_back(take(line, ' '));
    table.push_back(std::move(operation));
  }
  return table;
}

const std::vector<DeviceOperation>& table() {
  static const std::vector<DeviceOperation> operations = read_table();
  return operations;
}

}  // namespace

std::string_view name_of(DeviceWork work) {
  for (const auto& [value, name] : kWorks)
    if (value == work) return name;
  return "unknown";
}

std::span<const DeviceOperation> known_device_operations() { return table(); }

std::string_view device_class(std::string_view op_code) {
  // Of an adapter its argument, which may be a template itself: the name before the first bracket that is no adapter's.
  while (true) {
    const std::size_t bracket = op_code.find('<');
    if (bracket == std::string_view::npos) break;
    if (!op_code.substr(0, bracket).ends_with("DeviceOperationAdapter")) {
      op_code = op_code.substr(0, bracket);
      break;
    }
    op_code.remove_prefix(bracket + 1);
    const std::size_t end = op_code.rfind('>');
    op_code = op_code.substr(0, end);
  }
  const std::size_t scope = op_code.rfind("::");
  if (scope != std::string_view::npos && scope + 2 < op_code.size()) op_code.remove_prefix(scope + 2);
  return op_code;
}

const DeviceOperation* find_device_operation(std::string_view name) {
  const std::vector<DeviceOperation>& all = table();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const DeviceOperation& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

}  // namespace opwright
