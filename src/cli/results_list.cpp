#include <fmt/format.h>

#include "base/json_write.h"
#include "base/visible_text.h"
#include "cli/output.h"
#include "cli/results_views.h"
#include "model/case_name.h"
#include "model/record_json.h"
#include "report/analysis_view.h"

namespace opwright::cli {
namespace {

Cell number_cell(std::int64_t value, const CommandEnv& env) {
  return {env.format == OutputFormat::kTable ? grouped(value) : std::to_string(value), std::to_string(value)};
}

Cell real_cell(bool there, double value, std::string shown, const CommandEnv& env) {
  if (!there) return {"", "null"};
  return {env.format == OutputFormat::kTable ? std::move(shown) : json::float_text(value), json::figure_text(value)};
}

std::string first_line(std::string_view message) { return visible(message.substr(0, message.find('\n'))); }

// The record, with the names that a reader asks by in front.
std::string listed_json(const CaseRecord& record) {
  const std::string named = JsonObject().add("name", case_name(record)).add("operation", record.op).text();
  return named.substr(0, named.size() - 1) + ", " + to_json(record).substr(1);
}

std::string csv_line(const CaseRecord& record) {
  const auto real = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\n", record.index, name_of(record.outcome), csv_cell(record.op),
                     csv_cell(record.suite), real(record.pcc), real(record.ulp), record.wall_seconds, record.calls,
                     csv_cell(record.reason), csv_cell(record.line));
}

}  // namespace

Result<int> list_runs(const jobs::ResultsQuestion& question, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<jobs::RunOverview> runs, jobs::runs_of(question));
  if (runs.empty() && env.format == OutputFormat::kTable) {
    env.out << "no runs yet\n";
    return kExitOk;
  }
  Table table{{{"run"},
               {"started"},
               {"ended", false, false},
               {"status"},
               {"device"},
               {"suite"},
               {"planned", true},
               {"results", true},
               {"passed", true},
               {"failed", true},
               {"host"},
               {"against", false, false},
               {"command", false, false}},
              {}};
  for (const auto& [run, outcomes] : runs) {
    std::int64_t total = 0, passed = 0, failed = 0;
    for (const auto& [outcome, count] : outcomes) {
      total += count;
      passed += outcome == Outcome::kPassed ? count : 0;
      failed += standing_of(outcome) == Standing::kFailed ? count : 0;
    }
    table.rows.push_back({run.uid, run.started, run.ended, run.status, run.device, run.suite,
                          number_cell(run.planned, env), number_cell(total, env), number_cell(passed, env),
                          number_cell(failed, env), run.host, run.against, run.command});
  }
  print(table, env);
  return kExitOk;
}

Result<int> list_results(const report::ResultStream& results, CommandEnv& env) {
  bool first = true, failed = false;
  if (env.format == OutputFormat::kCsv) env.out << "index,outcome,op,suite,pcc,ulp,seconds,calls,reason,case\n";
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    failed = failed || standing_of(record.outcome) == Standing::kFailed;
    switch (env.format) {
      case OutputFormat::kTable: {
        std::string line = fmt::format("{:<13} {} {:>10} {:>9}  {}", name_of(record.outcome), case_name(record),
                                       record.pcc ? report::pcc_text(*record.pcc) : "",
                                       report::seconds_text(record.wall_seconds), visible(record.line));
        if (!record.reason.empty()) line += "   " + first_line(record.reason);
        env.out << (env.out_is_terminal && !env.wide ? cut_text(line, static_cast<std::size_t>(env.width)) : line)
                << '\n';
        break;
      }
      case OutputFormat::kJson:
        env.out << (first ? "[\n " : ",\n ") << listed_json(record);
        break;
      case OutputFormat::kJsonl:
        env.out << listed_json(record) << '\n';
        break;
      case OutputFormat::kCsv:
        env.out << csv_line(record);
        break;
    }
    first = false;
    return {};
  }));
  if (env.format == OutputFormat::kJson) env.out << (first ? "[]\n" : "\n]\n");
  return failed ? kExitDifference : kExitOk;
}

void print_groups(const report::Analysis& analysis, report::By by, CommandEnv& env) {
  Table table{{{std::string(name_of(by))},
               {"cases", true},
               {"passed", true},
               {"undecided", true},
               {"failed", true},
               {"no_verdict", true},
               {"calls", true},
               {"calls_passed", true},
               {"pcc_min", true},
               {"pcc_avg", true},
               {"pcc_count", true, false},
               {"ulp_max", true},
               {"seconds", true}},
              {}};
  const auto found = analysis.tables.find(by);
  if (found != analysis.tables.end()) {
    for (const report::Group& group : found->second) {
      const std::string none = by == report::By::kBlame ? "nobody" : "unknown";
      const double average = group.pcc_count > 0 ? group.pcc_sum / static_cast<double>(group.pcc_count) : 0;
      table.rows.push_back(
          {group.name.empty() ? none : group.name, number_cell(group.cases, env), number_cell(group.passed, env),
           number_cell(group.undecided, env), number_cell(group.failed, env), number_cell(group.no_answer, env),
           number_cell(group.calls, env), number_cell(group.calls_passed, env),
           real_cell(group.pcc_count > 0, group.pcc_min, report::pcc_text(group.pcc_min), env),
           real_cell(group.pcc_count > 0, average, report::pcc_text(average), env), number_cell(group.pcc_count, env),
           real_cell(group.ulp_count > 0, group.ulp_max, fmt::format("{:.4g}", group.ulp_max), env),
           real_cell(true, group.seconds, report::seconds_text(group.seconds), env)});
    }
  }
  print(table, env);
}

}  // namespace opwright::cli
