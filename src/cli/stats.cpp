#include <fmt/format.h>

#include <array>
#include <map>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{kWhereFlag, kWaitFlag};

using Counts = std::map<std::string, std::int64_t>;

// How often each name of tensors occurs, over distinct configurations.
struct Distribution {
  std::int64_t configurations = 0, calls = 0, uncounted = 0, tensors = 0;
  std::int64_t raised = 0, raised_configurations = 0, only_raised = 0;
  Counts operations, models, machines, dtypes, layouts, memories, ranks, conventions;

  void add(const Selected& selected) {
    ++configurations;
    calls += selected.calls;
    uncounted += selected.uncounted;
    raised += selected.raised;
    raised_configurations += selected.raised > 0 ? 1 : 0;
    only_raised += selected.only_raised() ? 1 : 0;
    ++operations[selected.config.op];
    ++conventions[std::string(name_of(selected.config.convention))];
    for (const std::string& model : selected.models()) ++models[model];
    for (const std::string& machine : selected.machines()) ++machines[machine];
    for (const Argument& argument : selected.config.args) {
      for_each_tensor(argument.value, [&](const TensorSpec& spec) {
        ++tensors;
        ++dtypes[std::string(spec.dtype.name())];
        ++layouts[std::string(spec.layout.name())];
        ++ranks[spec.has_shape ? std::to_string(spec.shape.size()) : "absent"];
        ++memories[spec.memory ? fmt::format("{} {}", spec.memory->buffer.name(), spec.memory->layout.name())
                               : "absent"];
      });
    }
  }
};

std::string counts_text(std::string_view title, const Counts& counts, std::size_t most = 12) {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(-count, name);
  std::sort(sorted.begin(), sorted.end());
  if (counts.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    text += fmt::format("  {:>9}  {}\n", grouped(-sorted[i].first), visible(sorted[i].second));
  if (sorted.size() > most) text += fmt::format("  {:>9}  {} more\n", "", sorted.size() - most);
  return text;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, selector_of(args));
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
  OPWRIGHT_TRY_ASSIGN(const store::Totals totals, reader->totals());
  OPWRIGHT_TRY_ASSIGN(const std::vector<store::SequenceRow> sequences, reader->sequences());
  std::int64_t calls_kept = 0, bytes_kept = 0;
  for (const store::SequenceRow& row : sequences) {
    calls_kept += row.sequence.calls;
    bytes_kept += row.packed;
  }
  const auto traces_kept = static_cast<std::int64_t>(sequences.size());
  Distribution all;
  OPWRIGHT_TRY(for_each_selected(*reader, selector, {.arguments = true}, [&](Selected&& selected) -> Status {
    all.add(selected);
    return {};
  }));
  JsonObject object;
  object.add("operations", static_cast<std::int64_t>(all.operations.size()))
      .add("configurations", all.configurations)
      .add("calls", all.calls)
      .add("uncounted", all.uncounted)
      .add("tensors", all.tensors)
      .add("forms", totals.forms)
      .add("sources", totals.sources)
      .add("traces", totals.traces)
      .add("store_bytes", totals.bytes)
      .add("schema", totals.schema)
      .add_raw("per_operation", counts_json(all.operations))
      .add_raw("models", counts_json(all.models))
      .add_raw("machines", counts_json(all.machines))
      .add_raw("dtypes", counts_json(all.dtypes))
      .add_raw("layouts", counts_json(all.layouts))
      .add_raw("memory", counts_json(all.memories))
      .add_raw("ranks", counts_json(all.ranks))
      .add_raw("conventions", counts_json(all.conventions))
      .add("raised", all.raised)
      .add("raised_configurations", all.raised_configurations)
      .add("only_raised", all.only_raised)
      .add("traces_kept", traces_kept)
      .add("calls_kept", calls_kept)
      .add("bytes_kept", bytes_kept);
  std::string human =
      fmt::format("{} of {}, {}{}, {}\n", plural(all.configurations, "configuration"),
                  plural(static_cast<std::int64_t>(all.operations.size()), "operation"), all.uncounted > 0 ? "≥" : "",
                  plural(all.calls, "call"), plural(all.tensors, "tensor"));
  if (all.raised > 0) {
    human += fmt::format("raised: {} of {}; {} raised every time\n", plural(all.raised, "call"),
                         plural(all.raised_configurations, "configuration"), grouped(all.only_raised));
  }
  human +=
      fmt::format("whole store: {}, {}, {}, {} in {}\n", plural(totals.forms, "form"), plural(totals.sources, "source"),
                  plural(totals.traces, "trace"), size_text(totals.bytes), visible(store::shown(env.store)));
  if (traces_kept > 0)
    human += fmt::format("in their order: {} of {}, {}\n", plural(calls_kept, "call"), plural(traces_kept, "trace"),
                         size_text(bytes_kept));
  if (all.configurations == 0) human = "no configuration matches\n";
  human += counts_text("operations (configurations)", all.operations, 15);
  human += counts_text("models (configurations)", all.models);
  human += counts_text("machines (configurations)", all.machines);
  human += counts_text("dtypes (tensors)", all.dtypes);
  human += counts_text("layouts (tensors)", all.layouts);
  human += counts_text("memory (tensors)", all.memories);
  human += counts_text("ranks (tensors)", all.ranks);
  print_object(object,
               {{"operations", std::to_string(all.operations.size())},
                {"configurations", std::to_string(all.configurations)},
                {"calls", std::to_string(all.calls)},
                {"uncounted", std::to_string(all.uncounted)},
                {"tensors", std::to_string(all.tensors)},
                {"forms", std::to_string(totals.forms)},
                {"sources", std::to_string(totals.sources)},
                {"traces", std::to_string(totals.traces)},
                {"store_bytes", std::to_string(totals.bytes)},
                {"raised", std::to_string(all.raised)}},
               human, env);
  return kExitOk;
}

}  // namespace

const Command kStats{"stats",
                     "Totals of the store: operations, models, machines, dtypes, layouts, memory.",
                     "  opwright stats\n  opwright stats --where 'op=linear'",
                     "",
                     0,
                     0,
                     kFlags,
                     run};

}  // namespace opwright::cli
