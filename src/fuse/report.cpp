#include "fuse/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_object.h"
#include "base/json_write.h"
#include "base/words.h"
#include "dialect/ttnn/collective_calls.h"
#include "fuse/describe.h"
#include "model/value.h"

namespace opwright::fuse {
namespace {

std::string shape_json(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string tensor_json(const std::string& name, std::string_view role, const TensorSpec& spec) {
  JsonObject out;
  out.add("name", name);
  if (!role.empty()) out.add("role", role);
  out.add_raw("global", shape_json(spec.shape)).add_raw("local", shape_json(on_one_chip(spec).shape));
  out.add("dtype", spec.dtype.name()).add("layout", spec.layout.name());
  out.add("mem", spec.memory ? to_text(*spec.memory) : "");
  if (spec.placement) out.add_raw("place", json_array(spec.placement->dims, false));
  return out.text();
}

std::string finding_json(const Finding& finding) {
  std::vector<std::string> at;
  for (const std::uint64_t call : finding.at) at.push_back(std::to_string(call));
  return JsonObject()
      .add("code", name_of(finding.code))
      .add_raw("at", json_array(at, true))
      .add("text", finding.text)
      .text();
}

std::string section_json(const Section& section) {
  return JsonObject()
      .add("id", section.id)
      .add("status", name_of(section.status))
      .add("reason", section.reason)
      .add_raw("metrics", section.metrics)
      .add("log", section.log)
      .add_raw("seconds", fmt::format("{:.3f}", section.seconds))
      .text();
}

constexpr auto kSteps = std::to_array<GuideStep>({
    {1, "baseline of the module, twice", "baseline"},
    {2, "the sequence found, in decode and prefill", "match"},
    {3, "one file for the fused operator", "emit"},
    {4, "reference function", "unit"},
    {5, "device function", "unit"},
    {6, "substituted into the module", "substitute"},
    {7, "parameters: weights, state, signatures", "boundary"},
    {8, "reference verified, expected values set", "unit"},
    {9, "device performance", "perf"},
    {10, "configurations of test and module", "config"},
    {11, "single-device test", "single_device"},
    {12, "single-device performance", "single_device"},
    {13, "shapes of single and multi device", "single_device"},
    {14, "summary", ""},
    {15, "findings and workarounds", ""},
});

std::string table_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2)
    text.replace(at, 1, text[at] == '|' ? "\\|" : "; ");
  return text;
}

}  // namespace

std::span<const GuideStep> guide_steps() { return kSteps; }

std::string_view name_of(StageStatus status) {
  return status == StageStatus::kPass ? "pass" : status == StageStatus::kFail ? "fail" : "skip";
}

bool Report::failed() const {
  return std::ranges::any_of(sections, [](const Section& section) { return section.status == StageStatus::kFail; });
}

const Section* Report::section(std::string_view id) const {
  const auto found = std::ranges::find(sections, id, &Section::id);
  return found == sections.end() ? nullptr : &*found;
}

std::string row_json(const FusedTest& test, const ParameterSet& set) {
  JsonObject out;
  std::vector<std::string> matches, inputs, outputs;
  for (const Match& match : set.matches) {
    const auto [first, last] = std::ranges::minmax(match.calls);
    matches.push_back(fmt::format("[{}, {}]", first, last));
  }
  for (std::size_t i = 0; i < test.inputs.size(); ++i)
    inputs.push_back(tensor_json(test.inputs[i].name, name_of(test.inputs[i].role), set.inputs[i]));
  for (std::size_t o = 0; o < test.outputs.size(); ++o)
    outputs.push_back(tensor_json(test.outputs[o].name, "", set.outputs[o]));
  out.add("id", set.id).add("mode", set.mode).add("seq_len", set.seq_len);
  out.add_raw("matches", json_array(matches, true));
  out.add_raw("inputs", json_array(inputs, true)).add_raw("outputs", json_array(outputs, true));
  out.add("internal_bytes", set.internal_bytes).add("internal_bytes_peak", set.internal_peak_bytes);
  if (set.expected)
    out.add_raw("pcc", json::figure_text(set.expected->pcc))
        .add_raw("atol", json::figure_text(set.expected->atol))
        .add_raw("rtol", json::figure_text(set.expected->rtol));
  if (set.targets)
    out.add_raw("kernel_us", fmt::format("{:.3f}", set.targets->kernel_ns / 1000))
        .add_raw("op_to_op_us", fmt::format("{:.3f}", set.targets->op_to_op_ns / 1000))
        .add_raw("roofline_us", fmt::format("{:.3f}", set.targets->roofline_ns / 1000));
  out.add_bool("ccl", std::ranges::any_of(test.calls, [](const FusedCall& call) {
                 return collective_of(call.op) != Collective::kNone;
               }));
  return out.text();
}

std::string report_json(const Report& report) {
  const auto lines = [](const std::vector<std::string>& items) {
    return items.empty() ? std::string("[]") : fmt::format("[\n    {}\n  ]", fmt::join(items, ",\n    "));
  };
  std::vector<std::string> sections, findings, rows;
  for (const Section& section : report.sections) sections.push_back(section_json(section));
  for (const Finding& finding : report.test.findings) findings.push_back(finding_json(finding));
  for (const ParameterSet& set : report.test.sets) rows.push_back(row_json(report.test, set));
  return fmt::format(
      "{{\n  \"name\": {},\n  \"trace\": {},\n  \"commit\": {},\n  \"phase\": {},\n  \"sections\": {},\n  "
      "\"findings\": "
      "{},\n  \"params\": {}\n}}\n",
      json_string(report.name), json_string(report.trace), json_string(report.commit), json_array(report.phases, false),
      lines(sections), lines(findings), lines(rows));
}

std::string report_markdown(const Report& report) {
  std::string out = fmt::format("# {}\n\n`{}`, from {}{}.\n\n", report.name, report.test.pattern,
                                report.test.source.empty() ? "a trace" : report.test.source,
                                report.test.machine.empty() ? "" : " on " + report.test.machine);
  out += "| step | | status | |\n| --- | --- | --- | --- |\n";
  for (const GuideStep& step : kSteps) {
    const Section* section = report.section(step.stage);
    const std::string_view status = section != nullptr ? name_of(section->status) : "pass";
    out += fmt::format("| {} | {} | {} | {} |\n", step.number, step.what, status,
                       section != nullptr ? table_cell(section->reason) : "");
  }
  if (const Section* negative = report.section("negative"))
    out += fmt::format("| | negative controls | {} | {} |\n", name_of(negative->status), table_cell(negative->reason));
  out +=
      "\n| parameters | mode | rows | matches | PCC | atol | rtol | device, separate | at best | internal |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const ParameterSet& set : report.test.sets) {
    const auto us = [](double ns) { return fmt::format("{:.1f} us", ns / 1000); };
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", set.id, set.mode, set.seq_len,
                       set.matches.size(), set.expected ? fmt::format("{:.5f}", set.expected->pcc) : "",
                       set.expected ? fmt::format("{:g}", set.expected->atol) : "",
                       set.expected ? fmt::format("{:g}", set.expected->rtol) : "",
                       set.targets ? us(set.targets->kernel_ns + set.targets->op_to_op_ns) : "",
                       set.targets ? us(set.targets->roofline_ns) : "", size_text(set.internal_bytes));
  }
  out += "\n## Findings\n\n";
  for (const Finding& finding : report.test.findings)
    out += fmt::format("- {}{}: {}\n", name_of(finding.code),
                       finding.at.empty() ? "" : fmt::format(" (call {})", fmt::join(finding.at, ", ")), finding.text);
  if (report.test.findings.empty()) out += "None.\n";
  out += "\n## Evidence\n\n";
  for (const Section& section : report.sections)
    if (!section.log.empty()) out += fmt::format("- [{}]({})\n", section.id, section.log);
  return out;
}

}  // namespace opwright::fuse
