#include "jobs/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "base/flat_table.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/stream_sha256.h"
#include "dialect/dialect.h"
#include "format/read_trace.h"
#include "jobs/ledger.h"
#include "jobs/store_source.h"
#include "jobs/writer_thread.h"
#include "normalize/normalize.h"
#include "select/arguments.h"
#include "select/selected.h"
#include "select/terms.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kBatchForms = 512;
constexpr std::size_t kObservedBetweenLooks = 256;  // looking at the clock costs more than a known form

struct KeyHasher {
  std::size_t operator()(const ConfigKey& key) const {
    std::size_t hash = 0;
    std::memcpy(&hash, key.data(), sizeof hash);
    return hash;
  }
};

struct NumberHasher {  // numbers that follow each other lie apart
  std::size_t operator()(std::int64_t number) const { return static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15u; }
};

Hash128 fingerprint_of(FormKind kind, std::string_view op, std::string_view minified) {
  thread_local std::string head;
  // One spelling is one form, whether a native trace or a file of the existing tracer had it first.
  head.assign(1, static_cast<char>(is_era2_text(kind) ? FormKind::kEra2 : kind));
  head += op;
  const Hash128 seed = xxh128(head);
  return xxh128(minified, seed.low ^ seed.high);
}

template <class F>
void for_each_piece(const format::TraceBytes& trace, F&& take) {
  for (std::size_t at = 0; at < trace.bytes.size(); at += store::kPieceBytes) {
    const std::string_view piece = trace.bytes.substr(at, store::kPieceBytes);
    take(piece, at + piece.size() >= trace.bytes.size());
    if (trace.passed) trace.passed(at + piece.size());
  }
}

class Ingest final : public format::TraceSink {
 public:
  Ingest(const normalize::OpFilter& filter, std::unique_ptr<store::Lookup> lookup, WriterThread* writer,
         ConfigId next_config, FormId next_form)
      : filter_(filter),
        lookup_(std::move(lookup)),
        writer_(writer),
        next_config_(next_config),
        next_form_(next_form) {}

  Status observe(const Observed& observed) override {
    if (++observed_ % kObservedBetweenLooks == 0) OPWRIGHT_TRY(look_up());
    const Operation& operation = operation_of(observed.op);
    if (operations_.size() > limits().distinct)
      return fail(over_limit(observed.path, &Limits::distinct,
                             fmt::format("{} different names of operations", operations_.size())));
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
      if (!dialect_of(operation.name).tables().is_known(operation.name)) report_.not_listed[operation.name] += calls;
      return {};
    }
    OPWRIGHT_TRY_ASSIGN(const std::optional<FormId> form, form_of(observed, operation));
    if (!form) return {};
    if (seen_forms_.size() > limits().distinct)
      return fail(over_limit(observed.path, &Limits::distinct, fmt::format("{} different calls", seen_forms_.size())));
    ++report_.records;
    for (const Sighting& sighting : observed.sightings) {
      if (sighting.error.size() > kLongestError) leave_out("ends of long error texts", 1);
    }
    ledger_.add(*form, observed);
    return {};
  }

  void lose(const format::Loss& loss) override {
    ImportReport::Lost& lost = report_.losses[std::string(loss.kind)];
    const bool first = lost.count == 0;
    lost.count += static_cast<std::int64_t>(loss.count);
    if (!first) return;
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

  void describe(const TraceInfo& trace) override { ledger_.describe(trace); }
  Status end_trace(const TraceInfo& trace) override {
    ledger_.end_trace(trace);
    return {};
  }

  bool keeps_calls() const override { return keeps_calls_; }  // in a dry run too: it tells what would be kept
  // The writer decides whether it has them already; it gets them piece by piece, so that few are in memory.
  Status keep(Sequence sequence, const format::TraceBytes& trace) override {
    ++report_.traces_kept;
    report_.calls_kept += sequence.calls;
    if (writer_ == nullptr) return {};
    StreamSha256 digest;
    for_each_piece(trace, [&](std::string_view piece, bool) { digest.add(piece); });
    sequence.digest = digest.digest();
    sequence.size = static_cast<std::int64_t>(trace.bytes.size());
    const auto of = std::make_shared<const Sequence>(std::move(sequence));
    std::int64_t place = 0;
    for_each_piece(trace, [&](std::string_view piece, bool last) {
      store::Batch batch;
      batch.pieces.push_back({of, place++, std::string(piece), last});
      writer_->put(std::move(batch));
    });
    return {};
  }

  void take(const IngestOptions& options) {
    progress_ = options.progress;
    stop_ = options.stop;
    between_ = options.between;
    keeps_calls_ = options.keep_calls;
  }
  bool stopped() const { return report_.stopped; }
  void close_lookup() { lookup_.reset(); }
  void filter_operations(bool on) { filtering_ = on; }

  Ledger& ledger() { return ledger_; }
  const std::vector<FormId>& shared_forms() const { return shared_forms_; }

  void flush() {
    if (writer_ != nullptr && !batch_.forms.empty()) writer_->put(std::move(batch_));
    batch_ = {};
  }

  ImportReport report() {
    report_.forms = static_cast<std::int64_t>(seen_forms_.size());
    report_.configurations = static_cast<std::int64_t>(seen_configs_.size());
    report_.known = report_.configurations - report_.added;
    const Ledger::Calls calls = ledger_.calls();
    report_.calls = calls.calls;
    report_.uncounted = calls.uncounted;
    report_.raised = calls.raised;
    return report_;
  }

 private:
  struct Operation {
    std::string name;  // dotted
    normalize::OpFilter::Verdict verdict;
  };
  // Tells how far it is, and asks whether to go on, if that was some time ago.
  Status look_up() {
    if (!progress_ && !stop_) return {};
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < between_) return {};
    told_ = now;
    report_.configurations = static_cast<std::int64_t>(seen_configs_.size());
    if (progress_) progress_(report_);
    report_.stopped = stop_ && stop_();
    if (report_.stopped) return fail(ErrorCode::kIo, "stopped");  // seen by nobody: ingest() asks the report
    return {};
  }

  Operation& operation_of(std::string_view spelled) {
    if (last_operation_ != nullptr && last_spelled_ == spelled) return *last_operation_;
    const auto [entry, added] = operations_.try_emplace(std::string(spelled));
    Operation& operation = entry->second;
    if (added) {
      operation.name = operation_name(spelled);
      operation.verdict = filter_.judge(operation.name);
    }
    last_spelled_ = entry->first;
    return *(last_operation_ = &operation);
  }

  // The form of an observation: seen in this input, known to the store, or new. Nothing when it is not understood.
  Result<std::optional<FormId>> form_of(const Observed& observed, const Operation& operation) {
    // Who has the tree wrote the text from it, without blanks.
    const auto minified =
        observed.tree != nullptr ? std::optional(observed.arguments) : json::minify(observed.arguments, minify_buffer_);
    if (!minified) {
      return fail(
          ErrorCode::kBadInput,
          fmt::format(
              "{}: not valid JSON in the arguments of {} at byte {}: a string is not closed; nothing was imported",
              observed.path, observed.op, observed.offset));
    }
    minified_ = *minified;
    const Hash128 fingerprint = fingerprint_of(observed.kind, observed.op, minified_);
    if (const FormId* seen = seen_forms_.find(fingerprint)) {
      share(*seen, observed.kind);
      return *seen;
    }
    if (lookup_) {
      OPWRIGHT_TRY_ASSIGN(const auto known, lookup_->form(fingerprint));
      if (known) {
        seen_forms_.add(fingerprint, known->form);
        report_.unparsed_left += known->unparsed;
        report_.unknown_names += known->unknown_names;
        if (known->duplicate_keys > 0) lose_duplicates(observed, known->duplicate_keys);
        see(known->configuration, operation);
        if (known->kind == FormKind::kNative) native_forms_.insert(known->form.value);
        share(known->form, observed.kind);
        return known->form;
      }
    }
    return add_form(observed, operation, fingerprint);
  }

  Result<std::optional<FormId>> add_form(const Observed& observed, const Operation& operation,
                                         const Hash128& fingerprint) {
    format::LiftNotes notes;
    // Without its white space, because parts that were understood before are recognized by their text.
    auto config = observed.tree != nullptr ? normalizer_.normalize(observed, notes)
                                           : normalizer_.normalize(observed.kind, observed.op, minified_, notes);
    if (!config && observed.tree == nullptr) {  // an error names the place in the text as it was written
      notes = {};
      config = normalizer_.normalize(observed, notes);
    }
    if (!config && config.error().code == ErrorCode::kBadInput) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: not valid JSON in the arguments of {} at byte {}: {}; nothing was imported",
                              observed.path, observed.op, observed.offset, config.error().message));
    }
    if (!config) {
      lose({"unknown_shape", observed.path, observed.offset,
            fmt::format("{}: {}", observed.op, config.error().message)});
      return std::nullopt;
    }
    if (notes.unparsed > 0 && report_.unparsed_left == 0) report_.unparsed_example = notes.unparsed_example;
    report_.unparsed_left += static_cast<std::int64_t>(notes.unparsed);
    if (notes.unknown_names > 0 && report_.unknown_names == 0) report_.unknown_example = notes.unknown_example;
    report_.unknown_names += static_cast<std::int64_t>(notes.unknown_names);
    if (notes.duplicate_keys > 0) lose_duplicates(observed, static_cast<std::int64_t>(notes.duplicate_keys));
    const ConfigId next = next_config_;
    OPWRIGHT_TRY_ASSIGN(const ConfigId id, configuration_of(*config));
    if (id != next) batch_.records.push_back({id, fingerprint, select::parts_of(*config)});
    see(id, operation);
    const FormId form = next_form_;
    ++next_form_.value;
    seen_forms_.add(fingerprint, form);
    if (observed.kind == FormKind::kNative) native_forms_.insert(form.value);
    batch_.forms.push_back({form, id, fingerprint, observed.kind, static_cast<std::int64_t>(notes.unparsed),
                            static_cast<std::int64_t>(notes.unknown_names),
                            static_cast<std::int64_t>(notes.duplicate_keys), std::string(observed.op),
                            std::string(minified_)});
    if (batch_.forms.size() >= kBatchForms) flush();
    return form;
  }

  // A native form that a file of another format has too is that file's: so a store does not depend on who came first.
  void share(FormId form, FormKind kind) {
    if (kind != FormKind::kNative && !native_forms_.empty() && native_forms_.erase(form.value) > 0)
      shared_forms_.push_back(form);
  }

  void lose_duplicates(const Observed& observed, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      lose({"duplicate_key", observed.path, observed.offset,
            fmt::format("a key stands twice in the arguments of {}; the last one was taken", observed.op)});
    }
  }

  Result<ConfigId> configuration_of(const OpConfig& config) {
    if (const ConfigId* found = new_configs_.find(config.key)) return *found;
    if (lookup_) {
      OPWRIGHT_TRY_ASSIGN(const auto known, lookup_->configuration(config.key));
      if (known) return *known;
    }
    const ConfigId id = next_config_;
    ++next_config_.value;
    ++report_.added;
    new_configs_.add(config.key, id);
    batch_.configurations.push_back({id, config.op, config.convention, config.key, select::parts_of(config)});
    terms_.clear();
    select::append_terms(config, terms_);
    for (const select::Term term : terms_) batch_.postings.push_back({term, id});
    select::append_facts(config, id, batch_.facts, batch_.words);
    return id;
  }

  void see(ConfigId id, const Operation& operation) {
    if (seen_configs_.find(id.value) != nullptr) return;
    seen_configs_.add(id.value, {});
    ++report_.operations[operation.name];
  }

  const normalize::OpFilter& filter_;
  std::unique_ptr<store::Lookup> lookup_;
  WriterThread* writer_;
  ConfigId next_config_;
  FormId next_form_;
  normalize::Normalizer normalizer_;
  store::Batch batch_;
  std::vector<select::Term> terms_;
  std::vector<char> minify_buffer_;
  std::string_view minified_;  // the arguments of the observation at hand
  std::unordered_map<std::string, Operation> operations_;
  Operation* last_operation_ = nullptr;
  std::string_view last_spelled_;
  FlatMap<Hash128, FormId, Hash128Hasher> seen_forms_;
  FlatMap<ConfigKey, ConfigId, KeyHasher> new_configs_;
  FlatMap<std::int64_t, std::monostate, NumberHasher> seen_configs_;
  std::unordered_set<std::int64_t> native_forms_;  // forms that only native traces have, as far as this input went
  std::vector<FormId> shared_forms_;               // native ones until now
  bool filtering_ = true;
  bool keeps_calls_ = true;
  Ledger ledger_;
  ImportReport report_;
  std::function<void(const ImportReport&)> progress_;
  std::function<bool()> stop_;
  std::chrono::milliseconds between_{};
  std::size_t observed_ = 0;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

// What may have to be waited for is read before the store is locked: nobody else should wait for our input.
using Fetched = std::vector<std::optional<Input>>;

Result<Fetched> fetch_streams(const std::vector<std::string>& paths) {
  Fetched fetched;
  for (const std::string& path : paths) {
    OPWRIGHT_TRY_ASSIGN(auto input, format::fetch_stream(path));
    fetched.push_back(std::move(input));
  }
  return fetched;
}

// An older program kept no records: they are made of the texts once, before anything else is written.
Status add_records(store::Store& store, int wait_ms, store::Writer& writer) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<ConfigId> ids, writer.without_records());
  if (ids.empty()) return {};
  OPWRIGHT_TRY_ASSIGN(const auto reader, store.reader(wait_ms));
  normalize::Normalizer normalizer;
  format::LiftNotes notes;
  for (std::size_t at = 0; at < ids.size(); at += kBatchForms) {
    OPWRIGHT_TRY_ASSIGN(const auto forms,
                        reader->forms(std::span(ids).subspan(at, std::min(kBatchForms, ids.size() - at))));
    store::Batch batch;
    ConfigId last{-1};
    for (const store::FormRow& form : forms) {
      const bool is_first = form.configuration != last;  // by fingerprint
      last = form.configuration;
      if (!is_first) continue;
      const auto config = normalizer.normalize(form.kind, form.op, form.text, notes);
      if (config)  // else it is read from its text, and whoever asks is told
        batch.records.push_back(
            {form.configuration, fingerprint_of(form.kind, form.op, form.text), select::parts_of(*config)});
    }
    OPWRIGHT_TRY(writer.write(batch));
  }
  return {};
}

Status read_all(const std::vector<std::string>& paths, Fetched& fetched, const IngestOptions& options, Ingest& ingest) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    const bool from_store = is_store(path);
    ingest.filter_operations(!from_store);  // what a store holds was chosen when it was imported
    if (from_store && options.salvage)
      OPWRIGHT_TRY(read_damaged_store(path, options.wait_ms, ingest, options.salvage));
    else if (from_store)
      OPWRIGHT_TRY(read_store(path, options.wait_ms, ingest));
    else if (fetched[i])
      OPWRIGHT_TRY(format::read_fetched(*std::move(fetched[i]), path, options.read, ingest));
    else if (const Status read = format::read_trace(path, options.read, ingest); !read) {
      // `import *.json` names the files beside the traces, too.
      if (read.error().code != ErrorCode::kNotATrace || paths.size() == 1 || !path.ends_with(".json")) return read;
      ingest.leave_out("files that are no traces", 1);
    }
    ingest.ledger().settle();
  }
  ingest.flush();
  return {};
}

}  // namespace

std::int64_t ImportReport::lost() const {
  std::int64_t count = 0;
  for (const auto& [kind, loss] : losses) count += loss.count;
  return count;
}

Result<ImportReport> ingest(const std::vector<std::string>& paths, const IngestOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const normalize::OpFilter filter, normalize::OpFilter::make(options.filter));
  OPWRIGHT_TRY_ASSIGN(Fetched fetched, fetch_streams(paths));
  OPWRIGHT_TRY_ASSIGN(const auto store, store::open(options.store));
  std::unique_ptr<store::Writer> writer;
  if (!options.dry_run) {
    OPWRIGHT_TRY_ASSIGN(writer, store->writer(options.wait_ms, select::identity_of_this_build(), options.durability));
  }
  OPWRIGHT_TRY_ASSIGN(auto lookup, store->lookup(options.wait_ms));
  if (writer) OPWRIGHT_TRY(add_records(*store, options.wait_ms, *writer));
  std::optional<WriterThread> thread;
  if (writer) thread.emplace(*writer);
  // In a dry run new rows get numbers no store has.
  constexpr std::int64_t kNoRow = std::int64_t{1} << 60;
  Ingest sink(filter, std::move(lookup), thread ? &*thread : nullptr,
              writer ? writer->next_configuration() : ConfigId{kNoRow}, writer ? writer->next_form() : FormId{kNoRow});
  sink.take(options);
  const auto read_and_write = [&]() -> Result<ImportReport> {
    const Status read = read_all(paths, fetched, options, sink);
    const Status written = thread ? thread->finish() : Status();
    if (!read && !sink.stopped()) return fail(read.error());
    if (!written) return fail(written.error());
    ImportReport report = sink.report();
    report.stopped = sink.stopped() || (options.stop && options.stop());
    if (report.stopped) return report;
    if (report.files == 0)
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: no trace in it; nothing to import", store::shown(paths.front())));
    report.refused = options.strict && !report.losses.empty();
    if (report.refused) return report;  // the caller sees the losses; nothing is committed
    if (writer) {
      OPWRIGHT_TRY(sink.ledger().write(*writer));
      OPWRIGHT_TRY(writer->lower_kinds(sink.shared_forms(), FormKind::kEra2));
      OPWRIGHT_TRY(writer->commit());
      report.written = true;
    }
    return report;
  };
  Result<ImportReport> report = read_and_write();
  sink.close_lookup();
  if (writer) writer->discard();
  if (!report && report.error().code == ErrorCode::kIo && writer)
    return fail(ErrorCode::kIo, report.error().message + "; nothing was imported");
  return report;
}

}  // namespace opwright::jobs
