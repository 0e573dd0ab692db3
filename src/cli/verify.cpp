#include <fmt/format.h>

#include <array>
#include <bitset>
#include <set>

#include "base/json.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "format/read_trace.h"
#include "normalize/foreign_hash.h"

namespace opwright::cli {
namespace {

constexpr std::array<Flag, 1> kFlags{Flag{"--limit", "N", "list at most N mismatches in table form (default 10)"}};

using Generations = std::bitset<normalize::kGenerations>;

struct Mismatch {
  std::string op, stored, newest;
  std::size_t offset;
};

class HashChecker final : public format::TraceSink {
 public:
  Status observe(const Observed& observed) override {
    ++configurations;
    const auto arguments = document_.parse(observed.arguments);
    if (!arguments) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: the arguments of a configuration of {} at byte {} are not valid JSON: {}",
                              observed.path, observed.op, observed.offset, arguments.error().what));
    }
    if (observed.config_hash.empty()) {
      ++without_hash;
      // Era 1 told configurations apart by an MD5 of their arguments, inside one operation.
      if (observed.kind == FormKind::kEra1)
        signatures.insert(std::string(observed.op) + " " + normalize::era1_signature(**arguments));
      return {};
    }
    const json::Node* machine = nullptr;
    std::string_view machine_text = observed.hashed_machine;
    if (machine_text.empty() && !observed.sightings.empty()) machine_text = observed.sightings.front().machine;
    if (!machine_text.empty()) {
      if (const auto parsed = machine_document_.parse(machine_text)) machine = *parsed;
    }
    const Generations matching =
        normalize::matching_generations(observed.config_hash, observed.op, **arguments, machine);
    if (matching.none()) {
      mismatches.push_back({std::string(observed.op), std::string(observed.config_hash),
                            normalize::config_hash(normalize::Generation::kG5, observed.op, **arguments, machine),
                            observed.offset});
      return {};
    }
    ++matched;
    common &= matching;
    for (std::size_t g = 0; g < matching.size(); ++g) per_generation[g] += matching.test(g) ? 1 : 0;
    return {};
  }
  void lose(const format::Loss& loss) override {
    const bool first = losses == 0;
    losses += static_cast<std::int64_t>(loss.count);
    if (first) loss_example = fmt::format("{}, byte {}: {}", loss.path, loss.offset, loss.example);
  }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  std::int64_t configurations = 0, matched = 0, without_hash = 0, losses = 0;
  std::string loss_example;
  std::vector<Mismatch> mismatches;
  std::set<std::string> signatures;
  Generations common = Generations().set();
  std::array<std::int64_t, normalize::kGenerations> per_generation{};

 private:
  json::Document document_, machine_document_;
};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", 10));
  HashChecker checker;
  OPWRIGHT_TRY(format::read_trace(args.positionals[0], {}, checker));
  std::string generation = "none";
  if (checker.matched > 0) generation = checker.common.any() ? normalize::to_text(checker.common) : "mixed";
  std::vector<std::string> mismatched;
  for (const Mismatch& one : checker.mismatches) {
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
                       checker.per_generation[static_cast<std::size_t>(g)]);
  JsonObject object;
  object.add("configurations", checker.configurations)
      .add("matched", checker.matched)
      .add("without_hash", checker.without_hash)
      .add("generation", generation)
      .add("era1_signatures", static_cast<std::int64_t>(checker.signatures.size()))
      .add_raw("per_generation", per_generation.text())
      .add("losses", checker.losses)
      .add_raw("mismatched", json_array(mismatched, true));
  std::string human =
      fmt::format("{}, {} reproduced, {} differ{}, {} without a hash\n",
                  plural(checker.configurations, "configuration"), plural(checker.matched, "hash", "hashes"),
                  checker.mismatches.size(), checker.mismatches.size() == 1 ? "s" : "", grouped(checker.without_hash));
  if (checker.matched > 0)
    human +=
        fmt::format("generation {}{}\n", generation, generation == "mixed" ? ": no single rule explains them all" : "");
  else if (checker.without_hash == checker.configurations)
    human += checker.signatures.empty()
                 ? "nothing to verify: it carries no hashes (only era-2 masters do)\n"
                 : fmt::format("era 1 stored no hashes; its MD5 signatures tell {} apart\n",
                               plural(static_cast<std::int64_t>(checker.signatures.size()), "configuration"));
  for (std::size_t i = 0; i < checker.mismatches.size() && i < limit; ++i) {
    const Mismatch& one = checker.mismatches[i];
    human += fmt::format("  {} at byte {}: stored {}, no generation gives it (G5: {})\n", visible(one.op), one.offset,
                         visible(one.stored.substr(0, 16)), one.newest.substr(0, 16));
  }
  if (checker.mismatches.size() > limit) human += fmt::format("  … {} more\n", checker.mismatches.size() - limit);
  if (checker.losses > 0) human += fmt::format("LOST {}: {}\n", checker.losses, visible(checker.loss_example));
  print_object(object,
               {{"configurations", std::to_string(checker.configurations)},
                {"matched", std::to_string(checker.matched)},
                {"without_hash", std::to_string(checker.without_hash)},
                {"generation", generation},
                {"mismatched", std::to_string(checker.mismatches.size())}},
               human, env);
  return checker.mismatches.empty() ? kExitOk : kExitDifference;
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
