#include "cli/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/store_source.h"
#include "cli/writer_thread.h"
#include "format/read_trace.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "select/terms.h"
#include "store/writer.h"

namespace opwright::cli {
namespace {

constexpr std::size_t kBatchForms = 512;

struct KeyHasher {
  std::size_t operator()(const ConfigKey& key) const {
    std::size_t hash = 0;
    std::memcpy(&hash, key.data(), sizeof hash);
    return hash;
  }
};

struct OccurrenceKey {
  std::int64_t form;
  std::uint32_t source, machine, trace;  // local numbers
  std::uint32_t zero = 0;                // instead of padding: the hash is taken over all bytes
  friend bool operator==(const OccurrenceKey&, const OccurrenceKey&) = default;
};
struct OccurrenceHasher {
  std::size_t operator()(const OccurrenceKey& key) const {
    return xxh64({reinterpret_cast<const char*>(&key), sizeof key});
  }
};
static_assert(std::has_unique_object_representations_v<OccurrenceKey>, "no padding may enter the hash");

// Texts numbered in the order they come; looked up without copying.
class Names {
 public:
  std::uint32_t number(std::string_view text) {
    if (!texts_.empty() && texts_[last_] == text) return last_;
    const auto [entry, added] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(entry->first);
    return last_ = entry->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
  std::uint32_t last_ = 0;
};

std::string facts_json(const TraceInfo& trace) {
  std::map<std::string, std::string> sorted(trace.facts.begin(), trace.facts.end());
  std::string text = "{";
  for (const auto& [name, value] : sorted) {
    if (text.size() > 1) text += ", ";
    json::append_quoted(text, name);
    text += ": ";
    json::append_quoted(text, value);
  }
  return text + "}";
}

class Ingest final : public format::TraceSink {
 public:
  Ingest(const normalize::OpFilter& filter, std::optional<store::Lookup> lookup, WriterThread* writer,
         ConfigId next_config, FormId next_form)
      : filter_(filter), lookup_(std::move(lookup)), writer_(writer), next_config_(next_config), next_form_(next_form) {
    anonymous_ = new_trace();
  }

  Status observe(const Observed& observed) override {
    const Operation& operation = operation_of(observed.op);
    std::int64_t calls = 0;
    std::int64_t uncounted = 0;
    for (const Sighting& sighting : observed.sightings) {
      if (sighting.count == kUncounted)
        uncounted = 1;
      else
        calls += sighting.count;
    }
    calls += uncounted;
    if (filtering_ && operation.verdict != normalize::OpFilter::Verdict::kKeep) {
      report_.filtered[operation.name] += calls;
      if (!normalize::is_known_operation(operation.name)) report_.not_listed[operation.name] += calls;
      return {};
    }
    OPWRIGHT_TRY_ASSIGN(const std::optional<FormId> form, form_of(observed, operation));
    if (!form) return {};
    ++report_.records;
    report_.calls += calls;
    report_.uncounted += uncounted;
    for (const Sighting& sighting : observed.sightings) add_occurrence(*form, sighting);
    return {};
  }

  void lose(const format::Loss& loss) override {
    ImportReport::Lost& lost = report_.losses[std::string(loss.kind)];
    if (lost.count++ > 0) return;
    std::string_view example = loss.example;  // messages that name the path themselves need no second one
    if (example.starts_with(loss.path) && example.substr(loss.path.size()).starts_with(": "))
      example.remove_prefix(loss.path.size() + 2);
    lost.example = fmt::format("{}, byte {}: {}", loss.path, loss.offset, example);
  }
  void leave_out(std::string_view what, std::size_t count) override {
    report_.left_out[std::string(what)] += static_cast<std::int64_t>(count);
  }
  void add_bytes(std::size_t bytes) override { report_.bytes += bytes; }
  void add_file() override { ++report_.files; }

  void describe(const TraceInfo& trace) override {
    TraceInfo& known = traces_[trace_number(trace.uid)];
    if (known.facts.empty()) known.facts = trace.facts;
    if (known.format.empty()) known.format = trace.format;
  }

  Status end_trace(const TraceInfo& trace) override {
    TraceInfo& ended = traces_[anonymous_];
    if (trace_numbers_.contains(trace.uid)) {
      describe(trace);
    } else {
      ended = trace;
    }
    // What a file says about itself holds for the traces it lists.
    for (const std::uint32_t number : listed_traces_) {
      if (traces_[number].format.empty()) traces_[number].format = trace.format;
      if (traces_[number].facts.empty()) traces_[number].facts = trace.facts;
    }
    listed_traces_.clear();
    anonymous_ = new_trace();
    settle_counts();
    return {};
  }

  void close_lookup() { lookup_.reset(); }
  void filter_operations(bool on) { filtering_ = on; }

  // Calls within one trace add up; the same trace read twice does not.
  void settle_counts() {
    for (auto& [key, counted] : current_) {
      Count& count = occurrences_[key];
      count.count = std::max(count.count, counted.count);
      count.extra = std::max(count.extra, counted.extra);
    }
    current_.clear();
  }

  Status flush() {
    if (writer_ != nullptr && !batch_.forms.empty()) writer_->put(std::move(batch_));
    batch_ = {};
    return {};
  }

  // After the last batch: provenance, which is known in full only now.
  Status write_provenance(store::Writer& writer) {
    std::vector<SourceId> sources;
    for (const std::string& text : sources_.texts()) {
      const normalize::SourceName name = normalize::name_source(text);
      OPWRIGHT_TRY_ASSIGN(const SourceId id, writer.source({text, name.path, name.hf_model, name.model}));
      sources.push_back(id);
    }
    std::vector<MachineId> machines;
    for (const std::string& text : machines_.texts()) {
      OPWRIGHT_TRY_ASSIGN(const MachineId id, writer.machine(text, normalize::name_machine(text)));
      machines.push_back(id);
    }
    std::vector<TraceId> traces(traces_.size());
    std::vector<bool> used(traces_.size());
    for (const auto& [key, value] : occurrences_) used[key.trace] = true;
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      if (!used[i]) continue;
      OPWRIGHT_TRY_ASSIGN(traces[i], writer.trace(traces_[i].uid, traces_[i].format, facts_json(traces_[i])));
    }
    std::vector<store::NewOccurrence> rows;
    rows.reserve(occurrences_.size());
    for (auto& [key, value] : occurrences_) {
      rows.push_back({{key.form},
                      sources[key.source],
                      machines[key.machine],
                      traces[key.trace],
                      value.count,
                      std::move(value.extra)});
    }
    std::sort(rows.begin(), rows.end(),
              [](const store::NewOccurrence& a, const store::NewOccurrence& b) { return a.form < b.form; });
    return writer.add_occurrences(rows);
  }

  ImportReport report() {
    report_.forms = static_cast<std::int64_t>(seen_forms_.size());
    report_.configurations = static_cast<std::int64_t>(seen_configs_.size());
    report_.known = report_.configurations - report_.added;
    return report_;
  }

 private:
  struct Operation {
    std::string name;  // dotted
    normalize::OpFilter::Verdict verdict;
    std::int64_t* configurations = nullptr;
  };
  struct Count {
    std::int64_t count = kUncounted;
    std::string extra;
  };

  Operation& operation_of(std::string_view spelled) {
    if (last_operation_ != nullptr && last_spelled_ == spelled) return *last_operation_;
    const auto [entry, added] = operations_.try_emplace(std::string(spelled));
    Operation& operation = entry->second;
    if (added) {
      operation.name = dotted(spelled);
      operation.verdict = filter_.judge(operation.name);
    }
    last_spelled_ = entry->first;
    return *(last_operation_ = &operation);
  }

  // The form of an observation: seen in this input, known to the store, or new. Nothing when it is not understood.
  Result<std::optional<FormId>> form_of(const Observed& observed, const Operation& operation) {
    const auto minified = json::minify(observed.arguments, minify_buffer_);
    if (!minified) {
      lose({"unknown_shape", observed.path, observed.offset,
            fmt::format("the arguments of {} are not valid JSON", observed.op)});
      return std::nullopt;
    }
    minified_ = *minified;
    const Hash128 fingerprint = fingerprint_of(observed);
    if (const auto seen = seen_forms_.find(fingerprint); seen != seen_forms_.end()) return seen->second;
    if (lookup_) {
      OPWRIGHT_TRY_ASSIGN(const auto known, lookup_->form(fingerprint));
      if (known) {
        seen_forms_.emplace(fingerprint, known->form);
        report_.unparsed_left += known->unparsed;
        report_.unknown_names += known->unknown_names;
        see(known->configuration, operation);
        return known->form;
      }
    }
    return add_form(observed, operation, fingerprint);
  }

  Hash128 fingerprint_of(const Observed& observed) {
    fingerprint_text_.clear();
    fingerprint_text_ += static_cast<char>(observed.kind);
    for (const std::string_view part : {observed.op, observed.config_hash, observed.sweep_source_hash}) {
      fingerprint_text_ += part;
      fingerprint_text_ += '\0';
    }
    const Hash128 head = xxh128(fingerprint_text_);
    return xxh128(minified_, head.low ^ head.high);
  }

  Result<std::optional<FormId>> add_form(const Observed& observed, const Operation& operation,
                                         const Hash128& fingerprint) {
    format::LiftNotes notes;
    auto config = normalizer_.normalize(observed.kind, observed.op, observed.arguments, notes);
    if (!config) {
      lose({"unknown_shape", observed.path, observed.offset,
            fmt::format("{}: {}", observed.op, config.error().message)});
      return std::nullopt;
    }
    if (notes.unparsed > 0 && report_.unparsed_left == 0) report_.unparsed_example = notes.unparsed_example;
    report_.unparsed_left += static_cast<std::int64_t>(notes.unparsed);
    if (notes.unknown_names > 0 && report_.unknown_names == 0) report_.unknown_example = notes.unknown_example;
    report_.unknown_names += static_cast<std::int64_t>(notes.unknown_names);
    OPWRIGHT_TRY_ASSIGN(const ConfigId id, configuration_of(*config));
    see(id, operation);
    const FormId form = next_form_;
    ++next_form_.value;
    ++report_.forms_added;
    seen_forms_.emplace(fingerprint, form);
    batch_.forms.push_back({form, id, fingerprint, observed.kind, static_cast<std::int64_t>(notes.unparsed),
                            static_cast<std::int64_t>(notes.unknown_names), std::string(observed.op),
                            std::string(minified_), std::string(observed.config_hash),
                            std::string(observed.sweep_source_hash)});
    if (batch_.forms.size() >= kBatchForms) OPWRIGHT_TRY(flush());
    return form;
  }

  Result<ConfigId> configuration_of(const OpConfig& config) {
    if (const auto found = new_configs_.find(config.key); found != new_configs_.end()) return found->second;
    if (lookup_) {
      OPWRIGHT_TRY_ASSIGN(const auto known, lookup_->configuration(config.key));
      if (known) return *known;
    }
    const ConfigId id = next_config_;
    ++next_config_.value;
    ++report_.added;
    new_configs_.emplace(config.key, id);
    batch_.configurations.push_back({id, config.op, config.convention, config.key});
    terms_.clear();
    select::append_terms(config, terms_);
    for (const select::Term term : terms_) batch_.postings.push_back({term, id});
    return id;
  }

  void see(ConfigId id, const Operation& operation) {
    if (seen_configs_.insert(id.value).second) ++report_.operations[operation.name];
  }

  void add_occurrence(FormId form, const Sighting& sighting) {
    const std::uint32_t trace = sighting.trace_uid.empty() ? anonymous_ : trace_number(sighting.trace_uid);
    Count& count = current_[{form.value, sources_.number(sighting.source), machines_.number(sighting.machine), trace}];
    if (sighting.count != kUncounted) count.count = (count.count == kUncounted ? 0 : count.count) + sighting.count;
    if (sighting.extra > count.extra) count.extra = sighting.extra;
  }

  std::uint32_t new_trace() {
    traces_.emplace_back();
    return static_cast<std::uint32_t>(traces_.size() - 1);
  }

  std::uint32_t trace_number(std::string_view uid) {
    if (uid == last_uid_) return last_trace_;
    const auto [entry, added] = trace_numbers_.try_emplace(std::string(uid), 0);
    if (added) {
      entry->second = new_trace();
      traces_[entry->second].uid = uid;
    }
    last_uid_ = entry->first;
    listed_traces_.push_back(entry->second);
    return last_trace_ = entry->second;
  }

  const normalize::OpFilter& filter_;
  std::optional<store::Lookup> lookup_;
  WriterThread* writer_;
  ConfigId next_config_;
  FormId next_form_;
  normalize::Normalizer normalizer_;
  store::Batch batch_;
  std::vector<select::Term> terms_;
  std::vector<char> minify_buffer_;
  std::string_view minified_;  // the arguments of the observation at hand
  std::string fingerprint_text_;
  std::unordered_map<std::string, Operation> operations_;
  Operation* last_operation_ = nullptr;
  std::string_view last_spelled_;
  std::unordered_map<Hash128, FormId, Hash128Hasher> seen_forms_;
  std::unordered_map<ConfigKey, ConfigId, KeyHasher> new_configs_;
  std::unordered_set<std::int64_t> seen_configs_;
  Names sources_, machines_;
  std::vector<TraceInfo> traces_;
  std::unordered_map<std::string, std::uint32_t> trace_numbers_;
  std::vector<std::uint32_t> listed_traces_;  // named since the last end of a trace; may repeat
  std::string last_uid_ = "\n";               // no uid is a newline
  std::uint32_t last_trace_ = 0;
  std::uint32_t anonymous_ = 0;
  bool filtering_ = true;
  std::unordered_map<OccurrenceKey, Count, OccurrenceHasher> current_;  // of the trace being read
  std::unordered_map<OccurrenceKey, Count, OccurrenceHasher> occurrences_;
  ImportReport report_;
};

Status read_all(const std::vector<std::string>& paths, const IngestOptions& options, Ingest& ingest) {
  for (const std::string& path : paths) {
    OPWRIGHT_TRY_ASSIGN(const bool is_store, is_store_file(path));
    ingest.filter_operations(!is_store);  // what a store holds was chosen when it was imported
    if (is_store)
      OPWRIGHT_TRY(read_store(path, options.wait_ms, ingest));
    else
      OPWRIGHT_TRY(format::read_trace(path, options.read, ingest));
    ingest.settle_counts();
  }
  return ingest.flush();
}

}  // namespace

Result<ImportReport> ingest(const std::vector<std::string>& paths, const IngestOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const normalize::OpFilter filter, normalize::OpFilter::make(options.filter));
  std::optional<store::Writer> writer;
  if (!options.dry_run) {
    OPWRIGHT_TRY_ASSIGN(
        store::Writer begun,
        store::Writer::begin(options.store, options.wait_ms,
                             fmt::format("keys {}, terms {}", normalize::kKeyVersion, select::kTermVersion)));
    writer.emplace(std::move(begun));
  }
  OPWRIGHT_TRY_ASSIGN(auto lookup, store::Lookup::open(options.store, options.wait_ms));
  std::optional<WriterThread> thread;
  if (writer) thread.emplace(*writer);
  // In a dry run new rows get numbers no store has.
  constexpr std::int64_t kNoRow = std::int64_t{1} << 60;
  Ingest sink(filter, std::move(lookup), thread ? &*thread : nullptr,
              writer ? writer->next_configuration() : ConfigId{kNoRow}, writer ? writer->next_form() : FormId{kNoRow});
  const auto read_and_write = [&]() -> Result<ImportReport> {
    const Status read = read_all(paths, options, sink);
    const Status written = thread ? thread->finish() : Status();
    if (!read) return fail(read.error());
    if (!written) return fail(written.error());
    ImportReport report = sink.report();
    if (report.files == 0)
      return fail(ErrorCode::kBadInput, fmt::format("{}: no trace in it; nothing to import", paths.front()));
    if (options.strict && !report.losses.empty()) return report;  // the caller sees the losses; nothing is committed
    if (writer) {
      OPWRIGHT_TRY(sink.write_provenance(*writer));
      OPWRIGHT_TRY(writer->commit());
    }
    return report;
  };
  Result<ImportReport> report = read_and_write();
  sink.close_lookup();
  if (writer) writer->discard();
  return report;
}

}  // namespace opwright::cli
