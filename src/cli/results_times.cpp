#include <fmt/format.h>

#include <cstdlib>

#include "base/json_write.h"
#include "base/visible_text.h"
#include "cli/output.h"
#include "cli/results_views.h"
#include "jobs/look_at_times.h"
#include "report/analysis_view.h"

namespace opwright::cli {
namespace {

using report::Told;

std::string_view name_of(Told told) {
  switch (told) {
    case Told::kSlower:
      return "slower";
    case Told::kFaster:
      return "faster";
    case Told::kSame:
      return "same";
    case Told::kCannotTell:
      return "cannot tell";
  }
  return "";
}

Cell ns_cell(const std::optional<double>& ns, const CommandEnv& env) {
  if (!ns) return {"", "null"};
  const std::string number = fmt::format("{:.0f}", *ns);
  return {env.format == OutputFormat::kTable ? report::seconds_text(*ns * 1e-9) : number, number};
}

Cell share_cell(const std::optional<TimeFigures>& figures, const CommandEnv& env) {
  if (!figures || figures->mean <= 0) return {"", "null"};
  const double share = figures->sd / figures->mean;
  return {env.format == OutputFormat::kTable ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.4f}", share),
          fmt::format("{:.4f}", share)};
}

std::optional<double> median_of(const std::optional<TimeFigures>& figures) {
  return figures ? std::optional<double>(figures->median) : std::nullopt;
}

std::string figures_json(const std::optional<TimeFigures>& figures) {
  if (!figures) return "null";
  return JsonObject()
      .add("iterations", figures->count)
      .add_number("median", figures->median)
      .add_number("mean", figures->mean)
      .add_number("sd", figures->sd)
      .add_number("min", figures->least)
      .add_number("max", figures->most)
      .text();
}

}  // namespace

Result<int> list_times(const jobs::RunResults& results, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::RunTimes times, jobs::times_of_run(results));
  if (times.cases.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("run {} has no times; 'opwright run --perf' takes them", results.run().uid));
  if (env.format == OutputFormat::kJson || env.format == OutputFormat::kJsonl) {
    std::vector<std::string> items;
    for (const jobs::CaseTimes& one : times.cases) {
      JsonObject object;
      object.add("operation", one.op).add("op", one.op).add("case", one.line);
      if (!one.refused.empty())
        object.add("refused", one.refused);
      else
        object.add("clock", one.is_modelled ? "modelled" : "measured")
            .add_raw("device_ns", figures_json(one.device))
            .add_raw("end_to_end_ns", figures_json(one.end_to_end))
            .add_raw("host_ns", figures_json(one.host))
            .add_bool("forced", one.is_forced);
      items.push_back(object.text());
    }
    if (env.format == OutputFormat::kJsonl)
      for (const std::string& item : items) env.out << item << '\n';
    else
      env.out << json_array(items, true) << '\n';
    return kExitOk;
  }
  Table table{{{"operation"},
               {"device", true},
               {"end_to_end", true},
               {"spread", true},
               {"least", true},
               {"host", true},
               {"n", true},
               {"note"},
               {"case"}},
              {}};
  for (const jobs::CaseTimes& one : times.cases) {
    const auto& main = one.device ? one.device : one.end_to_end;
    const std::string note = !one.refused.empty() ? one.refused
                             : one.is_modelled    ? "modelled"
                             : one.is_forced      ? "measured on a busy machine"
                                                  : "";
    table.rows.push_back({one.op, ns_cell(median_of(one.device), env), ns_cell(median_of(one.end_to_end), env),
                          share_cell(main, env), ns_cell(main ? std::optional<double>(main->least) : std::nullopt, env),
                          ns_cell(median_of(one.host), env), main ? main->count : 0, note, one.line});
  }
  print(table, env);
  if (times.not_timed > 0) env.err << fmt::format("opwright: {} without times\n", plural(times.not_timed, "result"));
  return kExitOk;
}

Result<int> diff_times(const ParsedArgs& args, const jobs::ResultsQuestion& question, CommandEnv& env) {
  if (args.positionals.size() != 2)
    return fail(ErrorCode::kUsage, "results --diff --perf needs two runs: opwright results --diff last~1 last --perf");
  report::TellOptions options;
  OPWRIGHT_TRY_ASSIGN(const std::size_t margin, count_of(args, "--margin", 5));
  OPWRIGHT_TRY_ASSIGN(const std::size_t rate, count_of(args, "--false-rate", 5));
  if (margin == 0 || margin > 100 || rate == 0 || rate > 50)
    return fail(ErrorCode::kUsage, "--margin is from 1 to 100, --false-rate from 1 to 50 percent");
  options.margin = static_cast<double>(margin) / 100;
  options.false_rate = static_cast<double>(rate) / 100;
  OPWRIGHT_TRY_ASSIGN(const std::size_t most, count_of(args, "--worst", 20));
  OPWRIGHT_TRY_ASSIGN(const jobs::TimesDiff diff,
                      jobs::diff_times(question, args.positionals[0], args.positionals[1], options));
  if (diff.cases.empty())
    return fail(ErrorCode::kNotFound, fmt::format("runs {} and {} have no case with times in both ('opwright run "
                                                  "--perf'); {} in both without",
                                                  diff.a.uid, diff.b.uid, diff.not_timed));
  std::vector<std::string> items;
  std::string human = fmt::format("times of {} against {}: {} compared\n", diff.b.uid, diff.a.uid,
                                  plural(static_cast<std::int64_t>(diff.cases.size()), "case"));
  for (const std::string& caution : diff.cautions) human += fmt::format("careful: {}\n", caution);
  human += fmt::format("slower {}, faster {}, same within {} % {}, cannot tell {}\n", diff.slower, diff.faster, margin,
                       diff.same, diff.cannot_tell);
  if (diff.not_timed + diff.only_one > 0)
    human +=
        fmt::format("not compared: {} without times in one run, {} in one run alone\n", diff.not_timed, diff.only_one);
  std::size_t shown = 0;
  for (const jobs::ComparedTimes& one : diff.cases) {
    items.push_back(JsonObject()
                        .add("operation", one.op)
                        .add("op", one.op)
                        .add("case", one.line)
                        .add("told", name_of(one.told))
                        .add_number("a_ns", one.median_a)
                        .add_number("b_ns", one.median_b)
                        .add_number("ratio", one.change.ratio)
                        .add_number("low", one.change.low)
                        .add_number("high", one.change.high)
                        .add_number("chance", one.change.chance)
                        .add_number("false_rate", one.change.most_false)
                        .text());
    const bool is_found = one.told == Told::kSlower || one.told == Told::kFaster;
    if (!is_found || shown++ >= most) continue;
    human +=
        fmt::format("  {} x{:.3f} ({:.3f} to {:.3f}, q {:.2g})  {} -> {}  {}\n", name_of(one.told), one.change.ratio,
                    one.change.low, one.change.high, one.change.most_false, report::seconds_text(one.median_a * 1e-9),
                    report::seconds_text(one.median_b * 1e-9), visible(one.line));
  }
  if (shown > most) human += fmt::format("  … and {} more (--worst {})\n", shown - most, shown);
  print_object(JsonObject()
                   .add("a", diff.a.uid)
                   .add("b", diff.b.uid)
                   .add("compared", static_cast<std::int64_t>(diff.cases.size()))
                   .add("slower", diff.slower)
                   .add("faster", diff.faster)
                   .add("same", diff.same)
                   .add("cannot_tell", diff.cannot_tell)
                   .add("not_timed", diff.not_timed)
                   .add("only_one", diff.only_one)
                   .add_raw("cautions", json_array(diff.cautions, false))
                   .add_raw("cases", json_array(items, true)),
               {{"a", diff.a.uid},
                {"b", diff.b.uid},
                {"compared", std::to_string(diff.cases.size())},
                {"slower", std::to_string(diff.slower)},
                {"faster", std::to_string(diff.faster)},
                {"same", std::to_string(diff.same)},
                {"cannot_tell", std::to_string(diff.cannot_tell)}},
               human, env);
  return diff.slower > 0 ? kExitDifference : kExitOk;
}

Result<int> show_history(const std::string& wanted, const jobs::ResultsQuestion& question, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::History history, jobs::history_of(question, wanted));
  Table table{{{"run"},
               {"started"},
               {"device"},
               {"outcome"},
               {"clock"},
               {"median", true},
               {"spread", true},
               {"change", true},
               {"git_commit", false, false}},
              {}};
  for (const jobs::HistoryEntry& entry : history.entries) {
    const std::string ratio = fmt::format("{:.3f}", entry.ratio);
    table.rows.push_back(
        {entry.run.uid, entry.run.started, entry.run.device, opwright::name_of(entry.outcome), entry.clock,
         ns_cell(median_of(entry.time), env), share_cell(entry.time, env),
         entry.is_change ? Cell(env.format == OutputFormat::kTable ? "x" + ratio : ratio, ratio) : Cell("", "null"),
         entry.run.git_commit});
  }
  if (env.format == OutputFormat::kTable) env.out << visible(history.line) << '\n';
  print(table, env);
  return kExitOk;
}

}  // namespace opwright::cli
