#include "jobs/fuse_suggest.h"

#include <fmt/format.h>

#include <array>

#include "base/secrets.h"
#include "base/words.h"
#include "cli/call_flags.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "jobs/fuse_make.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kPhaseFlag,
    Flag{"--limit", "N", "groups to show (default 10)"},
    Flag{"--variants", "N", "other sequences of a group (default 3)"},
    Flag{"--largest", "N", "calls of a sequence (default 14)"},
    Flag{"--profile", "CSV", "a profiler report: measured times instead of the clock of the simulated device"},
    kWaitFlag,
};

std::string words(const std::set<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

std::string json_of(const fuse::Suggestion& what) {
  std::vector<std::string> example, variants;
  for (const std::uint64_t call : what.example) example.push_back(std::to_string(call));
  for (const fuse::Suggestion& variant : what.variants) variants.push_back(json_of(variant));
  return JsonObject()
      .add("name", what.name)
      .add("pattern", what.pattern)
      .add("calls", static_cast<std::int64_t>(what.example.size()))
      .add("matches", what.matches)
      .add("parameter_sets", what.configurations)
      .add("labels", static_cast<std::int64_t>(what.labels))
      .add_raw("phases", json_array({what.phases.begin(), what.phases.end()}, false))
      .add_raw("traces", json_array({what.sources.begin(), what.sources.end()}, false))
      .add_raw("example", json_array(example, true))
      .add("inputs", what.inputs)
      .add("weights", what.weights)
      .add("outputs", what.outputs)
      .add("internal_bytes", what.internal_bytes)
      .add("boundary_bytes", what.boundary_bytes)
      .add_raw("kernel_us", fmt::format("{:.3f}", what.kernel_ns / 1000))
      .add_raw("saved_us", fmt::format("{:.3f}", what.saved_ns / 1000))
      .add_raw("saved_us_in_all", fmt::format("{:.3f}", what.saved_in_all() / 1000))
      .add("unmodelled", what.unmodelled)
      .add_raw("variants", json_array(variants, true))
      .text();
}

std::string human(const jobs::FuseSuggested& found) {
  std::string out;
  std::size_t number = 0;
  for (const fuse::Suggestion& what : found.suggestions) {
    out += fmt::format("{:>2} {}  {}\n", ++number, what.name, what.pattern);
    out += fmt::format(
        "   {}, {}{}{}\n", plural(what.matches, "match", "matches"), plural(what.configurations, "parameter set"),
        what.labels > 0 ? fmt::format(", {}", plural(static_cast<std::int64_t>(what.labels), "label")) : "",
        what.phases.empty() ? "" : ", in " + words(what.phases));
    out += fmt::format("   {} in, {} out, {}; {} inside are written and read again\n", what.inputs, what.outputs,
                       plural(what.weights, "weight"), size_text(what.internal_bytes));
    out += fmt::format("   {:.1f} us as separate kernels{}; saves about {:.1f} us each, {:.1f} us in all\n",
                       what.kernel_ns / 1000,
                       what.unmodelled > 0 ? fmt::format(" ({} without a time)", plural(what.unmodelled, "call")) : "",
                       what.saved_ns / 1000, what.saved_in_all() / 1000);
    out += fmt::format("   first place: calls {}:{} of {}\n", what.example.front(), what.example.back(),
                       what.sources.empty() ? "" : *what.sources.begin());
    for (const fuse::Suggestion& variant : what.variants)
      out += fmt::format("   or {}  ({}, {:.1f} us in all)\n", variant.pattern,
                         plural(variant.matches, "match", "matches"), variant.saved_in_all() / 1000);
  }
  if (found.suggestions.empty()) out += "no sequence that could be one function\n";
  return out;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  jobs::FuseSuggestRequest request;
  request.traces = args.positionals;
  request.store = env.store;
  request.profile = args.value("--profile");
  request.options.phases = args.all("--phase");
  OPWRIGHT_TRY_ASSIGN(request.wait_ms, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(request.options.groups, count_of(args, "--limit", 10));
  OPWRIGHT_TRY_ASSIGN(request.options.variants, count_of(args, "--variants", 3));
  OPWRIGHT_TRY_ASSIGN(request.options.largest, count_of(args, "--largest", 14));
  if (request.options.largest < 2 || request.options.largest > 32)
    return fail(ErrorCode::kUsage, "--largest: a number from 2 to 32");
  const Interrupts interrupts;
  request.options.stop = [&] { return *interrupts.count() > 0; };
  const auto found = jobs::suggest_fused(request);
  if (!found) {
    env.err << "opwright: " << masked(found.error().message) << '\n';
    return jobs::fuse_exit_code(found.error());
  }
  std::vector<std::string> items;
  for (const fuse::Suggestion& what : found->suggestions) items.push_back(json_of(what));
  if (env.format == OutputFormat::kJsonl) {
    for (const std::string& item : items) env.out << item << '\n';
    return kExitOk;
  }
  JsonObject object;
  object.add("traces", found->traces)
      .add("calls", found->calls)
      .add("traces_without_identities", found->inferred)
      .add("measured_operations", found->measured)
      .add_raw("suggestions", json_array(items, true));
  print_object(object, {}, human(*found), env);
  if (found->inferred > 0 && env.format == OutputFormat::kTable)
    env.err << fmt::format("opwright: {} name no tensors: what feeds what is inferred there\n",
                           plural(found->inferred, "trace"));
  return kExitOk;
}

}  // namespace

const Command kFuseSuggest{"fuse suggest",
                           "Sequences of operators that are worth a fused one, best first.",
                           "Looks for sub-graphs that a model makes often, that can be one function, and that keep to "
                           "themselves much of what\n"
                           "they now write and read again. Those that cover mostly the same calls are one group. Bytes "
                           "are of one chip, times\n"
                           "are modelled by the clock of the simulated device. docs/how-to/fuse-operators.md\n\n"
                           "Example:\n"
                           "  opwright fuse suggest run.opwt --phase decode",
                           "TRACE…",
                           1,
                           -1,
                           kFlags,
                           run,
                           false,
                           true};

}  // namespace opwright::cli
