#include "store/conformance/memory_store.h"

#include <algorithm>
#include <utility>

#include "store/conformance/memory_reader.h"
#include "store/conformance/memory_results.h"
#include "store/union.h"

namespace opwright::store {

namespace {

class MemoryWriter final : public Writer {
 public:
  MemoryWriter(State state, MemoryContent content) : state_(std::move(state)), content_(std::move(content)) {}
  ~MemoryWriter() override { discard(); }

  ConfigId next_configuration() const override { return {next(content_.configurations)}; }
  FormId next_form() const override { return {next(content_.forms)}; }

  Status write(const Batch& batch) override {
    for (const NewConfiguration& one : batch.configurations) {
      if (!content_.keys.emplace(one.key, one.id.value).second) return fail(ErrorCode::kIo, "memory: a key twice");
      content_.configurations.emplace(one.id.value, one);
    }
    for (const NewForm& one : batch.forms) {
      content_.forms.emplace(one.id.value, MemoryContent::Form{one, ""});
      content_.fingerprints.emplace(one.fingerprint, one.id.value);
    }
    for (const NewRecord& one : batch.records) {
      const auto first = std::ranges::find_if(content_.fingerprints, [&](const auto& known) {
        return content_.forms.at(known.second).form.configuration == one.configuration;
      });
      if (first != content_.fingerprints.end() && first->first == one.fingerprint)
        content_.configurations.at(one.configuration.value).parts = one.parts;
    }
    for (const Posting& one : batch.postings) content_.postings.emplace(one.term, one.configuration.value);
    for (const Fact& one : batch.facts) content_.facts.emplace(one.kind, one.value, one.configuration.value);
    for (const Word& one : batch.words) content_.words.emplace(std::pair(one.kind, one.value), one.text);
    for (const NewPiece& piece : batch.pieces) {
      if (piece.place == 0) coming_.clear();
      coming_ += piece.bytes;
      if (!piece.is_last) continue;
      const auto known = content_.sequences.find(piece.of->uid);
      if (known == content_.sequences.end() || known->second.first.weight() < piece.of->weight())
        content_.sequences.insert_or_assign(piece.of->uid, std::pair(*piece.of, coming_));
      else if (known->second.first.digest == piece.of->digest)
        known->second.first.name = std::min(known->second.first.name, piece.of->name);
    }
    return {};
  }

  Result<std::vector<ConfigId>> without_records() override {
    std::vector<ConfigId> ids;
    for (const auto& [id, one] : content_.configurations) {
      if (one.parts.empty()) ids.push_back({id});
    }
    return ids;
  }
  Status add_occurrences(std::span<const NewOccurrence> occurrences) override {
    for (const NewOccurrence& row : occurrences) {
      const auto [at, added] =
          content_.occurrences.try_emplace({row.form.value, row.source.value, row.machine.value, row.trace.value,
                                            std::string(row.sweep_source_hash), std::string(row.config_hash)},
                                           MemoryContent::Seen{row.count, row.raised, std::string(row.extra)});
      MemoryContent::Seen& seen = at->second;
      seen.count = std::max(seen.count, row.count);
      seen.raised = std::max(seen.raised, row.raised);
      seen.extra = std::max(seen.extra, std::string(row.extra));
      const auto form = content_.forms.find(row.form.value);
      if (form == content_.forms.end()) continue;
      content_.facts.emplace(kSourceFact, row.source.value, form->second.form.configuration.value);
      content_.facts.emplace(kMachineFact, row.machine.value, form->second.form.configuration.value);
    }
    return {};
  }
  Status add_examples(std::span<const RaisedExample> examples) override {
    for (const RaisedExample& one : examples) {
      if (const auto form = content_.forms.find(one.form.value); form != content_.forms.end())
        form->second.error = std::max(form->second.error, std::string(one.error));
    }
    return {};
  }

  Status lower_kinds(std::span<const FormId> forms, FormKind kind) override {
    for (const FormId id : forms) {
      if (const auto form = content_.forms.find(id.value); form != content_.forms.end())
        form->second.form.kind = std::min(form->second.form.kind, kind);
    }
    return {};
  }

  Result<std::vector<SourceId>> sources(std::span<const NewSource> sources) override {
    return interned<SourceId>(content_.sources, sources, 0);
  }
  Result<std::vector<MachineId>> machines(std::span<const NewMachine> machines) override {
    return interned<MachineId>(content_.machines, machines, 0);
  }
  Result<std::vector<TraceId>> traces(std::span<const NewTrace> traces) override {
    std::vector<TraceId> ids;
    for (const NewTrace& told : traces) {
      auto known = std::find_if(content_.traces.begin(), content_.traces.end(),
                                [&](const NewTrace& trace) { return trace.uid == told.uid; });
      if (known == content_.traces.end()) {
        content_.traces.push_back({told.uid, told.format, "{}"});
        known = content_.traces.end() - 1;
      }
      known->format = std::min(known->format, told.format);
      known->facts = joined_facts(known->facts, told.facts);
      ids.push_back({known - content_.traces.begin() + 1});
    }
    return ids;
  }
  Result<bool> forget_sequence(const std::string& uid) override { return content_.sequences.erase(uid) > 0; }

  Status commit() override {
    if (std::exchange(open_, false)) give(*state_, std::make_shared<const MemoryContent>(std::move(content_)));
    return {};
  }
  void discard() override {
    if (std::exchange(open_, false)) give(*state_, nullptr);
  }

 private:
  template <class Table>
  static std::int64_t next(const Table& table) {
    return table.empty() ? 1 : table.rbegin()->first + 1;
  }
  template <class Id, class New>
  static Result<std::vector<Id>> interned(std::vector<New>& table, std::span<const New> wanted, std::int64_t first) {
    std::vector<Id> ids;
    for (const New& one : wanted) {
      auto known = std::find_if(table.begin(), table.end(), [&](const New& row) { return row.text == one.text; });
      if (known == table.end()) known = table.insert(table.end(), one);
      ids.push_back({known - table.begin() + first});
    }
    return ids;
  }

  State state_;
  MemoryContent content_;
  std::string coming_;
  bool open_ = true;
};

class MemoryLookup final : public Lookup {
 public:
  explicit MemoryLookup(Content content) : content_(std::move(content)) {}
  Status forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) override {
    for (std::size_t i = 0; i < fingerprints.size(); ++i) {
      const auto found = content_->fingerprints.find(fingerprints[i]);
      if (found == content_->fingerprints.end()) continue;
      const NewForm& form = content_->forms.at(found->second).form;
      known[i] = {form.id, form.configuration, form.kind, form.unparsed, form.unknown_names, form.duplicate_keys};
    }
    return {};
  }
  Status configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = content_->keys.find(keys[i]);
      if (found != content_->keys.end()) known[i] = ConfigId{found->second};
    }
    return {};
  }

 private:
  Content content_;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(State state) : state_(std::move(state)) {}
  Result<std::unique_ptr<Reader>> reader(int, const std::string& identity) override {
    OPWRIGHT_TRY_ASSIGN(Content content, now(identity));
    return std::make_unique<MemoryReader>(std::move(content));
  }
  Result<std::unique_ptr<Writer>> writer(int wait_ms, const std::string& identity, Durability) override {
    OPWRIGHT_TRY(take(*state_, wait_ms));
    MemoryContent content;
    if (state_->content) content = *state_->content;
    if (content.identity.empty()) content.identity = identity;
    if (content.identity == identity) return std::make_unique<MemoryWriter>(state_, std::move(content));
    give(*state_, nullptr);
    return fail(ErrorCode::kUnsupported, "memory: its identity is not " + identity);
  }
  Result<std::unique_ptr<Lookup>> lookup(int) override {
    const std::lock_guard lock(state_->mutex);
    if (!state_->content) return std::unique_ptr<Lookup>();
    return std::make_unique<MemoryLookup>(state_->content);
  }
  Result<std::unique_ptr<ResultsReader>> results_reader(int) override {
    return std::make_unique<MemoryResultsReader>(state_);
  }
  Result<std::unique_ptr<ResultsWriter>> results_writer(int wait_ms, Durability) override {
    const std::lock_guard lock(state_->mutex);
    if (!state_->content) state_->content = std::make_shared<const MemoryContent>();
    return std::make_unique<MemoryResultsWriter>(state_, wait_ms);
  }

 private:
  Result<Content> now(const std::string& identity) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->content) return fail(ErrorCode::kNotFound, "memory: no store there");
    if (!identity.empty() && state_->content->identity != identity)
      return fail(ErrorCode::kUnsupported, "memory: its identity is not " + identity);
    return state_->content;
  }
  State state_;
};

}  // namespace

std::shared_ptr<MemoryState> make_memory() { return std::make_shared<MemoryState>(); }
std::unique_ptr<Store> memory_store(std::shared_ptr<MemoryState> state) {
  return std::make_unique<MemoryStore>(std::move(state));
}

}  // namespace opwright::store
