#include "jobs/fuse_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/json_object.h"
#include "base/json_write.h"

namespace opwright::jobs {
namespace {

using fuse::Section;
using fuse::StageStatus;

// Those that take time; the others are done each time.
constexpr auto kKept = std::to_array<std::string_view>({"baseline", "unit", "substitute", "negative"});

std::string findings_json(const std::vector<fuse::Finding>& findings, std::size_t from) {
  std::vector<std::string> out;
  for (std::size_t i = from; i < findings.size(); ++i) {
    std::vector<std::string> at;
    for (const std::uint64_t call : findings[i].at) at.push_back(std::to_string(call));
    out.push_back(JsonObject()
                      .add("code", fuse::name_of(findings[i].code))
                      .add_raw("at", json_array(at, true))
                      .add("text", findings[i].text)
                      .text());
  }
  return json_array(out, true);
}

void read_findings(const json::Node& list, std::vector<fuse::Finding>& findings) {
  for (const json::Node& item : list) {
    const auto code = fuse::parse_finding_code(item.string_field("code").value_or(""));
    if (!code) continue;
    fuse::Finding finding{*code, {}, std::string(item.string_field("text").value_or(""))};
    if (const json::Node* at = item.find("at"))
      for (const json::Node& call : *at) finding.at.push_back(static_cast<std::uint64_t>(call.as_int64().value_or(0)));
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Section* FuseStages::find(std::string_view id) const {
  const auto found = std::ranges::find(sections_, id, &Section::id);
  return found == sections_.end() ? nullptr : &*found;
}

bool FuseStages::take_kept(Section& section, const std::function<Status(const json::Node& metrics)>& take_up) {
  std::string text;
  if (!folder_.read(fmt::format("logs/{}.json", section.id), text)) return false;
  json::Document document;
  const auto root = document.parse(text);
  if (!root || (*root)->string_field("key") != key_) return false;
  const std::string_view status = (*root)->string_field("status").value_or("");
  if (status != "pass" && status != "skip") return false;
  section.status = status == "pass" ? StageStatus::kPass : StageStatus::kSkip;
  section.reason = (*root)->string_field("reason").value_or("");
  const json::Node* metrics = (*root)->find("metrics");
  const json::Node* seconds = (*root)->find("seconds");
  if (metrics == nullptr || seconds == nullptr || !take_up(*metrics)) return false;
  section.metrics.clear();
  json::append_python(section.metrics, *metrics, {});
  section.seconds = json::figure_of(*seconds).value_or(0);
  if (const json::Node* findings = (*root)->find("findings")) read_findings(*findings, findings_);
  section.is_reused = true;
  return true;
}

Status FuseStages::run(const std::string& id, const std::function<Status(Section&)>& work,
                       const std::function<Status(const json::Node& metrics)>& take_up) {
  Section section;
  section.id = id;
  section.log = fmt::format("logs/{}.log", id);
  const bool keeps = std::ranges::find(kKept, id) != kKept.end();
  if (!keeps || !take_kept(section, take_up)) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t findings = findings_.size();
    OPWRIGHT_TRY(work(section));
    section.log = fmt::format("logs/{}.log", id);
    section.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    OPWRIGHT_TRY(
        folder_.write(section.log, fmt::format("{}: {}{}\n{}", id, fuse::name_of(section.status),
                                               section.reason.empty() ? "" : ": " + section.reason, section.evidence)));
    if (keeps)
      OPWRIGHT_TRY(folder_.write(fmt::format("logs/{}.json", id),
                                 JsonObject()
                                         .add("key", key_)
                                         .add("status", fuse::name_of(section.status))
                                         .add("reason", section.reason)
                                         .add_raw("metrics", section.metrics)
                                         .add_raw("seconds", fmt::format("{:.3f}", section.seconds))
                                         .add_raw("findings", findings_json(findings_, findings))
                                         .text() +
                                     "\n"));
  }
  if (on_stage_) on_stage_(section);
  sections_.push_back(std::move(section));
  return {};
}

}  // namespace opwright::jobs
