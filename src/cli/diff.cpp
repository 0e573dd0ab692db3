#include <fmt/format.h>

#include <array>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/ending.h"
#include "jobs/value_text.h"
#include "normalize/normalize.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kWhereFlag,
    Flag{"--limit", "N", "list at most N differences of a kind an operation in table form (default 5)"},
    Flag{"--all-ops", "", "compare every operation, also those the filter leaves out"},
    kWaitFlag,
};

constexpr std::size_t kLongest = 240;  // characters of a configuration in a table

std::string config_json(const OpConfig& config) {
  return JsonObject()
      .add("operation", config.op)
      .add("key", to_hex(config.key))
      .add_raw("arguments", jobs::arguments_json(config))
      .text();
}

std::string short_text(const OpConfig& config) {
  const std::string text = normalize::canonical_text(config);
  const std::string call = text.substr(std::min(text.find(':', 2) + 1, text.size()));
  return call.size() <= kLongest ? call : call.substr(0, kLongest) + "… (--format json shows it whole)";
}

std::string pair_json(const jobs::ConfigPair& pair) {
  std::vector<std::string> fields;
  for (const FieldChange& change : pair.changes)
    fields.push_back(JsonObject().add("field", change.field).add("from", change.from).add("to", change.to).text());
  return JsonObject()
      .add("operation", pair.from->op)
      .add("from", to_hex(pair.from->key))
      .add("to", to_hex(pair.to->key))
      .add_raw("fields", json_array(fields, true))
      .text();
}

void describe(const jobs::OperationDiff& diff, std::size_t limit, std::string& human) {
  human += fmt::format("{}: {} same, {} changed, {} removed, {} added\n", visible(diff.op), diff.same,
                       diff.changed.size(), diff.removed.size(), diff.added.size());
  for (std::size_t i = 0; i < diff.changed.size() && i < limit; ++i) {
    human += fmt::format("  ~ {} -> {}\n", to_hex(diff.changed[i].from->key).substr(0, 12),
                         to_hex(diff.changed[i].to->key).substr(0, 12));
    for (const FieldChange& change : diff.changed[i].changes)
      human += fmt::format("      {}: {} -> {}\n", visible(change.field), visible(change.from), visible(change.to));
  }
  if (diff.changed.size() > limit) human += fmt::format("  ~ {} more\n", diff.changed.size() - limit);
  const auto list = [&](char sign, const std::vector<const OpConfig*>& configs) {
    for (std::size_t i = 0; i < configs.size() && i < limit; ++i)
      human += fmt::format("  {} {}\n", sign, visible(short_text(*configs[i])));
    if (configs.size() > limit) human += fmt::format("  {} {} more\n", sign, configs.size() - limit);
  };
  list('-', diff.removed);
  list('+', diff.added);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", 5));
  jobs::DiffOptions options{.a = args.positionals[0], .b = args.positionals[1], .where = args.value("--where")};
  options.all_ops = args.is_set("--all-ops");
  OPWRIGHT_TRY_ASSIGN(options.wait_ms, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(const jobs::ConfigsDiff found, jobs::diff_configs(options));
  const jobs::ConfigSet& a = found.a;
  const jobs::ConfigSet& b = found.b;
  std::vector<std::string> added, removed, changed;
  std::string human;
  for (const jobs::OperationDiff& diff : found.operations) {
    for (const OpConfig* config : diff.added) added.push_back(config_json(*config));
    for (const OpConfig* config : diff.removed) removed.push_back(config_json(*config));
    for (const jobs::ConfigPair& pair : diff.changed) changed.push_back(pair_json(pair));
    if (!diff.added.empty() || !diff.removed.empty() || !diff.changed.empty()) describe(diff, limit, human);
  }
  human = fmt::format("{} against {}: {} same, {} changed, {} removed, {} added\n",
                      plural(a.configurations, "configuration"), grouped(b.configurations), grouped(found.same),
                      changed.size(), removed.size(), added.size()) +
          human;
  for (const auto& [name, set] : {std::pair{args.positionals[0], &a}, std::pair{args.positionals[1], &b}}) {
    if (set->filtered > 0)
      human += fmt::format("not compared: {} records of {} that the filter leaves out (--all-ops compares them)\n",
                           grouped(set->filtered), visible(name));
    if (set->losses > 0)
      human += fmt::format("LOST {} of {}: {}\n", set->losses, visible(name), visible(set->loss_example));
  }
  JsonObject object;
  object.add_bool("equal", found.equal())
      .add("same", found.same)
      .add_raw("added", json_array(added, true))
      .add_raw("removed", json_array(removed, true))
      .add_raw("changed", json_array(changed, true))
      .add("filtered", a.filtered + b.filtered)
      .add("losses", a.losses + b.losses);
  print_object(object,
               {{"same", std::to_string(found.same)},
                {"changed", std::to_string(changed.size())},
                {"removed", std::to_string(removed.size())},
                {"added", std::to_string(added.size())}},
               human, env);
  return jobs::exit_code(jobs::ending_of(found));
}

}  // namespace

const Command kDiff{"diff",
                    "Added, removed and changed configurations between two traces or stores, field by field.",
                    "A and B are traces of any format or opwright stores. Exit code 1 when they differ.\n\n"
                    "  opwright diff old_master.json new_master.json\n"
                    "  opwright diff monday.db tuesday.db --where 'op=linear'",
                    "A B",
                    2,
                    2,
                    kFlags,
                    run,
                    false,
                    true};

}  // namespace opwright::cli
