#include "jobs/config_set.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "dialect/dialect.h"
#include "format/read_trace.h"
#include "jobs/ledger.h"
#include "jobs/store_source.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "select/evaluate.h"
#include "select/selected.h"

namespace opwright::jobs {
namespace {

class Collector final : public format::TraceSink {
 public:
  Collector(const normalize::OpFilter& filter, const select::Selector& selector)
      : filter_(filter), selector_(selector) {}

  Status observe(const Observed& observed) override {
    if (filtering && filter_.judge(operation_name(observed.op)) != normalize::OpFilter::Verdict::kKeep) {
      ++set.filtered;
      return {};
    }
    format::LiftNotes notes;
    auto config = normalizer_.normalize(observed, notes);
    if (!config && config.error().code == ErrorCode::kBadInput) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: not valid JSON in the arguments of {} at byte {}: {}", observed.path, observed.op,
                              observed.offset, config.error().message));
    }
    if (!config) {
      lose({"unknown_shape", observed.path, observed.offset, config.error().message});
      return {};
    }
    Seen& seen = seen_[config->key];
    for (const Sighting& sighting : observed.sightings) {
      const normalize::SourceName name = normalize::name_source(sighting.source);
      seen.models.insert({std::string(sighting.source), name.model, name.hf_model});
      seen.machines.insert(normalize::name_machine(sighting.machine));
      seen.calls += sighting.count == kUncounted ? 1 : sighting.count;
      seen.raised += sighting.raised;
      if (std::string error = cut_error(sighting.error); error > seen.error) seen.error = std::move(error);
    }
    if (seen.config.op.empty()) seen.config = *std::move(config);
    return {};
  }
  void lose(const format::Loss& loss) override {
    const bool first = set.losses == 0;
    set.losses += static_cast<std::int64_t>(loss.count);
    if (first) set.loss_example = fmt::format("{}, byte {}: {}", loss.path, loss.offset, loss.example);
  }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  // A selector may ask how often and where: that is known when everything was read.
  ConfigSet selected() && {
    for (auto& [key, seen] : seen_) {  // in the order of keys
      const std::vector<std::string_view> models(seen.models.begin(), seen.models.end());
      std::vector<std::string_view> machines;
      for (const std::string& label : seen.machines) select::append_machine_names(label, machines);
      if (!select::matches(selector_, {seen.config, models, machines, seen.calls, seen.raised, seen.error})) continue;
      ++set.configurations;
      set.by_op[seen.config.op].push_back(std::move(seen.config));
    }
    return std::move(set);
  }

  ConfigSet set;
  bool filtering = true;

 private:
  struct Seen {
    OpConfig config;
    std::set<std::string> models, machines;
    std::int64_t calls = 0, raised = 0;
    std::string error;  // one example: of several the largest text, as in a store
  };

  const normalize::OpFilter& filter_;
  const select::Selector& selector_;
  normalize::Normalizer normalizer_;
  std::map<ConfigKey, Seen> seen_;
};

}  // namespace

Result<ConfigSet> load_configs(const std::string& path, const normalize::OpFilter& filter,
                               const select::Selector& selector, int wait_ms) {
  Collector collector(filter, selector);
  const bool from_store = is_store(path);
  collector.filtering = !from_store;  // what a store holds was chosen when it was imported
  if (from_store)
    OPWRIGHT_TRY(read_store(path, wait_ms, collector));
  else
    OPWRIGHT_TRY(format::read_trace(path, {}, collector));
  return std::move(collector).selected();
}

}  // namespace opwright::jobs
