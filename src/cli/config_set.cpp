#include "cli/config_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/store_source.h"
#include "format/read_trace.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "select/evaluate.h"

namespace opwright::cli {
namespace {

class Collector final : public format::TraceSink {
 public:
  Collector(const normalize::OpFilter& filter, const select::Selector& selector)
      : filter_(filter), selector_(selector) {}

  Status observe(const Observed& observed) override {
    if (filter_.judge(dotted(observed.op)) != normalize::OpFilter::Verdict::kKeep) {
      ++set.filtered;
      return {};
    }
    format::LiftNotes notes;
    auto config = normalizer_.normalize(observed.kind, observed.op, observed.arguments, notes);
    if (!config && config.error().code == ErrorCode::kBadInput) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: not valid JSON in the arguments of {} at byte {}: {}", observed.path, observed.op,
                              observed.offset, config.error().message));
    }
    if (!config) {
      lose({"unknown_shape", observed.path, observed.offset, config.error().message});
      return {};
    }
    if (!matches(*config, observed)) return {};
    if (keys_.insert(config->key).second) {
      ++set.configurations;
      set.by_op[config->op].push_back(*std::move(config));
    }
    return {};
  }
  void lose(const format::Loss& loss) override {
    if (set.losses++ == 0) set.loss_example = fmt::format("{}, byte {}: {}", loss.path, loss.offset, loss.example);
  }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  ConfigSet set;

 private:
  bool matches(const OpConfig& config, const Observed& observed) const {
    if (selector_.kind == select::Selector::Kind::kEverything) return true;
    std::vector<std::string> texts;
    std::int64_t calls = 0;
    std::vector<std::string> machines;
    for (const Sighting& sighting : observed.sightings) {
      texts.emplace_back(sighting.source);
      texts.push_back(normalize::name_source(sighting.source).model);
      machines.push_back(normalize::name_machine(sighting.machine));
      calls += sighting.count == kUncounted ? 1 : sighting.count;
    }
    const std::vector<std::string_view> models(texts.begin(), texts.end());
    const std::vector<std::string_view> labels(machines.begin(), machines.end());
    return select::matches(selector_, {config, models, labels, calls});
  }

  const normalize::OpFilter& filter_;
  const select::Selector& selector_;
  normalize::Normalizer normalizer_;
  std::set<ConfigKey> keys_;
};

}  // namespace

Result<ConfigSet> load_configs(const std::string& path, const normalize::OpFilter& filter,
                               const select::Selector& selector, int wait_ms) {
  Collector collector(filter, selector);
  OPWRIGHT_TRY_ASSIGN(const bool is_store, is_store_file(path));
  if (is_store)
    OPWRIGHT_TRY(read_store(path, wait_ms, collector));
  else
    OPWRIGHT_TRY(format::read_trace(path, {}, collector));
  for (auto& [op, configs] : collector.set.by_op) {
    std::sort(configs.begin(), configs.end(), [](const OpConfig& a, const OpConfig& b) { return a.key < b.key; });
  }
  return std::move(collector.set);
}

}  // namespace opwright::cli
