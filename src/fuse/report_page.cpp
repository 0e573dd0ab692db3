#include "fuse/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/words.h"
#include "fuse/describe.h"
#include "fuse/picture.h"

namespace opwright::embedded {
extern const std::string_view kFuseReportCss;
}  // namespace opwright::embedded

namespace opwright::fuse {
namespace {

constexpr std::size_t kMostEvidence = 40'000;  // characters of a log on the page; the rest is in the file

std::string status_cell(std::string_view status) { return fmt::format("<td class=\"{0}\">{0}</td>", status); }

std::string evidence_of(const Section& section) {
  std::string text = section.evidence.substr(0, kMostEvidence);
  if (section.evidence.size() > kMostEvidence) text += fmt::format("\n… the rest is in {}", section.log);
  if (text.empty()) return section.log.empty() ? "" : fmt::format("<a href=\"{0}\">{0}</a>", html_text(section.log));
  std::string out = "<details><summary>evidence</summary><pre>";
  for (std::size_t at = 0; at < text.size();) {  // line by line: a line break is shown as one
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += html_text(std::string_view(text).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  out += "</pre></details>";
  if (!section.log.empty()) out += fmt::format("<a href=\"{0}\">{0}</a>", html_text(section.log));
  return out;
}

std::string steps_table(const Report& report) {
  std::string out = "<table>\n<tr><th>step<th><th>status<th>seconds<th>why<th>evidence</tr>\n";
  const auto row = [&](const std::string& number, std::string_view what, const Section* section,
                       std::string_view status, bool shows_evidence) {
    out += fmt::format("<tr><td class=\"number\">{}<td>{}{}<td class=\"number\">{}<td>{}<td>{}</tr>\n", number, what,
                       status_cell(status), section == nullptr ? "" : fmt::format("{:.2f}", section->seconds),
                       section == nullptr ? "" : html_text(section->reason),
                       section != nullptr && shows_evidence ? evidence_of(*section) : "");
  };
  std::set<std::string_view> shown;
  for (const GuideStep& step : guide_steps()) {
    const Section* section = report.section(step.stage);
    row(std::to_string(step.number), step.what, section, section == nullptr ? "pass" : name_of(section->status),
        shown.insert(step.stage).second);
  }
  for (const Section& section : report.sections)
    if (!shown.contains(section.id))
      row("",
          section.id == "negative" ? "negative controls"
          : section.id == "mock"   ? "on the library's mock board"
                                   : section.id,
          &section, name_of(section.status), true);
  return out + "</table>\n";
}

// What the separate operations cost, and what one operation could.
std::string before_and_after(const Report& report) {
  std::string out =
      "<table>\n<tr><th>parameters<th>matches<th>operations<th>kernels<th>between kernels<th>written and read "
      "inside<th>at "
      "best, as one<th>saves at most</tr>\n";
  const auto work =
      std::ranges::count_if(report.test.calls, [](const FusedCall& call) { return !call.is_transparent; });
  for (const ParameterSet& set : report.test.sets) {
    const auto us = [&](double ns) {
      return set.targets && ns > 0 ? fmt::format("{:.1f} us", ns / 1000) : std::string("–");
    };
    const Targets times = set.targets.value_or(Targets{});
    const double before = times.kernel_ns + times.op_to_op_ns;
    out += fmt::format(
        "<tr><td><code>{}</code><td class=\"number\">{}<td class=\"number\">{} → 1<td class=\"number\">{}<td "
        "class=\"number\">{}<td class=\"number\">{} → 0 B<td class=\"number\">{}<td class=\"number\">{}</tr>\n",
        html_text(set.id), set.matches.size(), work, us(times.kernel_ns), us(times.op_to_op_ns),
        size_text(set.internal_bytes), us(times.roofline_ns),
        before > times.roofline_ns && times.roofline_ns > 0
            ? fmt::format("{:.0f} %", 100 * (1 - times.roofline_ns / before))
            : std::string("–"));
  }
  return out + "</table>\n";
}

std::string parameters_table(const FusedTest& test) {
  std::string out =
      "<table>\n<tr><th>parameters<th>mode<th>length<th>PCC at least<th>measured<th>atol<th>rtol<th>one chip</tr>\n";
  for (const ParameterSet& set : test.sets)
    out += fmt::format(
        "<tr><td><code>{}</code><td>{}<td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{}<td "
        "class=\"number\">{}<td class=\"number\">{}<td>{}</tr>\n",
        html_text(set.id), html_text(set.mode), set.seq_len,
        set.expected ? fmt::format("{:.5f}", set.expected->pcc) : "–",
        set.expected ? fmt::format("{:.7f}", set.expected->measured_pcc) : "–",
        set.expected ? fmt::format("{:g}", set.expected->atol) : "–",
        set.expected ? fmt::format("{:g}", set.expected->rtol) : "–",
        set.no_single_device.empty() ? "yes" : "no: " + html_text(set.no_single_device));
  return out + "</table>\n";
}

std::string findings_list(const FusedTest& test) {
  if (test.findings.empty()) return "<p>None.</p>\n";
  std::string out = "<ul>\n";
  for (const Finding& finding : test.findings)
    out += fmt::format("<li><code>{}</code> {}{}</li>\n", name_of(finding.code), html_text(finding.text),
                       finding.at.empty() ? "" : fmt::format(" (call {})", fmt::join(finding.at, ", ")));
  return out + "</ul>\n";
}

constexpr std::string_view kKey =
    "<p class=\"key\"><span><i style=\"background:var(--activation)\"></i>activation</span>"
    "<span><i style=\"background:var(--weight)\"></i>weight</span><span><i style=\"background:var(--constant)\"></i>"
    "constant</span><span><i style=\"background:var(--state)\"></i>state</span>"
    "<span><i style=\"background:var(--output)\"></i>output</span>"
    "<span><i class=\"dash\"></i>only the sequence sees it: a fused operator neither writes nor reads it</span></p>\n";

}  // namespace

std::string report_page(const Report& report) {
  const FusedTest& test = report.test;
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{1}</style>\n<h1>{0} <span "
      "class=\"{2}\">{2}</span></h1>\n<p class=\"from\"><code>{3}</code>{4}{5}</p>\n",
      html_text(report.name), embedded::kFuseReportCss, report.failed() ? "fail" : "pass", html_text(test.pattern),
      test.source.empty() ? "" : ", from " + html_text(test.source),
      test.machine.empty() ? "" : ", recorded on " + html_text(test.machine));
  out += "<h2>The sequence</h2>\n<p class=\"soft\">Bytes are those of one chip";
  if (!test.sets.empty()) out += fmt::format(", with the parameters <code>{}</code>", html_text(test.sets.front().id));
  out += ".</p>\n" + std::string(kKey);
  for (std::size_t s = 0; s < test.sets.size(); ++s) {
    const std::string picture = "<div class=\"scroll\">" + picture_of(test, test.sets[s]) + "</div>\n";
    out += s == 0 ? picture
                  : fmt::format("<details><summary>with <code>{}</code></summary>{}</details>\n",
                                html_text(test.sets[s].id), picture);
  }
  out += "<h2>Before and after</h2>\n<div class=\"scroll\">" + before_and_after(report) + "</div>\n";
  const bool modelled = std::ranges::any_of(
      test.sets, [](const ParameterSet& set) { return set.targets && set.targets->source != "profiler"; });
  if (modelled)
    out +=
        "<p class=\"soft\">Times are those of the simulated device's clock; exchanges between chips have none "
        "there.</p>\n";
  out += "<h2>The 15 steps</h2>\n<div class=\"scroll\">" + steps_table(report) + "</div>\n";
  out += "<h2>Parameters</h2>\n<div class=\"scroll\">" + parameters_table(test) + "</div>\n";
  return out + "<h2>Findings</h2>\n" + findings_list(test) + "</html>\n";
}

}  // namespace opwright::fuse
