#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "jobs/look_at_results.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--html", "DIR", "write DIR/index.html, one file that a browser opens without a server or a network"},
    Flag{"--table", "FILE",
         "also show this table of another command, e.g. of ./x bench planted --table FILE; repeatable", true},
    kWhereFlag,
    kWaitFlag,
};

constexpr char kDetails[] =
    "  opwright report --html page\n"
    "  opwright report --html page last~1\n\n"
    "RUN is a run's name, the beginning of one, or last, last~1, … (default last). The page has the totals, plots of\n"
    "accuracy and time, the coverage by operator and dtype, failures by cause, the worst cases and every result with\n"
    "filters; the address of a filtered page keeps the filters.";

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string folder = args.value("--html");
  if (folder.empty()) return fail(ErrorCode::kUsage, "report needs --html DIR: the folder to write the page into");
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  jobs::ResultsQuestion question{.store = env.store, .wait_ms = wait, .filter = {}};
  OPWRIGHT_TRY_ASSIGN(question.filter.where, jobs::results_where(args.value("--where"), env.store, wait));
  OPWRIGHT_TRY_ASSIGN(
      const jobs::WrittenPage page,
      jobs::write_page(question, args.positionals.empty() ? "last" : args.positionals[0], folder, args.all("--table")));
  const RunRecord& run = page.run;
  print_object(
      JsonObject().add("run", run.uid).add("results", page.results).add("bytes", page.bytes).add("written", page.path),
      {{"run", run.uid},
       {"results", fmt::format("{}", page.results)},
       {"bytes", fmt::format("{}", page.bytes)},
       {"written", page.path}},
      fmt::format("{}: {} of run {} on {}, {}\n", page.path, plural(page.results, "result"), run.uid, run.device,
                  size_text(page.bytes)),
      env);
  return kExitOk;
}

}  // namespace

const Command kReport{"report", "Write the results of a run as a page.", kDetails, "[RUN]", 0, 1, kFlags, run};

}  // namespace opwright::cli
