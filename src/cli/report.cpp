#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/html.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--html", "DIR", "write DIR/index.html, one file that a browser opens without a server or a network"},
    kWaitFlag,
};

constexpr char kDetails[] =
    "  opwright report --html page\n"
    "  opwright report --html page last~1\n\n"
    "RUN is a run's name, the beginning of one, or last, last~1, … (default last). The page has the totals, plots of\n"
    "accuracy and time, the coverage by operator and dtype, failures by cause, the worst cases and every result with\n"
    "filters; the address of a filtered page keeps the filters.";

Status make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::kIo,
                fmt::format("{}: cannot make this folder: {}; --html needs a folder that can be written", folder,
                            error.message()));
  return {};
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string folder = args.value("--html");
  if (folder.empty()) return fail(ErrorCode::kUsage, "report needs --html DIR: the folder to write the page into");
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(env.store, wait));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run, reader->find_run(args.positionals.empty() ? "last" : args.positionals[0]));
  OPWRIGHT_TRY_ASSIGN(const report::Page page,
                      report::make_page(run, [&](const auto& use) { return reader->for_each(run.uid, use); }));
  OPWRIGHT_TRY(make_folder(folder));
  const std::string path = (std::filesystem::path(folder) / "index.html").string();
  OPWRIGHT_TRY(write_into(folder, "index.html", page.html));
  const auto bytes = static_cast<std::int64_t>(page.html.size());
  print_object(JsonObject().add("run", run.uid).add("results", page.results).add("bytes", bytes).add("written", path),
               {{"run", run.uid},
                {"results", fmt::format("{}", page.results)},
                {"bytes", fmt::format("{}", bytes)},
                {"written", path}},
               fmt::format("{}: {} of run {} on {}, {}\n", path, plural(page.results, "result"), run.uid, run.device,
                           size_text(bytes)),
               env);
  return kExitOk;
}

}  // namespace

const Command kReport{"report", "Write the results of a run as a page.", kDetails, "[RUN]", 0, 1, kFlags, run};

}  // namespace opwright::cli
