#include "select/selected.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "normalize/normalize.h"
#include "select/arguments.h"
#include "select/evaluate.h"
#include "select/seen_names.h"
#include "select/terms.h"

namespace opwright::select {
namespace {

// What the indexes of the store leave to look at, by id.
Result<store::Candidates> candidates_of(store::Reader& reader, const Selector& selector) {
  if (const std::string key = required_key(selector); !key.empty()) {
    OPWRIGHT_TRY_ASSIGN(auto ids, reader.with_key(key));
    return store::Candidates{std::move(ids), false};
  }
  OPWRIGHT_TRY_ASSIGN(const Vocabulary vocabulary, vocabulary_of(selector, reader));
  OPWRIGHT_TRY_ASSIGN(store::Candidates found, reader.narrow(alternatives(selector, vocabulary)));
  if (selector.kind == Selector::Kind::kEverything) found.are_matches = true;
  return found;
}

bool asks_for_error(const Selector& selector) {
  if (selector.kind == Selector::Kind::kPredicate) return selector.predicate.field == Field::kError;
  return std::ranges::any_of(selector.parts, asks_for_error);
}

// Selects, one after the other, what the index left.
class Selection {
 public:
  // `decided`: what the index left are the matches.
  Selection(store::Reader& reader, const Selector& selector, Wanted wanted, bool decided,
            const std::function<Status(Selected&&)>& use)
      : reader_(reader),
        selector_(selector),
        wanted_(wanted),
        decided_(decided),
        asks_error_(asks_for_error(selector)),
        use_(use),
        arguments_(reader) {}

  Status prepare() { return names_.load(reader_); }
  // Arguments decide, or are wanted.
  bool needs_arguments() const { return wanted_.arguments || !decided_; }

  Status add(const store::Card& card) {
    Selected selected;
    selected.id = card.id;
    selected.config.op = names_.operation(card.op);
    selected.config.convention = card.convention;
    selected.config.key = card.key;
    OPWRIGHT_TRY_ASSIGN(const SeenNames::Place* place, names_.place_of(card.seen));
    selected.seen_in = place->names;
    const SeenNames::Calls calls = names_.calls_of(card.seen);
    selected.calls = calls.calls;
    selected.uncounted = calls.uncounted;
    selected.raised = calls.raised;
    if (needs_arguments()) OPWRIGHT_TRY(arguments_.fill(card, selected.config));
    if (selected.raised > 0 && (wanted_.error || asks_error_)) OPWRIGHT_TRY(add_error(selected));
    if (!decided_ && !matches(selector_, {selected.config, place->models, place->machines, selected.calls,
                                          selected.raised, selected.error}))
      return {};
    if (!wanted_.forms) return use_(std::move(selected));
    constexpr std::size_t kAtOnce = 256;
    waiting_.push_back(std::move(selected));
    return waiting_.size() >= kAtOnce ? finish() : Status();
  }

  // Those that wait for their forms: the questions to the store stay few.
  Status finish() {
    std::vector<ConfigId> ids;
    ids.reserve(waiting_.size());
    for (const Selected& selected : waiting_) ids.push_back(selected.id);
    OPWRIGHT_TRY_ASSIGN(std::vector<store::FormRow> forms, reader_.forms(ids));
    OPWRIGHT_TRY_ASSIGN(std::vector<store::OccurrenceRow> rows, reader_.occurrences(forms));
    auto form = forms.begin();
    auto row = rows.begin();
    for (Selected& selected : waiting_) {
      for (; form != forms.end() && form->configuration == selected.id; ++form) {
        for (; row != rows.end() && row->form == form->id; ++row) {
          names_.complete(*row);
          selected.occurrences.push_back(std::move(*row));
        }
        selected.forms.push_back(std::move(*form));
      }
      OPWRIGHT_TRY(use_(std::move(selected)));
    }
    waiting_.clear();
    return {};
  }

 private:
  // The largest, so that it does not depend on who was imported first.
  Status add_error(Selected& selected) {
    OPWRIGHT_TRY_ASSIGN(std::vector<store::FormRow> forms, reader_.forms(selected.id));
    for (store::FormRow& form : forms) selected.error = std::max(selected.error, std::move(form.error));
    return {};
  }

  store::Reader& reader_;
  const Selector& selector_;
  Wanted wanted_;
  bool decided_, asks_error_;
  const std::function<Status(Selected&&)>& use_;
  Arguments arguments_;
  SeenNames names_;
  std::vector<Selected> waiting_;
};

}  // namespace

std::string identity_of_this_build() { return fmt::format("keys {}, terms {}", normalize::kKeyVersion, kTermVersion); }

Status for_each_selected(store::Reader& reader, const Selector& selector, Wanted wanted,
                         const std::function<Status(Selected&&)>& use) {
  OPWRIGHT_TRY_ASSIGN(const store::Candidates found, candidates_of(reader, selector));
  if (found.ids.empty()) return {};
  Selection selection(reader, selector, wanted, found.are_matches, use);
  OPWRIGHT_TRY(selection.prepare());
  OPWRIGHT_TRY(reader.cards(found.ids, selection.needs_arguments(),
                            [&](const store::Card& card) { return selection.add(card); }));
  return selection.finish();
}

Result<std::vector<Selected>> select_all(store::Reader& reader, const Selector& selector, Wanted wanted) {
  wanted.arguments = true;
  std::vector<Selected> all;
  OPWRIGHT_TRY(for_each_selected(reader, selector, wanted, [&](Selected&& selected) -> Status {
    selected.text = normalize::canonical_text(selected.config);
    all.push_back(std::move(selected));
    return {};
  }));
  std::vector<const Selected*> order;
  order.reserve(all.size());
  for (const Selected& one : all) order.push_back(&one);
  std::sort(order.begin(), order.end(), [](const Selected* a, const Selected* b) {
    if (a->config.op != b->config.op) return a->config.op < b->config.op;
    if (a->calls != b->calls) return a->calls > b->calls;
    return a->text < b->text;
  });
  std::vector<Selected> sorted;
  sorted.reserve(all.size());
  for (const Selected* one : order) sorted.push_back(std::move(all[static_cast<std::size_t>(one - all.data())]));
  return sorted;
}

}  // namespace opwright::select
