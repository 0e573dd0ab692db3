#include "jobs/fuse_check.h"

#include <fmt/format.h>

#include <array>

#include "base/secrets.h"
#include "base/words.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/fuse_make.h"

namespace opwright::cli {
namespace {

constexpr std::array kCheckFlags{
    Flag{"--trace", "TRACE", "what the model does now: a trace file or folder, or a trace of the store"},
    kWaitFlag,
};

std::string drift_json(const fuse::Drift& drift) {
  return JsonObject()
      .add("set", drift.set)
      .add("call", static_cast<std::int64_t>(drift.call))
      .add("op", drift.op)
      .add("field", drift.field)
      .add("test", drift.test)
      .add("trace", drift.trace)
      .add("matches", drift.matches)
      .text();
}

Result<int> check(const ParsedArgs& args, CommandEnv& env) {
  const std::string trace = args.value("--trace");
  if (trace.empty()) return fail(ErrorCode::kUsage, "fuse check needs --trace TRACE");
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  const auto checked = jobs::check_fused(args.positionals.front(), trace, env.store, wait);
  if (!checked) {
    env.err << "opwright: " << masked(checked.error().message) << '\n';
    return jobs::fuse_exit_code(checked.error());
  }
  const fuse::DriftReport& drift = checked->drift;
  std::vector<std::string> drifts;
  std::string human = fmt::format("{}: {} in the trace, {} with exactly the arguments of the test\n",
                                  checked->test.name, plural(drift.matches, "match", "matches"), drift.equal);
  if (drift.other_modes > 0)
    human +=
        fmt::format("{} in modes that the test is not for\n", plural(drift.other_modes, "more match", "more matches"));
  if (!drift.no_match.empty()) human += drift.no_match + "\n";
  for (const std::string& set : drift.missing)
    human += fmt::format("{}: no match in the trace is nearest to it\n", set);
  for (const fuse::Drift& one : drift.drifts) {
    drifts.push_back(drift_json(one));
    human += fmt::format("{} call {} {} {}: test {}, trace {} ({})\n", one.set, one.call + 1, one.op, one.field,
                         one.test, one.trace, plural(one.matches, "match", "matches"));
  }
  JsonObject object;
  object.add("test", checked->test.name)
      .add("matches", drift.matches)
      .add("equal", drift.equal)
      .add("other_modes", drift.other_modes)
      .add_bool("drifted", drift.has_drifted())
      .add("no_match", drift.no_match)
      .add_raw("missing", json_array(drift.missing, false))
      .add_raw("drifts", json_array(drifts, true));
  print_object(object, {}, human, env);
  return drift.has_drifted() ? jobs::kFuseFailed : jobs::kFusePassed;
}

constexpr std::array kListFlags{
    Flag{"--markdown", "", "as a table of Markdown"},
};

Table table_of(const jobs::FuseList& list) {
  Table table{{{"test"},
               {"set"},
               {"mode"},
               {"seq_len", true},
               {"pcc", true},
               {"atol", true},
               {"device_us", true},
               {"roofline_us", true},
               {"single_device"},
               {"weights"},
               {"unit"},
               {"substitute"},
               {"config"},
               {"negative"},
               {"folder", false, false}},
              {}};
  const auto figure = [](double value, const char* how) {
    return value == 0 ? Cell("-", "null")
                      : Cell(fmt::format(fmt::runtime(how), value), fmt::format(fmt::runtime(how), value));
  };
  const auto word = [](const std::string& status) { return Cell(status.empty() ? "-" : status); };
  for (const jobs::FuseListed& row : list.rows)
    table.rows.push_back({row.test, row.set, row.mode, row.seq_len, figure(row.pcc, "{:.5f}"), figure(row.atol, "{:g}"),
                          figure(row.device_us, "{:.1f}"), figure(row.roofline_us, "{:.1f}"), row.single_device,
                          row.weights, word(row.unit), word(row.substitute), word(row.config), word(row.negative),
                          row.folder});
  return table;
}

void print_markdown(const Table& table, CommandEnv& env) {
  std::string head = "|", line = "|";
  for (const Column& column : table.columns) {
    if (!column.in_table) continue;
    head += fmt::format(" {} |", column.name);
    line += column.right ? " ---: |" : " --- |";
  }
  env.out << head << '\n' << line << '\n';
  for (const auto& row : table.rows) {
    std::string text = "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      if (table.columns[i].in_table) text += fmt::format(" {} |", row[i].text);
    env.out << text << '\n';
  }
}

Result<int> list(const ParsedArgs& args, CommandEnv& env) {
  const auto found = jobs::list_fused(args.positionals.empty() ? "." : args.positionals.front());
  if (!found) {
    env.err << "opwright: " << masked(found.error().message) << '\n';
    return jobs::fuse_exit_code(found.error());
  }
  const Table table = table_of(*found);
  if (args.is_set("--markdown"))
    print_markdown(table, env);
  else
    print(table, env);
  for (const std::string& problem : found->unreadable) env.err << "opwright: not listed: " << problem << '\n';
  if (found->rows.empty() && env.format == OutputFormat::kTable)
    env.err << "opwright: no test of a fused operator is here\n";
  if (!found->unreadable.empty()) return jobs::kFuseUnreadable;
  const bool failed = std::ranges::any_of(found->rows, [](const jobs::FuseListed& row) { return row.failed; });
  return failed ? jobs::kFuseFailed : jobs::kFusePassed;
}

}  // namespace

const Command kFuseCheck{"fuse check",
                         "Has a model, or the library's interface, drifted from the test of a fused operator?",
                         "Finds the test's sequence in a trace of today and compares it field by field. Needs no "
                         "device.\nExit status: 0 the same, 1 it has drifted, 2 wrong usage, 5 the input cannot be "
                         "read.\n\nExample:\n  opwright fuse check gated_mlp/gated_mlp.params.json --trace new.opwt",
                         "PARAMS",
                         1,
                         1,
                         kCheckFlags,
                         check,
                         false,
                         true};

const Command kFuseList{
    "fuse list",
    "The tests of fused operators below a folder, and how their last run went.",
    "Columns: expected PCC and atol, modelled time of the separate kernels and at best, whether "
    "there is a test for a\nsingle device, weights, and the stages of the last run.\nExit status: 0 "
    "none failed, 1 one failed, 5 a file cannot be read.",
    "[DIR]",
    0,
    1,
    kListFlags,
    list};

}  // namespace opwright::cli
