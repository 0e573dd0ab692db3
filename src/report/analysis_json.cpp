#include <fmt/format.h>

#include "base/json_write.h"
#include "report/analysis_view.h"

namespace opwright::report {
namespace {

using json::figure_text;

// {"count", "missing", "nonfinite", "min", "max", "avg", "sum", "median", "p1", …}; only the counts where there is none
std::string figures_json(const Figures& f, std::initializer_list<int> percentiles) {
  JsonObject object;
  object.add_raw("min", f.empty() ? "null" : figure_text(f.min()))
      .add_raw("max", f.empty() ? "null" : figure_text(f.max()))
      .add_raw("avg", f.empty() ? "null" : figure_text(f.average()));
  if (!f.empty()) {
    object.add_raw("sum", figure_text(f.sum())).add_raw("median", figure_text(f.percentile(50)));
    for (const int percent : percentiles)
      object.add_raw(fmt::format("p{}", percent), figure_text(f.percentile(percent)));
  }
  return object.add("count", f.count()).add("missing", f.missing()).add("nonfinite", f.nonfinite()).text();
}

std::string notables_json(const std::vector<Notable>& list) {
  std::vector<std::string> items;
  for (const Notable& one : list) {
    items.push_back(JsonObject()
                        .add_raw("value", figure_text(one.value))
                        .add("index", one.index)
                        .add("name", one.name)
                        .add("operation", one.op)
                        .add("op", one.op)
                        .add("outcome", name_of(one.outcome))
                        .add("case", one.line)
                        .add("repeat", one.repeat)
                        .text());
  }
  return json_array(items, true);
}

std::string share_json(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? figure_text(static_cast<double>(part) / static_cast<double>(whole)) : "null";
}

std::string groups_json(const std::vector<Group>& groups) {
  std::vector<std::string> items;
  for (const Group& group : groups) items.push_back(group_json(group));
  return json_array(items, true);
}

}  // namespace

std::string group_json(const Group& g) {
  JsonObject object;
  object.add("name", g.name.empty() ? "unknown" : std::string_view(g.name))
      .add("cases", g.cases)
      .add("passed", g.passed)
      .add("undecided", g.undecided)
      .add("failed", g.failed)
      .add("no_verdict", g.no_answer)
      .add("calls", g.calls)
      .add("calls_passed", g.calls_passed);
  const bool pcc = g.pcc_count > 0;
  object.add_raw("pcc_min", pcc ? figure_text(g.pcc_min) : "null")
      .add_raw("pcc_avg", pcc ? figure_text(g.pcc_sum / static_cast<double>(g.pcc_count)) : "null")
      .add("pcc_count", g.pcc_count)
      .add_raw("ulp_max", g.ulp_count > 0 ? figure_text(g.ulp_max) : "null")
      .add_raw("seconds", figure_text(g.seconds));
  return object.text();
}

std::string clusters_json(const std::vector<Cluster>& clusters) {
  std::vector<std::string> items;
  for (const Cluster& one : clusters) {
    items.push_back(JsonObject()
                        .add("outcome", name_of(one.outcome))
                        .add("message", one.pattern)
                        .add("count", one.count)
                        .add("calls", one.calls)
                        .add_raw("ops", counts_json(one.ops))
                        .add_raw("blames", counts_json(one.blames))
                        .add("example", one.reason)
                        .add("case", one.line)
                        .add("repeat", one.repeat)
                        .text());
  }
  return json_array(items, true);
}

JsonObject analysis_json(const Analysis& a) {
  std::map<std::string, std::int64_t> outcomes;
  for (const auto& [outcome, count] : a.outcomes) outcomes[std::string(name_of(outcome))] = count;
  auto blames = a.blames;
  if (const auto nobody = blames.extract(""); !nobody.empty()) blames["not attributed"] = nobody.mapped();
  JsonObject object;
  object.add("run", a.run.uid)
      .add("status", a.run.status)
      .add("device", a.run.device)
      .add("against", a.run.against)
      .add_bool("filtered", a.filtered)
      .add("planned", a.run.planned)
      .add("unreached", a.unreached)
      .add("total", a.total)
      .add_raw("outcomes", counts_json(outcomes))
      .add("passed", a.passed)
      .add("failed", a.failed)
      .add("undecided", a.undecided)
      .add("no_verdict", a.no_answer)
      .add_raw("pcc", figures_json(a.pcc, {1, 5, 10, 90}))
      .add_raw("ulp", figures_json(a.ulp, {90, 99}))
      .add_raw("nrmse", figures_json(a.nrmse, {90, 99}))
      .add_raw("bound_used", figures_json(a.bound_used, {90, 99}))
      .add_raw("seconds", figure_text(a.seconds.sum()))
      .add_raw("durations", figures_json(a.seconds, {90, 99}))
      .add_raw("device_seconds", figures_json(a.device_seconds, {90, 99}))
      .add_raw("cold_seconds", figures_json(a.cold_seconds, {90, 99}))
      .add_raw("kernel_seconds", figures_json(a.kernel_seconds, {90, 99}))
      .add_raw("reference_seconds", figures_json(a.reference_seconds, {90, 99}));
  object.add_raw("calls", JsonObject()
                              .add("total", a.calls)
                              .add("passed", a.calls_passed)
                              .add("undecided", a.calls_undecided)
                              .add("failed", a.calls_failed)
                              .add("no_verdict", a.calls_no_answer)
                              .add("uncounted_cases", a.uncounted)
                              .add_raw("pass_rate", share_json(a.calls_passed, a.calls))
                              .text());
  object.add("judged", a.judged).add("elements", a.elements).add("judged_in_part", a.in_part);
  object.add_raw("executed", JsonObject()
                                 .add("cases", a.compared_cases)
                                 .add("equal_cases", a.equal_cases)
                                 .add("fields", a.fields)
                                 .add("fields_equal", a.fields_equal)
                                 .add_raw("share", share_json(a.fields_equal, a.fields))
                                 .add_raw("differing", counts_json(a.differing_fields))
                                 .text());
  object.add_raw("faults", JsonObject()
                               .add("cases", a.mutated_cases)
                               .add("tried", a.faults)
                               .add("noticed", a.faults_noticed)
                               .add_raw("unnoticed", counts_json(a.unnoticed))
                               .text());
  object.add_raw("misuse", kills_json(a.misuse));
  if (!a.unseen_factor.empty())
    object.add_raw("unseen_factor", JsonObject()
                                        .add("cases", a.unseen_factor.count())
                                        .add_number("median", a.unseen_factor.percentile(50))
                                        .add_number("max", a.unseen_factor.max())
                                        .text());
  object.add_raw("blind", JsonObject().add("cases", a.blind_cases).add_raw("classes", counts_json(a.blind)).text());
  object.add_raw("differential", JsonObject()
                                     .add("cases", a.against_cases)
                                     .add("disagreed", a.disagreed)
                                     .add("not_compared", a.not_compared)
                                     .add_raw("outcomes", counts_json(a.against_outcomes))
                                     .text());
  object.add_raw("blame", counts_json(blames)).add("repeated", a.repeated).add("noted", a.noted).add("note", a.note);
  object.add_raw("l1_per_core", figures_json(a.l1_per_core, {90}))
      .add_raw("dram", figures_json(a.dram, {90}))
      .add_raw("host_bytes", figures_json(a.host_bytes, {90}));
  object.add_raw("worst", JsonObject()
                              .add_raw("pcc", notables_json(a.least_pcc))
                              .add_raw("ulp", notables_json(a.most_ulp))
                              .add_raw("bound_used", notables_json(a.nearest_bound))
                              .add_raw("seconds", notables_json(a.slowest))
                              .text());
  object.add_raw("failures", clusters_json(a.failures))
      .add_raw("unproven", clusters_json(a.unanswered))
      .add("clusters_cut", a.clusters_cut);
  for (const auto& [by, groups] : a.tables) object.add_raw(fmt::format("by_{}", name_of(by)), groups_json(groups));
  return object;
}

}  // namespace opwright::report
