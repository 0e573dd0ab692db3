#include "cli/perf_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/visible_text.h"
#include "perf/by_op.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

using perf::has;

std::string us(double ns) { return has(ns) ? fmt::format("{:.1f}", ns / 1000) : "-"; }
std::string percent(double value) { return has(value) ? fmt::format("{:.1f}", value) : ""; }
std::string whole(double value) { return has(value) ? fmt::format("{:.0f}", value) : ""; }
// "1,197.5 us"
std::string total_us(double ns) {
  if (!has(ns)) return "no figure";
  const auto tenths = static_cast<std::int64_t>(std::llround(ns / 100));
  return fmt::format("{}.{} us", grouped(tenths / 10), std::abs(tenths % 10));
}

// A cell of CSV: empty, and null in JSON, where there is no figure.
Cell figure(double value) {
  const std::string json = perf::figure_json(value);
  return {json == "null" ? "" : json, json};
}

// `MatmulDeviceOperation` -> `Matmul`: what is left when every name ends alike.
std::string short_op(std::string_view name) {
  for (const std::string_view ending : {"DeviceOperation", "Operation"})
    if (name.ends_with(ending) && name.size() > ending.size())
      return std::string(name.substr(0, name.size() - ending.size()));
  return std::string(name);
}

std::string shape_text(const perf::RowTensor& tensor) {
  std::string text;
  bool leading = true;
  for (std::size_t i = 0; i < 4; ++i) {
    if (leading && tensor.logical[i] == 1 && i < 2) continue;
    leading = false;
    text += (text.empty() ? "" : "x") + std::to_string(tensor.logical[i]);
  }
  return text;
}

std::string tensors_text(const perf::Signature& signature) {
  std::string text;
  for (const perf::RowTensor& tensor : signature.parts.inputs) {
    if (text.size() > 60) break;
    text += (text.empty() ? "" : ", ") + shape_text(tensor) + " " + std::string(tensor.dtype);
  }
  return text;
}

void append_rows(std::string& out, const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                 std::size_t width) {
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width_of(row[i]), ' ');
      line += (i == 0 ? " " : "  ") + (right[i] ? pad + row[i] : row[i] + pad);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += cut_text(line, width) + "\n";
  }
}

std::string head(const perf::Recording& recording, const perf::Window& window) {
  std::string files = visible(recording.files.front());
  if (recording.files.size() > 1) files += fmt::format(" and {} more", recording.files.size() - 1);
  if (window.whole_file)
    return fmt::format("{}   whole file{}\n", files,
                       recording.marks.empty() ? " (it has no signposts)" : ", all windows and what lies between them");
  return fmt::format("{}   window {}, rows {} to {}\n", files, visible(window.name), window.first_row,
                     window.last_row == 0 ? std::string("the end") : std::to_string(window.last_row));
}

std::string coverage_text(const perf::Report& report) {
  const perf::Coverage& coverage = report.reduced.coverage;
  const perf::Recording& recording = report.recording;
  std::string text;
  const auto line = [&](std::int64_t count, std::string words) {
    if (count != 0) text += "  " + words + "\n";
  };
  line(coverage.rows_without_time, fmt::format("{} of {} without a time", grouped(coverage.rows_without_time),
                                               plural(coverage.device_rows, "device row")));
  line(coverage.operations_missing_devices,
       fmt::format("{} not seen on every device, {} missing; the first is in row {}",
                   plural(coverage.operations_missing_devices, "operation"),
                   plural(coverage.missing_device_rows, "row"), coverage.first_missing_row));
  if (coverage.operations_missing_devices > 0)
    for (const auto& [device, rows] : coverage.rows_of_device)
      line(1, fmt::format("  device {}: {}", device, plural(rows, "row")));
  line(coverage.left_out_operations,
       fmt::format("{} outside whole iterations, from row {}: not in the figures",
                   plural(coverage.left_out_operations, "operation"), coverage.first_left_out_row));
  line(coverage.captured_rows, fmt::format("{} recorded into a trace here and replayed elsewhere: not in the figures",
                                           plural(coverage.captured_rows, "row")));
  line(coverage.repeated_rows,
       fmt::format("{} of an operation that this device had already: counted as operations of their own",
                   plural(coverage.repeated_rows, "row")));
  line(coverage.signature_differs,
       fmt::format("{} whose devices ran different things", plural(coverage.signature_differs, "operation")));
  line(coverage.unknown_ops,
       fmt::format("{} of a class that is not in the table of device operations: taken as no collective",
                   plural(coverage.unknown_ops, "operation")));
  if (!coverage.joined && report.reduced.devices.size() > 1)
    text +=
        "  call counts are a plain counter: rows of the devices are not joined, and add up; --device N takes one "
        "device\n";
  line(recording.filled_figures,
       fmt::format("{} taken from the other runs", plural(recording.filled_figures, "figure")));
  line(recording.unmatched_rows,
       fmt::format("{} of other runs that the first one does not have", plural(recording.unmatched_rows, "row")));
  switch (recording.time_source()) {
    case perf::TimeSource::kKernel:
      break;
    case perf::TimeSource::kProcessorKernels:
      text += "  the report has no kernel time: shown is that of the slowest type of processor\n";
      break;
    case perf::TimeSource::kProcessorFirmware:
      text += "  the report has no kernel time: shown is the firmware's time of the slowest type of processor\n";
      break;
    case perf::TimeSource::kNone:
      text += "  the report has no column of kernel times\n";
      break;
  }
  return text;
}

std::string tax_text(const perf::Report& report) {
  const perf::LayoutTax& tax = report.tax;
  if (tax.operations == 0) return "";
  std::string text =
      fmt::format("\nlayout tax: {}, {} of kernels ({:.1f} %), {} of gaps\n", plural(tax.operations, "operation"),
                  total_us(tax.kernel_ns), 100 * tax.kernel_ns / report.reduced.kernel_ns, total_us(tax.gaps_ns));
  for (const perf::RoundTrip& trip : tax.trips)
    text += fmt::format("  {} and back, positions {} and {}: {} of kernels{}\n",
                        short_op(report.op(report.reduced.positions[trip.away])), trip.away + 1, trip.back + 1,
                        total_us(trip.kernel_ns),
                        trip.for_whom.empty() ? ", nothing between them" : ", between them " + trip.for_whom);
  return text;
}

std::string positions_text(const perf::Report& report, const PerfViewOptions& options) {
  const bool several = report.reduced.iterations > 1;
  std::vector<std::vector<std::string>> rows{{"#", "operation", "kernel us", "%"}};
  std::vector<bool> right{true, false, true, true};
  if (several) {
    rows[0].insert(rows[0].end(), {"median", "sd", "min"});
    right.insert(right.end(), {true, true, true});
  }
  rows[0].insert(rows[0].end(), {"gap us", "cores", "FPU %", "DRAM %", "bound", "inputs"});
  right.insert(right.end(), {true, true, true, true, false, false});
  const auto& positions = report.reduced.positions;
  const std::size_t shown = std::min(options.positions, positions.size());
  for (std::size_t j = 0; j < shown; ++j) {
    const perf::Position& position = positions[j];
    const perf::Explanation& why = report.explanations[j];
    const perf::Statistics kernel = perf::statistics_of(position.kernel_ns);
    std::vector<std::string> row{std::to_string(j + 1), visible(short_op(report.op(position))), us(kernel.mean),
                                 percent(100 * kernel.mean / report.reduced.kernel_ns)};
    if (several) row.insert(row.end(), {us(kernel.median), us(kernel.sd), us(kernel.min)});
    row.insert(row.end(),
               {us(perf::statistics_of(position.op_to_op_ns).mean),
                has(position.available_cores) ? fmt::format("{:.0f}/{:.0f}", position.cores, position.available_cores)
                                              : whole(position.cores),
                percent(has(why.fpu_percent) ? why.fpu_percent : position.fpu_percent),
                percent(has(position.dram_percent) ? position.dram_percent : why.dram_percent),
                std::string(why.bound == perf::Bound::kUnproven ? "" : name_of(why.bound)),
                visible(tensors_text(report.signature(position)))});
    rows.push_back(std::move(row));
  }
  std::string text;
  append_rows(text, rows, right, options.width);
  if (shown < positions.size()) text += fmt::format(" … {} more positions (--all)\n", positions.size() - shown);
  std::string advice;
  for (std::size_t j = 0; j < positions.size(); ++j)
    if (const std::string& words = report.explanations[j].advice; !words.empty() && j < shown)
      advice += fmt::format("  {:>3} {}: {}\n", j + 1, visible(short_op(report.op(positions[j]))), visible(words));
  if (!advice.empty()) text += "\nwhat the figures prove\n" + advice;
  return text;
}

}  // namespace

std::string troubles_text(const perf::Troubles& troubles) {
  std::string text;
  for (const auto& [trouble, counted] : troubles.kinds()) {
    const perf::Place& first = counted.first;
    text += fmt::format("  {} {}: first in {}{}{}{}\n", grouped(counted.count), sentence_of(trouble),
                        visible(first.file), first.row == 0 ? std::string() : fmt::format(", row {}", first.row),
                        first.column.empty() ? std::string() : ", column " + visible(first.column),
                        first.seen.empty() ? std::string() : ": " + visible(first.seen));
  }
  return text;
}

std::string perf_text(const perf::Report& report, const PerfViewOptions& options) {
  const perf::Reduced& reduced = report.reduced;
  std::string text = head(report.recording, report.window);
  std::string generations;
  for (const perf::Header& header : report.recording.headers)
    if (generations.find(name_of(header.generation)) == std::string::npos)
      generations += (generations.empty() ? "" : " and ") + std::string(name_of(header.generation));
  text +=
      fmt::format("{} of {}, {}, board {}, columns {}\n", plural(reduced.iterations, "iteration"),
                  plural(static_cast<std::int64_t>(reduced.positions.size()), "position"),
                  plural(static_cast<std::int64_t>(reduced.devices.size()), "device"), report.board.how, generations);
  if (reduced.positions.empty()) {
    text += "\nno operation ran in this window\n";
  } else {
    text += fmt::format(
        "\n  kernel    {} an iteration\n  op to op  {} between operations, {} before the first\n  host      {}{}\n\n",
        total_us(reduced.kernel_ns), total_us(reduced.op_to_op_ns), total_us(reduced.first_op_gap_ns),
        total_us(reduced.host_ns),
        reduced.coverage.sessions > 0
            ? fmt::format("; {} of a trace, which the host does not see", plural(reduced.coverage.sessions, "replay"))
            : "");
    text += positions_text(report, options);
    std::vector<std::vector<std::string>> rows{{"operation", "positions", "kernel us", "%", "gaps us"}};
    for (const perf::Group& group : perf::groups_of(report, perf::GroupBy::kOp))
      rows.push_back({visible(short_op(group.name)), std::to_string(group.positions), us(group.kernel_ns),
                      percent(group.share), us(group.gaps_ns)});
    text += "\n";
    append_rows(text, rows, {false, true, true, true, true}, options.width);
    rows = {{"work", "positions", "kernel us", "%", "gaps us"}};
    for (const perf::Group& group : perf::groups_of(report, perf::GroupBy::kWork))
      rows.push_back(
          {group.name, std::to_string(group.positions), us(group.kernel_ns), percent(group.share), us(group.gaps_ns)});
    text += "\n";
    append_rows(text, rows, {false, true, true, true, true}, options.width);
    text += tax_text(report);
  }
  const perf::Coverage& coverage = reduced.coverage;
  const std::string gaps = coverage_text(report);
  text += fmt::format("\ncoverage: {}, {}{}\n{}", plural(coverage.device_rows, "device row"),
                      plural(coverage.operations, "operation"),
                      gaps.empty() ? ", each with its time and its devices" : "", gaps);
  if (const std::string troubles = troubles_text(report.recording.troubles); !troubles.empty())
    text += "\nin the files:\n" + troubles;
  return text;
}

std::string windows_text(const perf::Recording& recording) {
  std::string text;
  std::vector<std::vector<std::string>> rows{{"window", "rows", "device rows", "host rows", "wall us"}};
  for (const perf::Window& window : recording.windows.all)
    rows.push_back({std::string(static_cast<std::size_t>(window.depth) * 2, ' ') + visible(window.name),
                    fmt::format("{} to {}", window.first_row, window.last_row),
                    std::to_string(window.end - window.begin), std::to_string(window.host_end - window.host_begin),
                    us(window.host_end_ts - window.host_start)});
  if (recording.windows.all.empty())
    text += recording.marks.empty() ? "no signposts: the whole file is one window\n"
                                    : "no pair of signposts makes a window\n";
  else
    append_rows(text, rows, {false, false, true, true, true}, 200);
  for (const perf::Mark& mark : recording.windows.singles)
    text += fmt::format(" signpost {} in row {} belongs to no pair\n", visible(mark.name), mark.row);
  return text;
}

std::string like_text(std::string_view rule, const perf::LikeResult& result, const perf::Recording& recording,
                      const perf::Window& window) {
  std::string text =
      head(recording, window) + fmt::format("added up like {}, which is not the rule of 'perf'\n\n", rule);
  std::vector<std::vector<std::string>> rows;
  if (rule == "detailed") {
    rows.push_back({"op code", "rows", "avg us", "min us", "max us", "std us", ""});
    for (const perf::LikeOp& op : result.ops)
      rows.push_back({visible(op.op), std::to_string(op.count), us(op.avg_kernel_ns), us(op.min_kernel_ns),
                      us(op.max_kernel_ns), us(op.std_kernel_ns), op.refused});
    append_rows(text, rows, {false, true, true, true, true, true, false}, 200);
    return text;
  }
  rows.push_back({"op code", "rows", "avg kernel us", "avg op to op us"});
  for (const perf::LikeOp& op : result.ops)
    rows.push_back({visible(op.op), std::to_string(op.count), us(op.avg_kernel_ns), us(op.avg_op_to_op_ns)});
  append_rows(text, rows, {false, true, true, true}, 200);
  return text + fmt::format("\n  total kernel {}, op to op {}\n", total_us(result.total_kernel_ns),
                            total_us(result.total_op_to_op_ns));
}

Table positions_table(const perf::Report& report) {
  Table table{{{"position", true}, {"op"}, {"work"}, {"row", true}, {"count", true}}, {}};
  for (const char* name :
       {"kernel_ns", "kernel_ns_median", "kernel_ns_sd", "kernel_ns_min", "op_to_op_ns", "op_to_op_ns_median",
        "op_to_op_ns_sd", "op_to_op_ns_min", "share_percent", "cores", "available_cores"})
    table.columns.push_back({name, true});
  for (const char* name : {"fidelity", "bound"}) table.columns.push_back({name});
  for (const char* name : {"fpu_percent", "dram_percent", "flops", "dram_bytes", "bytes"})
    table.columns.push_back({name, true});
  for (const char* name : {"inputs", "advice"}) table.columns.push_back({name});
  for (std::size_t j = 0; j < report.reduced.positions.size(); ++j) {
    const perf::Position& position = report.reduced.positions[j];
    const perf::Explanation& why = report.explanations[j];
    const perf::Signature& signature = report.signature(position);
    const perf::Statistics kernel = perf::statistics_of(position.kernel_ns),
                           gap = perf::statistics_of(position.op_to_op_ns);
    std::vector<Cell> row{static_cast<std::int64_t>(j + 1), signature.name,
                          name_of(signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work),
                          static_cast<std::int64_t>(position.first_row), kernel.count};
    for (const double value : {kernel.mean, kernel.median, kernel.sd, kernel.min, gap.mean, gap.median, gap.sd, gap.min,
                               100 * kernel.mean / report.reduced.kernel_ns, position.cores, position.available_cores})
      row.push_back(figure(value));
    row.emplace_back(signature.parts.fidelity);
    row.emplace_back(name_of(why.bound));
    for (const double value :
         {has(why.fpu_percent) ? why.fpu_percent : position.fpu_percent,
          has(position.dram_percent) ? position.dram_percent : why.dram_percent, why.flops, why.dram_bytes, why.bytes})
      row.push_back(figure(value));
    row.emplace_back(tensors_text(signature));
    row.emplace_back(why.advice);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table like_table(const perf::LikeResult& result) {
  Table table{{{"op"},
               {"count", true},
               {"avg_kernel_ns", true},
               {"avg_op_to_op_ns", true},
               {"total_kernel_ns", true},
               {"total_op_to_op_ns", true},
               {"min_kernel_ns", true},
               {"max_kernel_ns", true},
               {"std_kernel_ns", true}},
              {}};
  for (const perf::LikeOp& op : result.ops)
    table.rows.push_back({op.op, op.count, figure(op.avg_kernel_ns), figure(op.avg_op_to_op_ns),
                          figure(op.total_kernel_ns), figure(op.total_op_to_op_ns), figure(op.min_kernel_ns),
                          figure(op.max_kernel_ns), figure(op.std_kernel_ns)});
  return table;
}

void print_report(const perf::Report& report, PerfViewOptions options, bool explain, CommandEnv& env) {
  if (env.format == OutputFormat::kCsv) return print(positions_table(report), env);
  if (env.out_is_terminal && !env.wide) options.width = static_cast<std::size_t>(env.width);
  print_object(perf::report_json(report, explain), {},
               env.format == OutputFormat::kTable ? perf_text(report, options) : "", env);
}

}  // namespace opwright::cli
