#include "cli/trace_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/visible_text.h"
#include "cli/output.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

std::string top_operations(const std::map<std::string, std::int64_t>& calls, std::size_t most) {
  const auto sorted = by_count(calls);
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    text += fmt::format("  {:<60} {:>10}\n", visible(sorted[i].first), grouped(sorted[i].second));
  if (sorted.size() > most) text += fmt::format("  and {} more operations\n", sorted.size() - most);
  return text;
}

std::string tests_text(const std::map<std::string, std::int64_t>& tests) {
  std::string text;
  for (const auto& [outcome, count] : tests)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, visible(outcome));
  return text;
}

// What the user reads when the program has ended.
std::string human(const jobs::TracedItem& item, const jobs::TracedOutcome& outcome, CommandEnv& env) {
  const jobs::TraceSummary& summary = outcome.summary;
  std::string text = fmt::format("\ntraced: {}\n", visible(item.shown));
  if (outcome.ended.signal != 0)
    text += fmt::format("program: ended by {}\n", launch::signal_text(outcome.ended.signal));
  else if (outcome.ended.status != 0)
    text += fmt::format("program: exit status {}\n", outcome.ended.status);
  if (!summary.tests.empty()) text += fmt::format("tests: {}\n", tests_text(summary.tests));
  if (summary.calls == 0 && summary.filtered == 0 && !summary.problems.empty()) {
    text += "calls: none could be read\n";
  } else if (summary.calls == 0 && summary.filtered == 0) {
    text += "calls: none recorded. Did the program import ttnn? Python started with -I, -E or -S cannot be traced.\n";
  } else {
    text += fmt::format("calls: {}{} of {}\n", grouped(summary.calls),
                        summary.errors > 0 ? fmt::format(" ({} raised)", grouped(summary.errors)) : "",
                        plural(static_cast<std::int64_t>(summary.calls_by_op.size()), "operation"));
    text += top_operations(summary.calls_by_op, 12);
  }
  for (const std::string& test : summary.running_tests)
    text += fmt::format("UNFINISHED: the process ended during the test {}\n", visible(test));
  for (const std::string& op : summary.unfinished_calls)
    text += fmt::format("UNFINISHED: the process ended during a call of {}\n", visible(op));
  if (const auto shown = static_cast<std::int64_t>(summary.unfinished_calls.size()); summary.unfinished > shown)
    text += fmt::format("UNFINISHED: {} more\n", grouped(summary.unfinished - shown));
  if (summary.filtered > 0) text += fmt::format("not recorded, as asked: {}\n", plural(summary.filtered, "call"));
  if (summary.thinned > 0)
    text += fmt::format("recorded with less detail or only counted (--max-overhead): {}\n",
                        plural(summary.thinned, "call"));
  if (summary.lost > 0) text += fmt::format("LOST {}\n", plural(summary.lost, "call"));
  if (summary.opaque > 0)
    text += fmt::format("opaque: of {} only the class is recorded\n", plural(summary.opaque, "value"));
  if (summary.cut > 0)
    text +=
        fmt::format("cut: {} recorded in part or by length, being too large or data\n", plural(summary.cut, "value"));
  for (const auto& [note, count] : summary.notes)
    text += fmt::format("note: {}{}\n", visible(note), count > 1 ? fmt::format(" ({} times)", count) : "");
  if (outcome.device_trace && outcome.device_trace->captured + outcome.device_trace->replayed > 0)
    text += device_trace_text(*outcome.device_trace) + "\n";
  for (const std::string& problem : summary.problems) text += fmt::format("LOST {}\n", visible(problem));
  if (outcome.imported) {
    const jobs::ImportReport& report = *outcome.imported;
    text += fmt::format("store: {}: {} new, {} known, of {} in {}\n", plural(report.configurations, "configuration"),
                        grouped(report.added), grouped(report.known), plural(report.calls, "call"),
                        store::shown(env.store));
    std::int64_t filtered = 0;
    for (const auto& [name, count] : report.filtered) filtered += count;
    if (!report.left_out.empty())
      text += fmt::format("  not kept: {}\n", count_list(report.left_out, report.left_out.size()));
    if (report.unknown_names > 0)
      text += fmt::format("  unknown: {} kept as spelled, e.g. {}\n", plural(report.unknown_names, "name"),
                          visible(report.unknown_example));
    if (report.unparsed_left > 0)
      text += fmt::format("  unparsed: {} kept as opaque text, e.g. {}\n", plural(report.unparsed_left, "value"),
                          visible(report.unparsed_example));
    if (filtered > 0)
      text += fmt::format("  {} of operations that are no test subject stay out (--all-ops keeps them)\n",
                          plural(filtered, "call"));
    for (const auto& [kind, lost] : report.losses)
      text += fmt::format("LOST {} x {}: {}\n", grouped(lost.count), kind, visible(lost.example));
  }
  for (const std::string& line : outcome.side_files) text += fmt::format("written: {}\n", visible(line));
  if (summary.calls > 0) {
    text += fmt::format("cost: {:.1f} us a call, {:.1f} % of {:.1f} s; {} a call\n", summary.ns_per_call() / 1e3,
                        summary.run_seconds > 0 ? 100 * summary.recorder_seconds / summary.run_seconds : 0,
                        summary.run_seconds, size_text(summary.bytes / std::max<std::int64_t>(1, summary.calls)));
  }
  if (outcome.apart) {
    text += fmt::format(
        "kept apart: calls of {} are not in the store; take them with\n  opwright import --include-failed {}\n",
        summary.failed_tests.empty() ? "the failed program"
                                     : plural(static_cast<std::int64_t>(summary.failed_tests.size()), "failed test"),
        shell_word(outcome.folder));
  }
  for (const std::string& undone : outcome.not_done) text += fmt::format("NOT DONE {}\n", visible(undone));
  if (outcome.kept)
    text += fmt::format("trace: kept in {} ({})\n", visible(outcome.folder), size_text(summary.bytes));
  else if (summary.files.empty() && !summary.problems.empty())
    text += "trace: lost\n";
  else
    text += "trace: removed (--keep keeps it)\n";
  return text;
}

JsonObject json_of(const jobs::TracedItem& item, const jobs::TracedOutcome& outcome) {
  const jobs::TraceSummary& summary = outcome.summary;
  JsonObject object;
  object.add("exit", std::int64_t{outcome.ended.status})
      .add("signal", std::int64_t{outcome.ended.signal})
      .add_raw("tests", counts_json(summary.tests))
      .add("calls", summary.calls)
      .add("errors", summary.errors)
      .add("operations", static_cast<std::int64_t>(summary.calls_by_op.size()))
      .add("configurations", outcome.imported ? outcome.imported->configurations : 0)
      .add("added", outcome.imported ? outcome.imported->added : 0)
      .add_number("ns_per_call", summary.ns_per_call())
      .add("trace", outcome.kept ? outcome.folder : "")
      .add("command", item.shown)
      .add_raw("calls_by_operation", counts_json(summary.calls_by_op))
      .add("filtered", summary.filtered)
      .add("thinned", summary.thinned)
      .add("lost", summary.lost)
      .add("opaque", summary.opaque)
      .add("cut", summary.cut)
      .add("unfinished", summary.unfinished)
      .add_bool("kept_apart", outcome.apart)
      .add_raw("failed_tests", json_array(summary.failed_tests, false))
      .add_raw("running_tests", json_array(summary.running_tests, false))
      .add_raw("problems", json_array(summary.problems, false))
      .add_raw("not_done", json_array(outcome.not_done, false))
      .add_raw("notes", counts_json(summary.notes))
      .add_raw("written", json_array(outcome.side_files, false))
      .add("bytes", summary.bytes)
      .add_number("run_seconds", summary.run_seconds)
      .add_number("recorder_seconds", summary.recorder_seconds);
  if (const auto& calls = outcome.device_trace; calls && calls->captured + calls->replayed > 0) {
    JsonObject device_trace;
    device_trace.add("captured", calls->captured).add("replayed", calls->replayed).add("released", calls->released);
    object.add_raw("device_trace", device_trace.text());
  }
  return object;
}

}  // namespace

std::string device_trace_text(const launch::DeviceTraceCalls& calls) {
  return fmt::format(
      "device traces: {} captured, {} replayed by stand-ins that do nothing: the calls of each ran once, at capture, "
      "and "
      "outputs are those of the capture",
      grouped(calls.captured), grouped(calls.replayed));
}

void report_traced(const jobs::TracedItem& item, const jobs::TracedOutcome& outcome, CommandEnv& env) {
  const jobs::TraceSummary& summary = outcome.summary;
  print_object(json_of(item, outcome),
               {{"exit", std::to_string(outcome.ended.status)},
                {"calls", std::to_string(summary.calls)},
                {"errors", std::to_string(summary.errors)},
                {"operations", std::to_string(summary.calls_by_op.size())},
                {"configurations", std::to_string(outcome.imported ? outcome.imported->configurations : 0)},
                {"added", std::to_string(outcome.imported ? outcome.imported->added : 0)},
                {"ns_per_call", fmt::format("{:.0f}", summary.ns_per_call())},
                {"trace", outcome.kept ? outcome.folder : ""}},
               human(item, outcome, env), env);
  env.out.flush();  // in front of what follows on standard error
  if (outcome.ended.status != 0 && outcome.device_trace && outcome.device_trace->asked_for > 0)
    env.err << fmt::format("opwright: {}\n", kNoDeviceTraces);
  if (!summary.problems.empty())
    env.err << fmt::format(
        "opwright: {}: the trace is not whole: {}{}\n", item.shown, summary.problems.front(),
        summary.problems.size() > 1 ? fmt::format(" (and {} more)", summary.problems.size() - 1) : "");
  for (const std::string& undone : outcome.not_done)
    env.err << fmt::format("opwright: {}: {}{}\n", item.shown, undone,
                           outcome.kept ? fmt::format("; the trace is in {}", outcome.folder) : "");
}

}  // namespace opwright::cli
