#include "cli/known_ops.h"

#include <algorithm>
#include <map>
#include <optional>

#include "cli/output.h"
#include "device/sim/kernel.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/plan_call.h"
#include "ops/all_ops.h"

namespace opwright::cli {
namespace {

struct Example {
  std::string_view line;
  std::optional<ErrorBudget> budget;  // of the first output
};

std::string_view name_of(ErrorBudget::Kind kind) {
  switch (kind) {
    case ErrorBudget::Kind::kExact:
      return "exact";
    case ErrorBudget::Kind::kElementwise:
      return "elementwise";
    case ErrorBudget::Kind::kContraction:
      return "contraction";
    case ErrorBudget::Kind::kSelection:
      return "selection";
  }
  return "";
}

// The first example of each operator, with the budget that it has.
std::map<std::string_view, Example> examples() {
  std::map<std::string_view, Example> out;
  const Board board = known_boards()[0];
  for (const std::string_view line : example_cases()) {
    const auto config = parse_case(line);
    const OpSpec* op = config ? find_op(config->op) : nullptr;
    if (op == nullptr || out.contains(op->name)) continue;
    Example& example = out[op->name];
    example.line = line;
    if (const auto plan = plan_call(*config, board); plan && !plan->outputs.empty() && op->budget != nullptr)
      example.budget = op->budget(plan->call, plan->outputs, 0);
  }
  return out;
}

}  // namespace

Result<int> list_known_ops(CommandEnv& env) {
  const auto shown = examples();
  Table table{{{"operation"},
               {"aliases"},
               {"eras"},
               {"kernel"},
               {"reference"},
               {"ccl", false, false},
               {"budget"},
               {"why"},
               {"parameters", true, false},
               {"example", false, false}},
              {}};
  std::vector<const OpSpec*> ops(all_ops().begin(), all_ops().end());
  std::ranges::sort(ops, {}, &OpSpec::name);
  for (const OpSpec* op : ops) {
    const bool era1 = std::ranges::any_of(op->params, [](const Param& param) { return param.era1 >= 0; });
    const auto found = shown.find(op->name);
    const bool budget = found != shown.end() && found->second.budget;
    std::vector<std::string> aliases(op->aliases.begin(), op->aliases.end());
    std::string names;
    for (const std::string& alias : aliases) names += (names.empty() ? "" : ", ") + std::string(short_name(alias));
    table.rows.push_back(
        {op->name, Cell(names, json_array(aliases, false)), era1 ? "1, 2" : "2",
         sim::find_kernel(op->name) != nullptr ? "sim" : "none", op->reference != nullptr ? "double" : "none",
         Cell(op->ccl ? "yes" : "no", op->ccl ? "true" : "false"), budget ? name_of(found->second.budget->kind) : "",
         budget ? std::string_view(found->second.budget->why) : "", static_cast<std::int64_t>(op->params.size()),
         found != shown.end() ? found->second.line : ""});
  }
  print(table, env);
  return kExitOk;
}

}  // namespace opwright::cli
