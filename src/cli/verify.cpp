#include <fmt/format.h>

#include <array>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/ending.h"

namespace opwright::cli {
namespace {

constexpr std::array<Flag, 1> kFlags{Flag{"--limit", "N", "list at most N mismatches in table form (default 10)"}};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", 10));
  OPWRIGHT_TRY_ASSIGN(const jobs::HashReport report, jobs::check_hashes(args.positionals[0]));
  const std::string generation = report.generation();
  std::vector<std::string> mismatched;
  for (const jobs::HashMismatch& one : report.mismatches) {
    mismatched.push_back(JsonObject()
                             .add("operation", one.op)
                             .add("config_hash", one.stored)
                             .add("recomputed_g5", one.newest)
                             .add("offset", static_cast<std::int64_t>(one.offset))
                             .text());
  }
  JsonObject per_generation;
  for (int g = 0; g < normalize::kGenerations; ++g)
    per_generation.add(normalize::name_of(static_cast<normalize::Generation>(g)),
                       report.per_generation[static_cast<std::size_t>(g)]);
  JsonObject object;
  object.add("configurations", report.configurations)
      .add("matched", report.matched)
      .add("without_hash", report.without_hash)
      .add("generation", generation)
      .add("era1_signatures", static_cast<std::int64_t>(report.era1_signatures.size()))
      .add_raw("per_generation", per_generation.text())
      .add("losses", report.losses)
      .add_raw("mismatched", json_array(mismatched, true));
  std::string human =
      fmt::format("{}, {} reproduced, {} differ{}, {} without a hash\n", plural(report.configurations, "configuration"),
                  plural(report.matched, "hash", "hashes"), report.mismatches.size(),
                  report.mismatches.size() == 1 ? "s" : "", grouped(report.without_hash));
  if (report.matched > 0)
    human +=
        fmt::format("generation {}{}\n", generation, generation == "mixed" ? ": no single rule explains them all" : "");
  else if (report.without_hash == report.configurations)
    human += report.era1_signatures.empty()
                 ? "nothing to verify: it carries no hashes (only era-2 masters do)\n"
                 : fmt::format("era 1 stored no hashes; its MD5 signatures tell {} apart\n",
                               plural(static_cast<std::int64_t>(report.era1_signatures.size()), "configuration"));
  for (std::size_t i = 0; i < report.mismatches.size() && i < limit; ++i) {
    const jobs::HashMismatch& one = report.mismatches[i];
    human += fmt::format("  {} at byte {}: stored {}, no generation gives it (G5: {})\n", visible(one.op), one.offset,
                         visible(one.stored.substr(0, 16)), one.newest.substr(0, 16));
  }
  if (report.mismatches.size() > limit) human += fmt::format("  … {} more\n", report.mismatches.size() - limit);
  if (report.losses > 0) human += fmt::format("LOST {}: {}\n", report.losses, visible(report.loss_example));
  print_object(object,
               {{"configurations", std::to_string(report.configurations)},
                {"matched", std::to_string(report.matched)},
                {"without_hash", std::to_string(report.without_hash)},
                {"generation", generation},
                {"mismatched", std::to_string(report.mismatches.size())}},
               human, env);
  return jobs::exit_code(jobs::ending_of(report));
}

}  // namespace

const Command kVerify{"verify",
                      "Recompute the hashes stored in a master JSON and name their generation.",
                      "Exit code 1 when a stored hash cannot be reproduced by any known rule (G0 to G5).\n\n"
                      "  opwright verify ttnn_operations_master.json",
                      "FILE",
                      1,
                      1,
                      kFlags,
                      run,
                      false,
                      true};

}  // namespace opwright::cli
