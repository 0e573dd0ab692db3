#include "report/case_history.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_object.h"

namespace opwright::report {

void CaseHistory::begin(const RunRecord& run) {
  runs_.push_back(JsonObject()
                      .add("uid", run.uid)
                      .add("started", run.started)
                      .add("device", run.device)
                      .add("commit", run.git_commit)
                      .text());
}

void CaseHistory::add(const CaseRecord& record) {
  past_[case_key(record)].push_back(
      {static_cast<std::int32_t>(runs_.size()) - 1, record.outcome, record.pcc, record.device_seconds});
}

std::string CaseHistory::runs_json() const { return json_array(runs_, true); }

std::string CaseHistory::of(const CaseRecord& record) const {
  const auto found = past_.find(case_key(record));
  if (found == past_.end()) return "[]";
  std::string out = "[";
  for (const Past& past : found->second) {
    const bool has_pcc = past.pcc && std::isfinite(*past.pcc);
    out += fmt::format("{}[{},{},{},{:.4g}]", out.size() > 1 ? "," : "", past.run, static_cast<int>(past.outcome),
                       has_pcc ? fmt::format("{}", *past.pcc) : "null", past.seconds);
  }
  return out + "]";
}

}  // namespace opwright::report
