#include "select/seen_names.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "dialect/dialect.h"
#include "dialect/ttnn/machine_info.h"
#include "normalize/provenance_names.h"

namespace opwright::select {
namespace {

std::vector<std::string> known_names(std::set<std::string> names) {
  if (names.size() > 1) {
    names.erase("unknown");
    names.erase("");
  }
  return {names.begin(), names.end()};
}

}  // namespace

void append_machine_names(std::string_view label, std::vector<std::string_view>& names) {
  names.push_back(label);
  for (std::size_t from = 0; from < label.size();) {
    const std::size_t end = std::min(label.find(' ', from), label.size());
    names.push_back(label.substr(from, end - from));
    from = end + 1;
  }
}

Status SeenNames::load(store::Reader& reader) {
  OPWRIGHT_TRY_ASSIGN(auto sources, reader.sources());
  for (store::SourceRow& row : sources)
    sources_.emplace(row.id.value, Source{std::move(row.text), std::move(row.hf_model)});
  OPWRIGHT_TRY_ASSIGN(auto machines, reader.machines());
  std::ranges::sort(machines, {}, &store::MachineRow::id);
  std::map<std::string, std::int64_t> whole;
  for (store::MachineRow& row : machines) {
    const auto [first, is_new] = whole.emplace(whole_machine(row.text), row.id.value);
    has_same_machines_ = has_same_machines_ || !is_new;
    machines_.emplace(row.id.value, Machine{std::move(row.label), first->second});
  }
  return {};
}

Result<const SeenNames::Place*> SeenNames::place_of(std::span<const store::Seen> seen) {
  key_.clear();
  for (const store::Seen& one : seen) {
    const std::pair pair(one.source.value, one.machine.value);
    if (key_.empty() || key_.back() != pair) key_.push_back(pair);
  }
  if (last_ != nullptr && key_ == last_key_) return last_;
  auto found = places_.find(key_);
  if (found == places_.end()) {
    OPWRIGHT_TRY_ASSIGN(Place place, make_place(key_));
    found = places_.emplace(key_, std::move(place)).first;
  }
  last_key_ = key_;
  return last_ = &found->second;
}

Result<SeenNames::Place> SeenNames::make_place(const Key& key) {
  Place place;
  std::set<std::string> models, machines, sources;
  for (const auto& [source_id, machine_id] : key) {
    const auto source = sources_.find(source_id);
    const auto machine = machines_.find(machine_id);
    if (source == sources_.end() || machine == machines_.end())
      return fail(ErrorCode::kBadInput,
                  "a source or machine that a configuration was seen in is missing; the store is "
                  "damaged: 'opwright doctor --deep' lists what is");
    if (source->second.model.empty()) source->second.model = normalize::name_source(source->second.text).model;
    models.insert(source->second.model);
    sources.insert(source->second.text);
    machines.insert(machine->second.label);
    place.models.insert(place.models.end(), {source->second.model, source->second.text, source->second.hf_model});
    append_machine_names(machine->second.label, place.machines);
  }
  SeenIn names{known_names(std::move(models)), known_names(std::move(machines)), known_names(std::move(sources))};
  if (names.sources.size() == 1 && names.sources.front().empty()) names.sources.clear();
  place.names = std::make_shared<const SeenIn>(std::move(names));
  return place;
}

SeenNames::Calls SeenNames::calls_of(std::span<const store::Seen> seen) {
  if (has_same_machines_ && seen.size() > 1) {
    const auto call = [](const store::Seen& one) {
      return std::tie(one.form, one.source, one.machine, one.trace, one.sweep_source_hash);
    };
    joined_.assign(seen.begin(), seen.end());
    for (store::Seen& one : joined_) {
      const auto machine = machines_.find(one.machine.value);
      if (machine != machines_.end()) one.machine.value = machine->second.same_as;
    }
    std::sort(joined_.begin(), joined_.end(), [&](const auto& a, const auto& b) { return call(a) < call(b); });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < joined_.size(); ++i) {
      if (call(joined_[i]) != call(joined_[kept])) {
        joined_[++kept] = joined_[i];
        continue;
      }
      joined_[kept].count = std::max(joined_[kept].count, joined_[i].count);
      joined_[kept].raised = std::max(joined_[kept].raised, joined_[i].raised);
    }
    seen = std::span(joined_).first(kept + 1);
  }
  Calls calls;
  uncounted_.clear();
  for (const store::Seen& one : seen) {
    if (one.count == kUncounted)
      uncounted_.emplace_back(one.form.value, one.trace.value);
    else
      calls.calls += one.count;
    calls.raised += one.raised;
  }
  if (uncounted_.size() > 1) {  // a form stands for one call in each trace
    std::sort(uncounted_.begin(), uncounted_.end());
    uncounted_.erase(std::unique(uncounted_.begin(), uncounted_.end()), uncounted_.end());
  }
  calls.uncounted = static_cast<std::int64_t>(uncounted_.size());
  calls.calls += calls.uncounted;
  return calls;
}

const std::string& SeenNames::operation(std::string_view stored) {
  if (last_operation_ != nullptr && last_stored_ == stored) return *last_operation_;
  auto known = operations_.find(stored);
  if (known == operations_.end()) known = operations_.emplace(stored, operation_name(stored)).first;
  last_stored_ = stored;
  last_operation_ = &known->second;
  return known->second;
}

void SeenNames::complete(store::OccurrenceRow& row) {
  const auto [model, new_source] = models_.try_emplace(row.source);
  if (new_source) model->second = normalize::name_source(row.source).model;
  row.model = model->second;
  const auto [machine, new_machine] = whole_machines_.try_emplace(row.machine);
  if (new_machine) machine->second = whole_machine(row.machine);
  row.machine = machine->second;
}

}  // namespace opwright::select
