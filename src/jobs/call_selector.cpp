#include "jobs/call_selector.h"

#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "select/evaluate.h"
#include "select/selected.h"

namespace opwright::jobs {

CallSelector::CallSelector(format::NativeTrace& trace, const select::Selector& selector)
    : selector_(selector), calls_(trace), machine_(normalize::name_machine(calls_.facts().machine)) {}

bool CallSelector::takes(const format::NativeCall& call) {
  // What a selector can ask about: the call, what it did to its arguments, where it was made, what it raised.
  const Hash128 key{
      static_cast<std::uint64_t>(call.call) << 32 | call.context,
      (format::change_of(call) << 1 | (call.parent == 0 ? 1U : 0U)) ^ (static_cast<std::uint64_t>(call.error) << 32)};
  const auto [entry, added] = known_.try_emplace(key, false);
  if (added) entry->second = decide(call);
  return entry->second;
}

bool CallSelector::decide(const format::NativeCall& recorded) {
  format::LiftNotes notes;
  auto call = calls_.call(recorded, notes);
  if (!call) return ++not_understood_, false;
  const normalize::SourceName name = normalize::name_source(call->source);
  const std::vector<std::string> sources{call->source, name.model, name.hf_model};
  const std::vector<std::string_view> models(sources.begin(), sources.end());
  std::vector<std::string_view> machines;
  select::append_machine_names(machine_, machines);
  const std::string error = call->error;
  const OpConfig config = normalize::config_of(*std::move(call));
  return select::matches(selector_, {config, models, machines, 1, recorded.raised() ? 1 : 0, error});
}

}  // namespace opwright::jobs
