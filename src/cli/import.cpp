#include <fmt/format.h>

#include <array>
#include <chrono>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/ingest.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--dry-run", "", "read and report, write nothing"},
    Flag{"--strict", "", "exit 3 and write nothing when anything of the input is lost"},
    Flag{"--all-ops", "", "keep every operation, also excluded ones and names no list knows"},
    Flag{"--like-existing", "", "keep exactly what the existing tooling keeps, to compare counts"},
    Flag{"--ops-list", "FILE", "valid operations: one name a line, instead of the built-in list"},
    Flag{"--exclude", "OP", "leave an operation out (may be repeated)", true},
    Flag{"--include-failed", "", "per-op folders: also take tests that did not pass"},
    kNoCallsFlag,
    kDurableFlag,
    kWaitFlag,
};

std::string human(const jobs::ImportReport& report, const jobs::IngestOptions& options, double seconds) {
  std::string text = fmt::format(
      "{}, {}{} of {}{}\n", plural(static_cast<std::int64_t>(report.files), "file"), plural(report.calls, "call"),
      report.raised > 0 ? fmt::format(" ({} raised)", grouped(report.raised)) : "",
      plural(static_cast<std::int64_t>(report.operations.size()), "operation"),
      report.uncounted > 0 ? fmt::format(" ({} without a count in the trace)", grouped(report.uncounted)) : "");
  text += fmt::format("{}: {} new, {} known", plural(report.configurations, "configuration"), grouped(report.added),
                      grouped(report.known));
  if (report.forms != report.configurations)
    text += fmt::format("   ({} listed, {} spellings)", grouped(report.records), grouped(report.forms));
  text += report.written    ? "\n"
          : options.dry_run ? "   (dry run: nothing written)\n"
                            : "   (strict: nothing written)\n";
  if (report.traces_kept > 0)
    text += fmt::format("in their order: {} of {}{}\n", plural(report.calls_kept, "call"),
                        plural(report.traces_kept, "trace"), report.written ? "" : " (not written)");
  if (!report.filtered.empty())
    text +=
        fmt::format("filtered out: {}: {}\n", plural(sum_of(report.filtered), "call"), count_list(report.filtered, 8));
  if (!report.not_listed.empty()) {
    text +=
        fmt::format("  of these no known operation: {} (keep them with --all-ops)\n", count_list(report.not_listed, 8));
  }
  if (!report.left_out.empty())
    text += fmt::format("not kept: {}\n", count_list(report.left_out, report.left_out.size()));
  if (report.unknown_names > 0)
    text += fmt::format("unknown: {} kept as spelled{}\n", plural(report.unknown_names, "name"),
                        report.unknown_example.empty() ? "" : ", e.g. " + visible(report.unknown_example));
  for (const auto& [kind, lost] : report.losses)
    text += fmt::format("LOST {} x {}: {}\n", grouped(lost.count), kind, visible(lost.example));
  if (report.unparsed_left > 0) {
    text += fmt::format("unparsed: {} kept as opaque text{}\n", plural(report.unparsed_left, "value"),
                        report.unparsed_example.empty() ? "" : ", e.g. " + visible(report.unparsed_example));
  }
  text += fmt::format("{} in {:.3f} s", size_text(static_cast<std::int64_t>(report.bytes)), seconds);
  if (report.bytes > 1'000'000)
    text += fmt::format(" ({:.0f} MB/s)", static_cast<double>(report.bytes) / 1e6 / seconds);
  return text + (report.written ? fmt::format(", store {}\n", visible(store::shown(options.store))) : "\n");
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  jobs::IngestOptions options;
  options.store = env.store;
  options.dry_run = args.is_set("--dry-run");
  options.strict = args.is_set("--strict");
  if (args.is_set(kDurableFlag.name)) options.durability = store::Durability::kEveryCommit;
  options.filter.all_ops = args.is_set("--all-ops");
  options.filter.like_existing = args.is_set("--like-existing");
  options.filter.ops_list_path = args.value("--ops-list");
  options.filter.exclude = args.all("--exclude");
  if (static_cast<int>(options.filter.all_ops) + static_cast<int>(options.filter.like_existing) +
          static_cast<int>(!options.filter.ops_list_path.empty()) >
      1) {
    return fail(ErrorCode::kUsage, "--all-ops, --like-existing and --ops-list exclude each other; give one");
  }
  options.keep_calls = !args.is_set(kNoCallsFlag.name);
  options.read.include_failed = args.is_set("--include-failed");
  OPWRIGHT_TRY_ASSIGN(options.wait_ms, wait_ms(args));
  bool told = false;
  if (env.err_is_terminal) {
    options.progress = [&](const jobs::ImportReport& so_far) {
      told = true;
      env.live() << fmt::format("\r{}, {}, {} so far", plural(static_cast<std::int64_t>(so_far.files), "file"),
                                size_text(static_cast<std::int64_t>(so_far.bytes)),
                                plural(so_far.configurations, "configuration"))
                 << std::flush;
    };
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<jobs::ImportReport> done = jobs::ingest(args.positionals, options);
  if (told) env.live() << "\r\033[K";  // the line of progress goes
  if (!done) return fail(done.error());
  const jobs::ImportReport& report = *done;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  std::map<std::string, std::int64_t> losses;
  JsonObject examples;
  for (const auto& [kind, lost] : report.losses) {
    losses[kind] = lost.count;
    examples.add(kind, lost.example);
  }
  JsonObject object;
  object.add("files", static_cast<std::int64_t>(report.files))
      .add("calls", report.calls)
      .add("uncounted", report.uncounted)
      .add("operations", static_cast<std::int64_t>(report.operations.size()))
      .add("configurations", report.configurations)
      .add("records", report.records)
      .add("forms", report.forms)
      .add("added", report.refused ? 0 : report.added)
      .add("known", report.known)
      .add_raw("filtered", counts_json(report.filtered))
      .add_raw("not_listed", counts_json(report.not_listed))
      .add_raw("left_out", counts_json(report.left_out))
      .add_raw("losses", counts_json(losses))
      .add_raw("loss_examples", examples.text())
      .add("unparsed_left", report.unparsed_left)
      .add("unknown_names", report.unknown_names)
      .add("bytes", static_cast<std::int64_t>(report.bytes))
      .add_number("seconds", seconds)
      .add_bool("written", report.written)
      .add("raised", report.raised)
      .add("traces_kept", report.traces_kept)
      .add("calls_kept", report.calls_kept);
  print_object(object,
               {{"files", std::to_string(report.files)},
                {"calls", std::to_string(report.calls)},
                {"operations", std::to_string(report.operations.size())},
                {"configurations", std::to_string(report.configurations)},
                {"forms", std::to_string(report.forms)},
                {"added", std::to_string(report.refused ? 0 : report.added)},
                {"known", std::to_string(report.known)},
                {"filtered", std::to_string(sum_of(report.filtered))},
                {"losses", std::to_string(report.lost())},
                {"unparsed_left", std::to_string(report.unparsed_left)},
                {"bytes", std::to_string(report.bytes)},
                {"seconds", fmt::format("{:.6f}", seconds)},
                {"raised", std::to_string(report.raised)},
                {"calls_kept", std::to_string(report.calls_kept)}},
               human(report, options, seconds), env);
  if (report.refused) {
    return fail(
        ErrorCode::kBadInput,
        fmt::format("--strict: {} of the input lost, so nothing was written; import without --strict to take the rest",
                    plural(report.lost(), "part")));
  }
  return kExitOk;
}

}  // namespace

const Command kImport{
    "import",
    "Read traces of any supported format and add their configurations to the store.",
    "PATH is a native trace, a master JSON (both eras), a folder of per-op files, an op JSONL, a graph capture,\n"
    "a folder of any of these, another opwright store, or - for standard input; plain, .gz or .zst, "
    "recognised by\n"
    "content. The same trace imported again changes nothing. All paths go in together or not at all.\n\n"
    "  opwright import ttnn_operations_master.json\n"
    "  opwright import generated/ttnn/reports/operation_parameters/demo_20260228_132703\n"
    "  zcat ops.jsonl.gz | opwright import -",
    "PATH…",
    1,
    -1,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli
