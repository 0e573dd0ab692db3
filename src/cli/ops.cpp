#include <algorithm>
#include <array>
#include <set>

#include "cli/command.h"
#include "cli/known_ops.h"
#include "cli/output.h"
#include "cli/query.h"
#include "model/test_id.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kWhereFlag, kWaitFlag,
    Flag{"--known", "", "instead: the operators that can be run and judged; no store is needed"}};

Result<std::vector<store::OperationRow>> selected_operations(store::Reader& reader, const std::vector<Part>& parts) {
  std::map<std::string, store::OperationRow> rows;
  std::map<std::string, std::set<std::string>> sources;
  for (const Part& part : parts) {
    OPWRIGHT_TRY(for_each_selected(reader, part.selector, {}, [&](Selected&& selected) -> Status {
      if (!part.op.empty() && selected.config.op != part.op) return {};
      store::OperationRow& row = rows[selected.config.op];
      row.name = selected.config.op;
      ++row.configurations;
      row.calls += selected.calls;
      row.uncounted += selected.uncounted;
      row.raised += selected.raised;
      for (const std::string& source : selected.sources()) sources[row.name].insert(test_function(source));
      return {};
    }));
  }
  std::vector<store::OperationRow> all;
  for (auto& [name, row] : rows) {
    row.sources = static_cast<std::int64_t>(sources[name].size());
    all.push_back(row);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.configurations > b.configurations; });
  return all;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  if (args.is_set("--known")) {
    if (!args.value("--where").empty() || !args.positionals.empty())
      return fail(ErrorCode::kUsage, "--known lists operators, not configurations: no --where, no OP");
    return list_known_ops(env);
  }
  OPWRIGHT_TRY(selector_of(args));  // before the store: what was typed is wrong whatever is in it
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
  OPWRIGHT_TRY_ASSIGN(const std::vector<Part> parts, parts_of(args, *reader));
  std::vector<store::OperationRow> rows;
  if (args.value("--where").empty()) {
    OPWRIGHT_TRY_ASSIGN(rows, reader->operations());
    const auto is_asked = [&](const std::string& name) {
      return std::ranges::any_of(parts, [&](const Part& part) { return part.op.empty() || part.op == name; });
    };
    std::erase_if(rows, [&](const store::OperationRow& row) { return !is_asked(row.name); });
  } else {
    OPWRIGHT_TRY_ASSIGN(rows, selected_operations(*reader, parts));
  }
  const bool raised = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.raised > 0; });
  Table table{{{"operation"},
               {"configurations", true},
               {"calls", true},
               {"sources", true},
               {"uncounted", true, false},
               {"raised", true, raised}},
              {}};
  bool uncounted = false;
  for (const store::OperationRow& row : rows) {
    uncounted = uncounted || row.uncounted > 0;
    const std::string calls = (row.uncounted > 0 ? "≥" : "") + grouped(row.calls);
    const bool people = env.format == OutputFormat::kTable;
    table.rows.push_back(
        {row.name,
         Cell(people ? grouped(row.configurations) : std::to_string(row.configurations),
              std::to_string(row.configurations)),
         Cell(env.format == OutputFormat::kTable ? calls : std::to_string(row.calls), std::to_string(row.calls)),
         row.sources, row.uncounted,
         Cell(!people          ? std::to_string(row.raised)
              : row.raised > 0 ? grouped(row.raised)
                               : "",
              std::to_string(row.raised))});
  }
  if (rows.empty() && env.format == OutputFormat::kTable) {
    env.out << "no configuration matches\n";
    return kExitOk;
  }
  print(table, env);
  if (uncounted && env.format == OutputFormat::kTable)
    env.out << "≥: some traces do not count calls; each of their configurations stands for one a trace\n";
  return kExitOk;
}

}  // namespace

const Command kOps{"ops",
                   "List the operations of the store with their numbers of configurations and calls.",
                   "OP is add, ttnn.add or ttnn::add; without it all are listed.\n\n"
                   "  opwright ops\n  opwright ops linear\n  opwright ops --where 'model~llama and dtype=bfloat8_b'\n  "
                   "opwright ops --known",
                   "[OP]",
                   0,
                   1,
                   kFlags,
                   run};

}  // namespace opwright::cli
