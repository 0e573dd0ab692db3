#include "perf/report_json.h"

#include <array>
#include <set>

#include "base/json_write.h"
#include "perf/by_op.h"

namespace opwright::perf {
namespace {

std::string files_json(const Recording& recording) {
  return recording.files.size() == 1 ? json_string(recording.files.front()) : json_array(recording.files, false);
}

std::string troubles_json(const Troubles& troubles) {
  JsonObject object;
  for (const auto& [trouble, counted] : troubles.kinds()) {
    JsonObject one;
    one.add("count", counted.count)
        .add("file", counted.first.file)
        .add("row", static_cast<std::int64_t>(counted.first.row))
        .add("column", counted.first.column)
        .add("seen", counted.first.seen);
    object.add_raw(name_of(trouble), one.text());
  }
  return object.text();
}

std::string tensors_json(const std::vector<RowTensor>& tensors) {
  const auto shape = [](const std::array<std::int64_t, 4>& extents) {
    std::vector<std::string> numbers;
    for (const std::int64_t extent : extents) numbers.push_back(std::to_string(extent));
    return json_array(numbers, true);
  };
  std::vector<std::string> items;
  for (const RowTensor& tensor : tensors) {
    JsonObject one;
    one.add_raw("shape", shape(tensor.logical)).add_raw("padded", shape(tensor.padded));
    one.add("dtype", tensor.dtype).add("layout", tensor.layout).add("memory", tensor.memory);
    items.push_back(one.text());
  }
  return json_array(items, true);
}

std::string position_json(const Report& report, std::size_t at, bool explained) {
  const Position& position = report.reduced.positions[at];
  const Explanation& why = report.explanations[at];
  const Statistics kernel = statistics_of(position.kernel_ns);
  JsonObject object;
  object.add("operation", report.op(position))
      .add("op", report.op(position))
      .add("count", kernel.count)
      .add_raw("kernel_ns", statistics_json(kernel))
      .add_raw("op_to_op_ns", statistics_json(statistics_of(position.op_to_op_ns)))
      .add("bound", name_of(why.bound))
      .add_raw("fpu_percent", figure_json(has(why.fpu_percent) ? why.fpu_percent : position.fpu_percent))
      .add_raw("dram_percent", figure_json(has(position.dram_percent) ? position.dram_percent : why.dram_percent))
      .add_raw("cores", figure_json(position.cores));
  if (!explained) return object.text();
  const Signature& signature = report.signature(position);
  object.add("row", static_cast<std::int64_t>(position.first_row))
      .add("work", name_of(signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work))
      .add_raw("available_cores", figure_json(position.available_cores))
      .add_raw("share_percent", figure_json(100 * kernel.mean / report.reduced.kernel_ns))
      .add("fidelity", signature.parts.fidelity)
      .add_raw("flops", figure_json(why.flops))
      .add_raw("dram_bytes", figure_json(why.dram_bytes))
      .add_raw("bytes", figure_json(why.bytes))
      .add_raw("l1_bytes", figure_json(why.l1_bytes))
      .add_raw("pm_ideal_ns", figure_json(position.pm_ideal_ns))
      .add_raw("host_ns", statistics_json(statistics_of(position.host_ns)))
      .add("advice", why.advice)
      .add_raw("inputs", tensors_json(signature.parts.inputs))
      .add_raw("outputs", tensors_json(signature.parts.outputs));
  return object.text();
}

std::string groups_json(const Report& report, GroupBy by) {
  std::vector<std::string> items;
  for (const Group& group : groups_of(report, by)) {
    JsonObject object;
    object.add("name", group.name)
        .add("positions", group.positions)
        .add_raw("kernel_ns", figure_json(group.kernel_ns))
        .add_raw("op_to_op_ns", figure_json(group.gaps_ns))
        .add_raw("share_percent", figure_json(group.share));
    items.push_back(object.text());
  }
  return json_array(items, true);
}

std::string tax_json(const Report& report) {
  std::vector<std::string> trips;
  for (const RoundTrip& trip : report.tax.trips) {
    JsonObject object;
    object.add("away", static_cast<std::int64_t>(trip.away + 1))
        .add("back", static_cast<std::int64_t>(trip.back + 1))
        .add("operation", report.op(report.reduced.positions[trip.away]))
        .add("op", report.op(report.reduced.positions[trip.away]))
        .add("for", trip.for_whom)
        .add_raw("kernel_ns", figure_json(trip.kernel_ns))
        .add_raw("op_to_op_ns", figure_json(trip.gaps_ns));
    trips.push_back(object.text());
  }
  JsonObject object;
  object.add("operations", report.tax.operations)
      .add_raw("kernel_ns", figure_json(report.tax.kernel_ns))
      .add_raw("op_to_op_ns", figure_json(report.tax.gaps_ns))
      .add_raw("round_trips", json_array(trips, true));
  return object.text();
}

}  // namespace

std::string figure_json(double figure) {
  if (!std::isfinite(figure)) return "null";
  if (figure == std::floor(figure) && std::abs(figure) < 1e15) return std::to_string(static_cast<std::int64_t>(figure));
  return json::float_text(figure);
}

std::string statistics_json(const Statistics& statistics) {
  JsonObject object;
  object.add_raw("mean", figure_json(statistics.mean))
      .add_raw("median", figure_json(statistics.median))
      .add_raw("sd", figure_json(statistics.sd))
      .add_raw("min", figure_json(statistics.min));
  return object.text();
}

JsonObject coverage_json(const Recording& recording, const Coverage& coverage) {
  JsonObject rows_of_device;
  for (const auto& [device, rows] : coverage.rows_of_device) rows_of_device.add(std::to_string(device), rows);
  std::set<std::string> generations;
  std::set<std::string> unknown;
  for (const Header& header : recording.headers) {
    generations.emplace(name_of(header.generation));
    unknown.insert(header.unknown.begin(), header.unknown.end());
  }
  JsonObject object;
  object.add_bool("complete", coverage.complete())
      .add_raw("generations", json_array({generations.begin(), generations.end()}, false))
      .add("time_source", name_of(recording.time_source()))
      .add_bool("joined", coverage.joined)
      .add("device_rows", coverage.device_rows)
      .add("rows_without_time", coverage.rows_without_time)
      .add("captured_rows", coverage.captured_rows)
      .add("operations", coverage.operations)
      .add("operations_without_time", coverage.operations_without_time)
      .add("operations_missing_devices", coverage.operations_missing_devices)
      .add("missing_device_rows", coverage.missing_device_rows)
      .add("left_out_operations", coverage.left_out_operations)
      .add("repeated_rows", coverage.repeated_rows)
      .add("signature_differs", coverage.signature_differs)
      .add("unknown_ops", coverage.unknown_ops)
      .add("replays", coverage.sessions)
      .add_raw("rows_of_device", rows_of_device.text())
      .add("unmatched_rows", recording.unmatched_rows)
      .add("filled_figures", recording.filled_figures)
      .add_raw("unknown_columns", json_array({unknown.begin(), unknown.end()}, false))
      .add_raw("troubles", troubles_json(recording.troubles));
  return object;
}

JsonObject report_json(const Report& report, bool explained) {
  std::vector<std::string> positions;
  for (std::size_t j = 0; j < report.reduced.positions.size(); ++j)
    positions.push_back(position_json(report, j, explained));
  const Reduced& reduced = report.reduced;
  JsonObject object;
  object.add_raw("file", files_json(report.recording))
      .add("window", report.window.name)
      .add("iterations", reduced.iterations)
      .add("devices", static_cast<std::int64_t>(reduced.devices.size()))
      .add_raw("kernel_ns", figure_json(reduced.kernel_ns))
      .add_raw("op_to_op_ns", figure_json(reduced.op_to_op_ns))
      .add_raw("first_op_gap_ns", figure_json(reduced.first_op_gap_ns))
      .add_raw("host_ns", figure_json(reduced.host_ns))
      .add_raw("positions", json_array(positions, true))
      .add_raw("coverage", coverage_json(report.recording, reduced.coverage).text());
  if (!explained) return object;
  object.add("board", report.board.how)
      .add_raw("by_op", groups_json(report, GroupBy::kOp))
      .add_raw("by_work", groups_json(report, GroupBy::kWork))
      .add_raw("by_memory", groups_json(report, GroupBy::kMemory))
      .add_raw("layout_tax", tax_json(report));
  return object;
}

JsonObject windows_json(const Recording& recording) {
  std::vector<std::string> windows, singles;
  for (const Window& window : recording.windows.all) {
    JsonObject object;
    object.add("window", window.name)
        .add("first_row", static_cast<std::int64_t>(window.first_row))
        .add("last_row", static_cast<std::int64_t>(window.last_row))
        .add("depth", static_cast<std::int64_t>(window.depth))
        .add("device_rows", static_cast<std::int64_t>(window.end - window.begin))
        .add("host_rows", static_cast<std::int64_t>(window.host_end - window.host_begin))
        .add_raw("wall_ns", figure_json(window.host_end_ts - window.host_start));
    windows.push_back(object.text());
  }
  for (const Mark& mark : recording.windows.singles) {
    JsonObject object;
    object.add("signpost", mark.name).add("row", static_cast<std::int64_t>(mark.row));
    singles.push_back(object.text());
  }
  JsonObject object;
  object.add_raw("file", files_json(recording))
      .add_raw("windows", json_array(windows, true))
      .add_raw("unpaired", json_array(singles, true));
  return object;
}

JsonObject like_json(std::string_view rule, const LikeResult& result, const Recording& recording,
                     const Window& window) {
  std::vector<std::string> ops;
  for (const LikeOp& op : result.ops) {
    JsonObject object;
    object.add("operation", op.op)
        .add("op", op.op)
        .add("count", op.count)
        .add_raw("avg_kernel_ns", figure_json(op.avg_kernel_ns));
    if (rule == "detailed") {
      object.add_raw("min_kernel_ns", figure_json(op.min_kernel_ns))
          .add_raw("max_kernel_ns", figure_json(op.max_kernel_ns))
          .add_raw("std_kernel_ns", figure_json(op.std_kernel_ns))
          .add("refused", op.refused);
    } else {
      object.add_raw("avg_op_to_op_ns", figure_json(op.avg_op_to_op_ns));
      if (has(op.total_kernel_ns))
        object.add_raw("total_kernel_ns", figure_json(op.total_kernel_ns))
            .add_raw("total_op_to_op_ns", figure_json(op.total_op_to_op_ns));
    }
    ops.push_back(object.text());
  }
  JsonObject object;
  object.add_raw("file", files_json(recording))
      .add("window", window.name)
      .add("like", rule)
      .add_raw("total_kernel_ns", figure_json(result.total_kernel_ns))
      .add_raw("total_op_to_op_ns", figure_json(result.total_op_to_op_ns))
      .add_raw("ops", json_array(ops, true));
  return object;
}

}  // namespace opwright::perf
