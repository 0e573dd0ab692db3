#include "perf/header.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace opwright::perf {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Column::kCount)> kNames{
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "DEVICE KERNEL DURATION [ns]",
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "PROGRAM HASH",
    "PM IDEAL [ns]",
    "PM FPU UTIL (%)",
    "NOC UTIL (%)",
    "DRAM BW UTIL (%)",
};

// What no figure can be without, beside the kernel's time, which has several names.
constexpr std::array kNeeded{Column::kOpType, Column::kCallCount, Column::kDeviceId, Column::kOpToOp};

// Columns that generations are known to have and that nothing here reads.
constexpr std::array<std::string_view, 16> kKnownBeginnings{
    "DEVICE ",
    "OP TO OP ",
    "DISPATCH ",
    "COMPUTE KERNEL ",
    "DATA MOVEMENT KERNEL ",
    "TENSIX ",
    "ACTIVE ETH ",
    "IDLE ETH ",
    "PM ",
    "NOC ",
    "MULTICAST NOC ",
    "DRAM BW ",
    "ETH BW ",
    "NPE CONG ",
    "SUB DEVICE ID",
    "PARALLELIZATION STRATEGY",
};

bool is_known(std::string_view name) {
  if (name.ends_with("_TT_HOST_FUNC [ns]") || name == "PROGRAM CACHE HIT") return true;
  return std::any_of(kKnownBeginnings.begin(), kKnownBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// "INPUT_3_Y_PAD[LOGICAL]" -> 3 and "Y_PAD[LOGICAL]".
bool tensor_column(std::string_view name, std::string_view side, std::size_t& index, std::string_view& part) {
  if (!name.starts_with(side)) return false;
  name.remove_prefix(side.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || index >= 1000 || end == name.data() + name.size() || *end != '_') return false;
  part = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
  return true;
}

bool take_tensor_column(std::vector<TensorColumns>& tensors, std::size_t index, std::string_view part, int at,
                        bool& padded) {
  if (tensors.size() <= index) tensors.resize(index + 1);
  TensorColumns& tensor = tensors[index];
  if (part == "LAYOUT") return tensor.layout = at, true;
  if (part == "DATATYPE") return tensor.dtype = at, true;
  if (part == "MEMORY") return tensor.memory = at, true;
  constexpr std::string_view kExtents = "WZYX";
  const std::size_t extent = part.empty() ? std::string_view::npos : kExtents.find(part.front());
  if (extent == std::string_view::npos) return false;
  part.remove_prefix(1);
  if (!part.empty() && part != "_PAD[LOGICAL]") return false;
  padded = padded || !part.empty();
  tensor.extents[extent] = at;
  return true;
}

bool is_processor_time(std::string_view name, std::string_view ending) {
  // Per-core figures and single processors of the older chips are parts of a kernel's time, not the time itself.
  return name.starts_with("DEVICE ") && name.ends_with(ending) &&
         (name.find("QUASAR") != std::string_view::npos || name.starts_with("DEVICE DM ") ||
          name.starts_with("DEVICE TRISC "));
}

}  // namespace

std::string_view name_of(Column column) { return kNames[static_cast<std::size_t>(column)]; }

std::string_view name_of(Generation generation) {
  switch (generation) {
    case Generation::k2024:
      return "2024";
    case Generation::kV1:
      return "v1";
    case Generation::kV2:
      return "v2";
    case Generation::kV2_1:
      return "v2.1";
    case Generation::kQuasar:
      return "quasar";
  }
  return "unknown";
}

std::string_view name_of(TimeSource source) {
  switch (source) {
    case TimeSource::kKernel:
      return "kernel";
    case TimeSource::kProcessorKernels:
      return "processor_kernels";
    case TimeSource::kProcessorFirmware:
      return "processor_firmware";
    case TimeSource::kNone:
      return "none";
  }
  return "none";
}

bool Header::is_header(const std::vector<std::string_view>& cells) {
  return cells.size() > 1 && std::find(cells.begin(), cells.end(), "OP CODE") != cells.end();
}

Header Header::of(const std::vector<std::string_view>& cells, const std::string& file, std::uint64_t row,
                  Troubles& troubles) {
  Header header;
  header.columns_.fill(-1);
  std::unordered_map<std::string_view, int> seen;
  bool padded = false, kernel_paths = false;
  std::vector<int> processor_kernels, processor_firmware, quasar_gaps;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view name = cells[i];
    const int at = static_cast<int>(i);
    header.names_.emplace_back(name);
    if (!name.empty() && !seen.emplace(name, at).second) {
      troubles.count(Trouble::kDoubledColumn, {file, row, std::string(name), ""});
      continue;
    }
    if (const auto found = std::find(kNames.begin(), kNames.end(), name); found != kNames.end()) {
      header.columns_[static_cast<std::size_t>(found - kNames.begin())] = at;
      continue;
    }
    std::size_t index = 0;
    std::string_view part;
    if (tensor_column(name, "INPUT_", index, part) && take_tensor_column(header.inputs, index, part, at, padded))
      continue;
    if (tensor_column(name, "OUTPUT_", index, part) && take_tensor_column(header.outputs, index, part, at, padded))
      continue;
    kernel_paths = kernel_paths || name == "COMPUTE KERNEL PATH";
    if (is_processor_time(name, " KERNEL DURATION [ns]")) processor_kernels.push_back(at);
    if (is_processor_time(name, " FW DURATION [ns]")) processor_firmware.push_back(at);
    if (name.starts_with("OP TO OP ") && name.ends_with("LATENCY [ns]")) quasar_gaps.push_back(at);
    if (!name.empty() && !is_known(name)) header.unknown.emplace_back(name);
  }
  if (header.at(Column::kKernel) >= 0) {
    header.time_source = TimeSource::kKernel;
    header.time_columns = {header.at(Column::kKernel)};
  } else if (!processor_kernels.empty()) {
    header.time_source = TimeSource::kProcessorKernels;
    header.time_columns = processor_kernels;
  } else if (!processor_firmware.empty()) {
    header.time_source = TimeSource::kProcessorFirmware;
    header.time_columns = processor_firmware;
  }
  if (header.at(Column::kOpToOp) >= 0)
    header.op_to_op_columns = {header.at(Column::kOpToOp)};
  else
    header.op_to_op_columns = quasar_gaps;
  const bool quasar =
      header.time_source == TimeSource::kProcessorKernels || header.time_source == TimeSource::kProcessorFirmware;
  const bool plain = !padded && !(header.inputs.empty() && header.outputs.empty());
  header.generation = quasar  ? Generation::kQuasar
                      : plain ? kernel_paths ? Generation::k2024 : Generation::kV1
                      : header.at(Column::kArch) >= 0 && header.at(Column::kAvailableCores) >= 0 ? Generation::kV2_1
                                                                                                 : Generation::kV2;
  const auto missing = [&](std::string_view name) {
    troubles.count(Trouble::kMissingColumn, {file, row, std::string(name), ""});
  };
  for (const Column column : kNeeded)
    if (header.at(column) < 0 && !(column == Column::kOpToOp && !quasar_gaps.empty())) missing(name_of(column));
  if (header.time_source == TimeSource::kNone) missing(name_of(Column::kKernel));
  return header;
}

}  // namespace opwright::perf
