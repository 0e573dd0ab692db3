#include "cli/device_cover.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "cli/device_program.h"
#include "cli/output.h"
#include "cli/query.h"
#include "device/device.h"
#include "exec/case_line.h"
#include "exec/run_case.h"

namespace opwright::cli {
namespace {

// The board for configurations whose trace names none.
constexpr std::string_view kUsualBoard = "n300";

// The board a configuration was traced on, "Wormhole n300 x1" -> n300 (four n300 are a t3k); nothing when the trace
// does not say, or says one that we do not know.
std::optional<Board> traced_board(const Selected& selected) {
  const auto named = [](std::string_view name) { return *find_board(name); };
  for (const std::string& machine : selected.machines()) {
    if (machine.find("galaxy") != std::string::npos) return named("galaxy");
    if (machine.find("n300") != std::string::npos) return named(machine.ends_with("x4") ? "t3k" : "n300");
    for (const Board& board : known_boards())
      if (machine.find(board.name) != std::string::npos) return board;
  }
  return std::nullopt;
}

struct OpCover {
  std::int64_t configurations = 0;
  std::map<Outcome, std::int64_t> outcomes;
  std::int64_t assumed = 0;
  std::map<std::string, std::int64_t> reasons;
  double seconds = 0;
};

std::int64_t count_of_outcome(const OpCover& op, Outcome outcome) {
  const auto found = op.outcomes.find(outcome);
  return found == op.outcomes.end() ? 0 : found->second;
}

std::int64_t verdicts_of(const OpCover& op) {
  return count_of_outcome(op, Outcome::kPassed) + count_of_outcome(op, Outcome::kFailed) +
         count_of_outcome(op, Outcome::kMistrusted) + count_of_outcome(op, Outcome::kUnproven);
}

// As it stands in docs/coverage.md: a row an operation, reasons of those without a verdict below.
void print_markdown(const std::map<std::string, OpCover>& ops, const OpCover& total, CommandEnv& env) {
  env.out << "| operation | configurations | verdict | passed | failed | mistrusted | unproven | accepted | refused | "
             "out of "
             "memory | lost | "
             "unsupported | assumed |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  const auto row = [&](std::string_view name, const OpCover& op) {
    env.out << fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name,
                           op.configurations, verdicts_of(op), count_of_outcome(op, Outcome::kPassed),
                           count_of_outcome(op, Outcome::kFailed), count_of_outcome(op, Outcome::kMistrusted),
                           count_of_outcome(op, Outcome::kUnproven), count_of_outcome(op, Outcome::kAccepted),
                           count_of_outcome(op, Outcome::kRefused), count_of_outcome(op, Outcome::kOutOfMemory),
                           count_of_outcome(op, Outcome::kLost), count_of_outcome(op, Outcome::kUnsupported),
                           op.assumed);
  };
  for (const auto& [name, op] : ops) row(name, op);
  row("**all**", total);
  env.out << "\n| operation | configurations | without a verdict, or not passed, because |\n| --- | ---: | --- |\n";
  for (const auto& [name, op] : ops)
    for (const auto& [reason, count] : by_count(op.reasons))
      env.out << fmt::format("| {} | {} | {} |\n", name, count, cut_text(reason, 160));
}

}  // namespace

Result<int> run_cover(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, selector_of(args));
  OPWRIGHT_TRY_ASSIGN(store::Reader reader, open_store(args, env));
  OPWRIGHT_TRY_ASSIGN(const std::size_t list, count_of(args, "--list", 10));
  const std::string device_name = args.value("--device", "sim");
  const bool own_board = device_name.find(':') == std::string::npos && !is_device_program(device_name);
  std::unique_ptr<Device> shared;  // a device with a board of its own is opened once
  std::map<std::string, OpCover> ops;
  std::map<std::string, std::string> examples;  // reason -> repeat line
  std::int64_t without_board = 0;
  RunOptions options;
  options.compute = !args.is_set("--no-run");
  OPWRIGHT_TRY(for_each_selected(reader, selector, [&](Selected&& selected) -> Status {
    std::unique_ptr<Device> own;
    if (own_board) {
      std::optional<Board> board = traced_board(selected);
      if (!board) {
        ++without_board;
        OPWRIGHT_TRY_ASSIGN(board, find_board(kUsualBoard));
      }
      own = open_device(device_name, *std::move(board));
    } else if (!shared) {
      OPWRIGHT_TRY_ASSIGN(shared, open_any_device(device_name, args.value("--python")));
    }
    Device* const device = own_board ? own.get() : shared.get();
    const CaseResult result = run_case(selected.config, *device, options);
    OpCover& op = ops[selected.config.op];
    ++op.configurations;
    ++op.outcomes[result.outcome];
    op.seconds += result.seconds;
    if (!result.assumed.empty()) ++op.assumed;
    if (result.outcome != Outcome::kPassed && result.outcome != Outcome::kAccepted) {
      const std::string reason = fmt::format("{}: {}", name_of(result.outcome), result.reason);
      ++op.reasons[reason];
      examples.emplace(selected.config.op + " " + reason,
                       repeat_command(case_line(selected.config), device->can().name, options.recipe));
    }
    if (env.err_is_terminal)
      env.err << fmt::format("\r{} {}\x1b[K", selected.config.op, op.configurations) << std::flush;
    return {};
  }));
  if (env.err_is_terminal) env.err << "\r\x1b[K";

  Table table{{{"operation"},
               {"configurations", true},
               {"verdict", true},
               {"passed", true},
               {"failed", true},
               {"mistrusted", true},
               {"unproven", true},
               {"accepted", true},
               {"refused", true},
               {"out_of_memory", true},
               {"unsupported", true},
               {"lost", true},
               {"assumed", true},
               {"seconds", true}},
              {}};
  OpCover total;
  const auto add_row = [&](const std::string& name, const OpCover& op) {
    const auto count = [&](Outcome outcome) { return count_of_outcome(op, outcome); };
    table.rows.push_back({name, op.configurations, verdicts_of(op), count(Outcome::kPassed), count(Outcome::kFailed),
                          count(Outcome::kMistrusted), count(Outcome::kUnproven), count(Outcome::kAccepted),
                          count(Outcome::kRefused), count(Outcome::kOutOfMemory), count(Outcome::kUnsupported),
                          count(Outcome::kLost), op.assumed,
                          Cell(fmt::format("{:.1f}", op.seconds), fmt::format("{:.3f}", op.seconds))});
  };
  for (const auto& [name, op] : ops) {
    add_row(name, op);
    total.configurations += op.configurations;
    total.assumed += op.assumed;
    total.seconds += op.seconds;
    for (const auto& [outcome, n] : op.outcomes) total.outcomes[outcome] += n;
  }
  add_row("all", total);
  if (args.is_set("--markdown"))
    print_markdown(ops, total, env);
  else
    print(table, env);
  if (without_board > 0)
    env.err << fmt::format("opwright: {} of traces that name no known board, run on {}\n",
                           plural(without_board, "configuration"), kUsualBoard);
  if (args.is_set("--markdown")) return kExitOk;
  if (env.format != OutputFormat::kTable) return kExitOk;
  std::size_t shown = 0;
  for (const auto& [name, op] : ops)
    for (const auto& [reason, n] : by_count(op.reasons)) {
      if (shown++ >= list) break;
      env.out << fmt::format("\n{} {} x {}\n  {}\n", name, n, cut_text(reason, 400), examples[name + " " + reason]);
    }
  return kExitOk;
}

}  // namespace opwright::cli
