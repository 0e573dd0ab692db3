#include "select/selected.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "dialect/ttnn/machine_info.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "select/evaluate.h"
#include "select/terms.h"

namespace opwright::select {
namespace {

std::vector<std::string> known_names(const std::vector<store::OccurrenceRow>& rows,
                                     std::string store::OccurrenceRow::* member) {
  std::set<std::string> names;
  for (const store::OccurrenceRow& row : rows) names.insert(row.*member);
  if (names.size() > 1) {
    names.erase("unknown");
    names.erase("");
  }
  return {names.begin(), names.end()};
}

// What follows from texts of the store, by the rules of this build: a store of an older one has its own rules in it.
class ProvenanceNames {
 public:
  void complete(store::OccurrenceRow& row) {
    const auto [model, new_source] = models_.try_emplace(row.source);
    if (new_source) model->second = normalize::name_source(row.source).model;
    row.model = model->second;
    const auto [machine, new_machine] = machines_.try_emplace(row.machine);
    if (new_machine) machine->second = whole_machine(row.machine);
    row.machine = machine->second;
  }

 private:
  std::unordered_map<std::string, std::string> models_;    // by source
  std::unordered_map<std::string, std::string> machines_;  // in whole, by the text of the store
};

// What the indexes of the store leave to look at, by id.
Result<std::vector<ConfigId>> candidates_of(store::Reader& reader, const Selector& selector) {
  if (const std::string key = required_key(selector); !key.empty()) return reader.with_key(key);
  OPWRIGHT_TRY_ASSIGN(const Vocabulary vocabulary, vocabulary_of(selector, reader));
  return reader.candidates(alternatives(selector, vocabulary));
}

}  // namespace

std::vector<std::string> Selected::models() const { return known_names(occurrences, &store::OccurrenceRow::model); }
std::vector<std::string> Selected::machines() const {
  return known_names(occurrences, &store::OccurrenceRow::machine_label);
}
std::vector<std::string> Selected::sources() const {
  std::vector<std::string> names = known_names(occurrences, &store::OccurrenceRow::source);
  if (names.size() == 1 && names.front().empty()) names.clear();
  return names;
}

std::string_view Selected::error() const {
  std::string_view example;  // the largest, so that it does not depend on who was imported first
  for (const store::FormRow& form : forms) example = std::max<std::string_view>(example, form.error);
  return example;
}

std::string identity_of_this_build() { return fmt::format("keys {}, terms {}", normalize::kKeyVersion, kTermVersion); }

void append_machine_names(std::string_view label, std::vector<std::string_view>& names) {
  names.push_back(label);
  for (std::size_t from = 0; from < label.size();) {
    const std::size_t end = std::min(label.find(' ', from), label.size());
    names.push_back(label.substr(from, end - from));
    from = end + 1;
  }
}

namespace {

// Selects, one after the other, what the index left.
class Selection {
 public:
  Selection(const Selector& selector, const std::function<Status(Selected&&)>& use)
      : selector_(selector), provenance_(needs_provenance(selector)), use_(use) {}

  Status add(store::Reader& reader, std::span<const ConfigId> ids) {
    OPWRIGHT_TRY_ASSIGN(std::vector<store::FormRow> forms, reader.forms(ids));
    std::vector<Selected> some;
    auto form = forms.begin();
    for (const ConfigId id : ids) {
      Selected selected;
      selected.id = id;
      for (; form != forms.end() && form->configuration == id; ++form) selected.forms.push_back(std::move(*form));
      if (selected.forms.empty())
        return fail(ErrorCode::kBadInput, "a configuration has no form; the store is damaged");
      const store::FormRow& first = selected.forms.front();
      OPWRIGHT_TRY_ASSIGN(selected.config, normalizer_.normalize(first.kind, first.op, first.text, notes_));
      if (provenance_ || matches(selector_, {selected.config})) some.push_back(std::move(selected));
    }
    forms.clear();
    for (const Selected& selected : some) {
      for (const store::FormRow& row : selected.forms)
        forms.push_back({row.id, row.configuration, row.kind, "", "", ""});
    }
    OPWRIGHT_TRY_ASSIGN(std::vector<store::OccurrenceRow> rows, reader.occurrences(forms));
    auto row = rows.begin();
    for (Selected& selected : some) {
      for (const store::FormRow& of : selected.forms) {
        for (; row != rows.end() && row->form == of.id; ++row) selected.occurrences.push_back(std::move(*row));
      }
      OPWRIGHT_TRY(judge(std::move(selected)));
    }
    return {};
  }

 private:
  Status judge(Selected&& selected) {
    models_.clear();
    machines_.clear();
    uncounted_.clear();
    counts_.clear();
    for (store::OccurrenceRow& row : selected.occurrences) {
      names_.complete(row);
      // Copies of one trace that differ in hashes only stand side by side and count once.
      Most& most = counts_[{row.form.value, row.source, row.machine, row.trace_uid, row.sweep_source_hash}];
      most.count = std::max(most.count, row.count);
      most.raised = std::max(most.raised, row.raised);
      if (!provenance_) continue;
      models_.insert(models_.end(), {row.model, row.source, row.hf_model});
      append_machine_names(row.machine_label, machines_);
    }
    for (const auto& [call, most] : counts_) {
      if (most.count == kUncounted)
        uncounted_.emplace(std::get<0>(call), std::get<3>(call));
      else
        selected.calls += most.count;
      selected.raised += most.raised;
    }
    selected.uncounted = static_cast<std::int64_t>(uncounted_.size());
    selected.calls += selected.uncounted;
    if (provenance_ &&
        !matches(selector_, {selected.config, models_, machines_, selected.calls, selected.raised, selected.error()}))
      return {};
    return use_(std::move(selected));
  }

  struct Most {
    std::int64_t count = kUncounted, raised = 0;
  };
  const Selector& selector_;
  bool provenance_;
  const std::function<Status(Selected&&)>& use_;
  normalize::Normalizer normalizer_;
  format::LiftNotes notes_;
  ProvenanceNames names_;
  std::vector<std::string_view> models_, machines_;
  std::map<std::tuple<std::int64_t, std::string_view, std::string_view, std::string_view, std::string_view>, Most>
      counts_;
  std::set<std::pair<std::int64_t, std::string_view>> uncounted_;  // form and trace: each stands for one call
};

}  // namespace

Status for_each_selected(store::Reader& reader, const Selector& selector,
                         const std::function<Status(Selected&&)>& use) {
  OPWRIGHT_TRY_ASSIGN(const auto ids, candidates_of(reader, selector));
  Selection selection(selector, use);
  // The first are there soon, and the questions to the store stay few.
  constexpr std::size_t kFirst = 8, kMost = 256;
  std::size_t some = kFirst;
  for (std::size_t at = 0; at < ids.size(); at += some, some = std::min(some * 2, kMost)) {
    OPWRIGHT_TRY(selection.add(reader, std::span(ids).subspan(at, std::min(some, ids.size() - at))));
  }
  return {};
}

Result<std::vector<Selected>> select_all(store::Reader& reader, const Selector& selector) {
  std::vector<std::pair<std::string, Selected>> found;
  OPWRIGHT_TRY(for_each_selected(reader, selector, [&](Selected&& selected) -> Status {
    std::string text = normalize::canonical_text(selected.config);
    found.emplace_back(std::move(text), std::move(selected));
    return {};
  }));
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    if (a.second.config.op != b.second.config.op) return a.second.config.op < b.second.config.op;
    if (a.second.calls != b.second.calls) return a.second.calls > b.second.calls;
    return a.first < b.first;
  });
  std::vector<Selected> all;
  all.reserve(found.size());
  for (auto& entry : found) all.push_back(std::move(entry.second));
  return all;
}

}  // namespace opwright::select
