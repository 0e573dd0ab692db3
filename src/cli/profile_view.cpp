#include "cli/profile_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/visible_text.h"
#include "cli/output.h"
#include "model/case_record.h"
#include "model/perf.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

using jobs::ConfigCost;
using jobs::ProfileMatch;

std::string us(double ns) { return fmt::format("{:.1f}", ns / 1000); }
Cell us_cell(double ns) { return {us(ns), perf::figure_json(ns)}; }
Cell percent_cell(double percent) { return {fmt::format("{:.1f}", percent), fmt::format("{:.2f}", percent)}; }

std::string window_text(const ProfileMatch& match) {
  return fmt::format("{}, {}: {:.1f} us of kernels and {:.1f} us of gaps an iteration\n",
                     visible(match.report.recording.files.front()),
                     match.report.window.whole_file ? "whole file" : "window " + visible(match.report.window.name),
                     match.kernel_ns / 1000, match.gap_ns / 1000);
}

std::string matched_text(const ProfileMatch& match) {
  std::string text =
      fmt::format("{} of {} have a configuration: {:.1f} % of the kernel time, {:.1f} % of kernels and gaps\n",
                  match.matched, plural(static_cast<std::int64_t>(match.positions.size()), "position"),
                  100 * match.matched_kernel_ns / match.kernel_ns,
                  100 * (match.matched_kernel_ns + match.matched_gap_ns) / (match.kernel_ns + match.gap_ns));
  if (match.shared > 0)
    text += fmt::format("  {} of several configurations, an equal part of its time to each\n",
                        plural(match.shared, "position"));
  if (match.without_memory > 0)
    text += fmt::format("  {} whose inputs lie elsewhere in memory than in the trace\n",
                        plural(match.without_memory, "position"));
  return text;
}

Table configs_table(const ProfileMatch& match) {
  Table table{{{"operation"},
               {"positions", true},
               {"kernel_us", true},
               {"percent", true},
               {"gap_us", true},
               {"shared"},
               {"calls", true},
               {"inputs"},
               {"key", false, false}},
              {}};
  std::vector<std::pair<const jobs::TracedConfig*, ConfigCost>> costs;
  for (const jobs::TracedConfig& config : match.configs)
    if (const auto found = match.cost.find(config.key); found != match.cost.end())
      costs.emplace_back(&config, found->second);
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.second.kernel_ns > b.second.kernel_ns; });
  for (const auto& [config, cost] : costs)
    table.rows.push_back({visible(config->op), cost.positions, us_cell(cost.kernel_ns),
                          percent_cell(match.share_percent(cost)), us_cell(cost.gap_ns),
                          Cell(cost.shared ? "shared" : "", cost.shared ? "true" : "false"), config->calls,
                          visible(config->inputs), to_hex(config->key)});
  return table;
}

std::string why_text(const jobs::PositionMatch& one) {
  switch (one.why) {
    case jobs::WhyUnmatched::kUnknownClass:
      return "a class that is not in the table of device operations";
    case jobs::WhyUnmatched::kNoOperation:
      return "no operation that launches it is in the store";
    case jobs::WhyUnmatched::kOtherTensors:
      return visible(one.nearest);
    case jobs::WhyUnmatched::kMatched:
      return "";
  }
  return "";
}

Table unmatched_table(const ProfileMatch& match) {
  Table table{{{"position", true}, {"row", true}, {"class"}, {"kernel_us", true}, {"percent", true}, {"why"}, {"what"}},
              {}};
  const auto& positions = match.report.reduced.positions;
  for (std::size_t j = 0; j < positions.size(); ++j) {
    if (!match.positions[j].configs.empty()) continue;
    const double kernel = perf::statistics_of(positions[j].kernel_ns).mean;
    table.rows.push_back({static_cast<std::int64_t>(j + 1), static_cast<std::int64_t>(positions[j].first_row),
                          visible(match.report.op(positions[j])), us_cell(perf::has(kernel) ? kernel : 0),
                          percent_cell(perf::has(kernel) ? 100 * kernel / match.kernel_ns : 0),
                          name_of(match.positions[j].why), why_text(match.positions[j])});
  }
  return table;
}

// People read microseconds, programs nanoseconds.
std::string json_name(std::string name) {
  if (name.ends_with("_us")) name.replace(name.size() - 2, 2, "ns");
  return name;
}

std::string json_of(const Table& table) {
  std::vector<std::string> rows;
  for (const auto& row : table.rows) {
    JsonObject object;
    for (std::size_t i = 0; i < row.size(); ++i)
      object.add_raw(json_name(table.columns[i].name), row[i].json.empty() ? json_string(row[i].text) : row[i].json);
    rows.push_back(object.text());
  }
  return json_array(rows, true);
}

JsonObject object_of(const ProfileMatch& match) {
  JsonObject object;
  object.add("file", match.report.recording.files.front()).add("window", match.report.window.name);
  object.add("positions", static_cast<std::int64_t>(match.positions.size())).add("matched", match.matched);
  object.add("shared", match.shared).add("without_memory", match.without_memory);
  object.add_raw("kernel_ns", perf::figure_json(match.kernel_ns));
  object.add_raw("op_to_op_ns", perf::figure_json(match.gap_ns));
  object.add_raw("matched_kernel_ns", perf::figure_json(match.matched_kernel_ns));
  object.add_raw("matched_op_to_op_ns", perf::figure_json(match.matched_gap_ns));
  return object;
}

}  // namespace

Result<std::optional<jobs::PerfRequest>> profile_of(const ParsedArgs& args) {
  const std::string file = args.value("--profile"), window = args.value("--profile-window");
  if (!file.empty()) return std::optional(jobs::PerfRequest{.paths = {file}, .window = window});
  if (!window.empty()) return fail(ErrorCode::kUsage, "--profile-window goes with --profile FILE");
  return std::optional<jobs::PerfRequest>();
}

Result<int> print_matches(ProfileMatch match, bool unmatched_only, CommandEnv& env) {
  const Table configs = configs_table(match), unmatched = unmatched_table(match);
  if (env.format == OutputFormat::kCsv) {
    print(unmatched_only ? unmatched : configs, env);
    return kExitOk;
  }
  if (env.format != OutputFormat::kTable) {
    JsonObject object = object_of(match);
    if (!unmatched_only) object.add_raw("configs", json_of(configs));
    print_object(object.add_raw("unmatched", json_of(unmatched)), {}, "", env);
    return kExitOk;
  }
  env.out << window_text(match) << matched_text(match);
  if (!unmatched_only && !configs.rows.empty()) {
    env.out << '\n';
    print(configs, env);
  }
  if (unmatched.rows.empty()) return kExitOk;
  if (!unmatched_only) {
    env.out << fmt::format("\n{} without a configuration: --unmatched lists them\n",
                           plural(static_cast<std::int64_t>(unmatched.rows.size()), "position"));
    return kExitOk;
  }
  env.out << '\n';
  print(unmatched, env);
  return kExitOk;
}

Result<int> print_explained(const jobs::RunResults& results, const jobs::PerfRequest& profile,
                            const jobs::Question& question, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const ProfileMatch match, jobs::match_profile(profile, question));
  // A configuration may have several cases (suites, data): the worst speaks for it.
  std::vector<CaseRecord> records;
  std::map<std::string, std::size_t> by_key;
  const auto failed = [](const CaseRecord& record) { return standing_of(record.outcome) == Standing::kFailed; };
  OPWRIGHT_TRY(results.stream()([&](CaseRecord&& record) -> Status {
    const auto [found, added] = by_key.try_emplace(record.key, records.size());
    if (added)
      records.push_back(std::move(record));
    else if (failed(record) && !failed(records[found->second]))
      records[found->second] = std::move(record);
    return {};
  }));
  Table table{{{"outcome"},
               {"operation"},
               {"positions", true},
               {"kernel_us", true},
               {"percent", true},
               {"test_us", true},
               {"case"},
               {"key", false, false}},
              {}};
  struct Sum {
    std::int64_t configs = 0;
    double kernel_ns = 0;
  };
  std::map<std::string, Sum> sums;  // by outcome
  double timed_kernel_ns = 0, timed_test_ns = 0;
  for (const jobs::TracedConfig& config : match.configs) {
    const auto cost = match.cost.find(config.key);
    if (cost == match.cost.end()) continue;
    const auto found = by_key.find(to_hex(config.key));
    const CaseRecord* record = found == by_key.end() ? nullptr : &records[found->second];
    const std::string outcome(record == nullptr ? "no_case" : name_of(record->outcome));
    double test_ns = perf::kNoFigure;
    if (record != nullptr && !record->perf.empty()) {
      OPWRIGHT_TRY_ASSIGN(const CasePerf times, parse_case_perf(record->perf));
      if (const auto figures = figures_of(times.device)) test_ns = figures->median;  // kernels beside kernels
    }
    Sum& sum = sums[outcome];
    ++sum.configs;
    sum.kernel_ns += cost->second.kernel_ns;
    if (perf::has(test_ns)) {
      timed_kernel_ns += cost->second.kernel_ns;
      timed_test_ns += test_ns * static_cast<double>(cost->second.positions);
    }
    table.rows.push_back({outcome, visible(config.op), cost->second.positions, us_cell(cost->second.kernel_ns),
                          percent_cell(match.share_percent(cost->second)),
                          perf::has(test_ns) ? us_cell(test_ns) : Cell("", "null"),
                          visible(record == nullptr ? config.inputs : record->line), to_hex(config.key)});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return std::stod(a[3].text) > std::stod(b[3].text); });
  const bool bad = std::any_of(records.begin(), records.end(), failed);
  if (env.format == OutputFormat::kCsv) {
    print(table, env);
    return bad ? kExitDifference : kExitOk;
  }
  std::vector<std::string> by_outcome;
  std::string text = window_text(match) + matched_text(match) + fmt::format("\nrun {}\n", results.run().uid);
  for (const auto& [outcome, sum] : sums) {
    const double percent = 100 * sum.kernel_ns / match.kernel_ns;
    text += fmt::format("  {:<13} {:>4}  {:>10} us  {:>5.1f} %\n", outcome, sum.configs, us(sum.kernel_ns), percent);
    by_outcome.push_back(JsonObject()
                             .add("outcome", outcome)
                             .add("configurations", sum.configs)
                             .add_raw("kernel_ns", perf::figure_json(sum.kernel_ns))
                             .add_number("percent", percent)
                             .text());
  }
  if (timed_kernel_ns > 0)
    text += fmt::format(
        "cases with a device time: {:.1f} us alone, times their positions, for what took {:.1f} us here, {:.1f} % of "
        "the "
        "kernel time\n",
        timed_test_ns / 1000, timed_kernel_ns / 1000, 100 * timed_kernel_ns / match.kernel_ns);
  if (env.format == OutputFormat::kTable) {
    env.out << text << '\n';
    print(table, env);
    return bad ? kExitDifference : kExitOk;
  }
  JsonObject object = object_of(match);
  object.add("run", results.run().uid).add_raw("by_outcome", json_array(by_outcome, true));
  object.add_raw("timed_kernel_ns", perf::figure_json(timed_kernel_ns));
  object.add_raw("test_ns", perf::figure_json(timed_test_ns)).add_raw("configs", json_of(table));
  print_object(object.add_raw("unmatched", json_of(unmatched_table(match))), {}, "", env);
  return bad ? kExitDifference : kExitOk;
}

}  // namespace opwright::cli
