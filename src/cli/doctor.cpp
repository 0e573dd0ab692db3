#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "jobs/check_health.h"
#include "jobs/ending.h"
#include "jobs/salvage_store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--deep", "", "look at all of the store: indexes, references, every text read again and every key made again"},
    Flag{"--repair", "", "save what is sound of a damaged store into a new one (-o), and list what is not"},
    Flag{"--output", "NEW", "--repair: the new store, a file that is not there yet"}, kWaitFlag};

// Exit code 0: all of the store is in the new one; 1: some of it could not be saved, and is listed.
Result<int> repair_store(const std::string& target, int wait_ms, CommandEnv& env) {
  if (target.empty()) return fail(ErrorCode::kUsage, "--repair makes a new store; name it: -o NEW.db");
  OPWRIGHT_TRY_ASSIGN(const jobs::SalvageReport report, jobs::salvage_store({env.store, target, wait_ms}));
  const jobs::ImportReport& imported = report.imported;
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  table.rows.push_back(
      {"saved", "ok",
       fmt::format("{}: {} of {}, {} with {}", target, plural(imported.configurations, "configuration"),
                   plural(static_cast<std::int64_t>(imported.operations.size()), "operation"),
                   plural(report.runs, "run"), plural(report.results, "result"))});
  for (const std::string& what : report.lost) table.rows.push_back({"damage", "bad", what});
  if (report.lost.empty()) table.rows.push_back({"damage", "none", "all of the store was sound"});
  print(table, env);
  return jobs::exit_code(jobs::ending_of(report));
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  if (args.is_set("--repair")) return repair_store(args.value("--output"), wait, env);
  if (!args.value("--output").empty())
    return fail(ErrorCode::kUsage, "-o names the store that --repair makes; give --repair too");
  const jobs::Health health = jobs::check_health({env.store, args.is_set("--deep"), wait});
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  for (const jobs::HealthRow& row : health.rows) table.rows.push_back({row.what, row.state, row.detail});
  print(table, env);
  return health.sound ? kExitOk : kExitFailed;
}

}  // namespace

const Command kDoctor{"doctor",
                      "What is installed, versions, and whether the store is sound.",
                      "  opwright doctor\n  opwright doctor --deep\n"
                      "  opwright --store damaged.db doctor --repair -o saved.db",
                      "",
                      0,
                      0,
                      kFlags,
                      run};

}  // namespace opwright::cli
