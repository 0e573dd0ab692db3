#include "report/perf_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/json_object.h"
#include "perf/by_op.h"
#include "perf/report_diff.h"
#include "perf/report_diff_json.h"
#include "perf/report_json.h"
#include "report/markup.h"
#include "report/page_frame.h"

namespace opwright::embedded {  // src/report/page/
extern const std::string_view kPageCss, kPageTheme, kPageDom;
extern const std::string_view kPerfPageHtml, kPerfPageCss, kPerfPageScript;
}  // namespace opwright::embedded

namespace opwright::report {
namespace {

constexpr std::size_t kMostValues = 64;  // of a sparkline

std::string values_json(const std::vector<double>& values) {
  std::vector<std::string> items;
  const std::size_t step = (values.size() + kMostValues - 1) / kMostValues;
  for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(step, 1))
    items.push_back(perf::figure_json(values[i]));
  return json_array(items, true);
}

std::string work_of(const perf::Signature& signature) {
  return std::string(name_of(signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work));
}

std::string inputs_json(const perf::Signature& signature) {
  std::vector<std::string> inputs;
  for (const perf::RowTensor& tensor : signature.parts.inputs)
    inputs.push_back(
        fmt::format("{} {} {} {}", perf::extents_text(tensor.logical), tensor.dtype, tensor.layout, tensor.memory));
  return json_array(inputs, false);
}

// The longest positions, in the order of the iteration.
std::vector<std::size_t> shown_positions(const perf::Report& report) {
  const auto& positions = report.reduced.positions;
  std::vector<std::size_t> shown(positions.size());
  std::iota(shown.begin(), shown.end(), 0);
  if (shown.size() <= kMostPositions) return shown;
  std::vector<double> time(positions.size(), 0);
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (const double mean = perf::statistics_of(positions[i].kernel_ns).mean; perf::has(mean)) time[i] = mean;
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });
  shown.resize(kMostPositions);
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string positions_json(const perf::Report& report) {
  std::vector<std::string> items;
  for (const std::size_t i : shown_positions(report)) {
    const perf::Position& position = report.reduced.positions[i];
    const perf::Explanation& why = report.explanations[i];
    const perf::Signature& signature = report.signature(position);
    JsonObject one;
    one.add("n", static_cast<std::int64_t>(i + 1))
        .add("op", signature.name)
        .add("work", work_of(signature))
        .add("row", static_cast<std::int64_t>(position.first_row))
        .add_raw("kernel", perf::statistics_json(perf::statistics_of(position.kernel_ns)))
        .add_raw("gap", perf::statistics_json(perf::statistics_of(position.op_to_op_ns)))
        .add_raw("values", values_json(position.kernel_ns))
        .add_raw("cores", perf::figure_json(position.cores))
        .add("fidelity", signature.parts.fidelity)
        .add("bound", why.bound == perf::Bound::kUnproven ? "" : perf::name_of(why.bound))
        .add("advice", why.advice)
        .add_raw("inputs", inputs_json(signature));
    items.push_back(one.text());
  }
  return json_array(items, true);
}

std::string groups_json(const perf::Report& report) {
  std::map<std::string, std::string> work;
  for (const perf::Position& position : report.reduced.positions)
    work.emplace(report.op(position), work_of(report.signature(position)));
  std::vector<std::string> items;
  for (const perf::Group& group : perf::groups_of(report, perf::GroupBy::kOp)) {
    JsonObject one;
    one.add("op", group.name)
        .add("work", work[group.name])
        .add("positions", group.positions)
        .add_raw("kernel", perf::figure_json(group.kernel_ns))
        .add_raw("gaps", perf::figure_json(group.gaps_ns));
    items.push_back(one.text());
  }
  return json_array(items, true);
}

std::string diff_part(const perf::Report& before, const perf::Report& report) {
  const perf::ReportDiff diff = perf::diff_reports(before, report);
  if (diff.positions.size() <= kMostPositions) return perf::diff_json(before, report, diff).text();
  perf::ReportDiff part = diff;  // what runs alike goes first
  std::erase_if(part.positions, [](const perf::PositionDiff& one) { return one.step.change == perf::Change::kSame; });
  if (part.positions.size() > kMostPositions) part.positions.resize(kMostPositions);
  return perf::diff_json(before, report, part).text();
}

std::string page_json(const perf::Report& report, const perf::Report* before) {
  const perf::Reduced& reduced = report.reduced;
  JsonObject object;
  object.add("file", report.recording.files.front())
      .add("window", report.window.whole_file ? "" : report.window.name)
      .add("board", report.board.how)
      .add("iterations", reduced.iterations)
      .add("devices", static_cast<std::int64_t>(reduced.devices.size()))
      .add("total_positions", static_cast<std::int64_t>(reduced.positions.size()))
      .add_raw("kernel_ns", perf::figure_json(reduced.kernel_ns))
      .add_raw("op_to_op_ns", perf::figure_json(reduced.op_to_op_ns))
      .add_raw("first_op_gap_ns", perf::figure_json(reduced.first_op_gap_ns))
      .add_raw("host_ns", perf::figure_json(reduced.host_ns))
      .add_raw("coverage", perf::coverage_json(report.recording, reduced.coverage).text())
      .add_raw("positions", positions_json(report))
      .add_raw("by_op", groups_json(report))
      .add_raw("diff", before == nullptr ? "null" : diff_part(*before, report));
  return object.text();
}

}  // namespace

std::string perf_page(const perf::Report& report, const perf::Report* before) {
  const std::string code =
      "\"use strict\";\n" + std::string(embedded::kPageDom) + std::string(embedded::kPerfPageScript);
  const std::string theme(embedded::kPageTheme);
  const std::string style = std::string(embedded::kPageCss) + std::string(embedded::kPerfPageCss);
  return filled(embedded::kPerfPageHtml,
                {{"policy", policy_of(style, {theme, code})},
                 {"title", markup_text(fmt::format("{} · Opwright", report.recording.files.front()))},
                 {"style", style},
                 {"theme", theme},
                 {"data", fmt::format("<script type=\"application/json\" id=\"perf\">{}</script>\n",
                                      json_in_html(page_json(report, before)))},
                 {"script", code}});
}

}  // namespace opwright::report
