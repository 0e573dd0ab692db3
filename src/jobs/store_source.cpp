#include "jobs/store_source.h"

#include <algorithm>

#include "base/json.h"
#include "store/sqlite_door.h"
#include "store/store.h"

namespace opwright::jobs {

namespace {

bool is_server(const std::string& path) {
  const auto url = store::parse_url(path);
  return url && url->kind == store::Url::Kind::kPostgresql;
}

void describe(const store::TraceRow& row, format::TraceSink& sink) {
  TraceInfo info;
  info.uid = row.uid;
  info.format = row.format;
  json::Document document;
  if (const auto facts = document.parse(row.facts); facts && (*facts)->is(json::Kind::kObject)) {
    for (std::uint32_t i = 0; i < (*facts)->count; ++i)
      info.facts.emplace_back((*facts)->fields[i].key, (*facts)->fields[i].value.text);
  }
  sink.describe(info);
}

Observed observed_of(const store::FormRow& form, const std::string& path) {
  Observed observed;
  observed.kind = form.kind;
  observed.op = form.op;
  observed.arguments = form.text;
  observed.path = path;
  return observed;
}

// Hashes belong to an observation as a whole: one for each occurrence.
Status observe(Observed observed, const store::FormRow& form, const store::OccurrenceRow& row,
               format::TraceSink& sink) {
  observed.config_hash = row.config_hash;
  observed.sweep_source_hash = row.sweep_source_hash;
  observed.sightings.assign(1, {row.source, row.machine, row.trace_uid, row.extra, row.count, row.raised,
                                row.raised > 0 ? std::string_view(form.error) : std::string_view()});
  return sink.observe(observed);
}

}  // namespace

bool is_store(const std::string& path) { return is_server(path) || (path != "-" && store::sqlite::is_database(path)); }

Status read_store(const std::string& path, int wait_ms, format::TraceSink& sink) {
  // The name of a file is none of a URL, whatever it looks like.
  OPWRIGHT_TRY_ASSIGN(const auto reader, is_server(path) ? store::open_reader(path, wait_ms)
                                                         : store::sqlite::store_at(path)->reader(wait_ms));
  const std::string shown = store::shown(path);
  sink.add_file();
  OPWRIGHT_TRY_ASSIGN(const auto traces, reader->traces());
  for (const store::TraceRow& row : traces) describe(row, sink);
  OPWRIGHT_TRY_ASSIGN(const auto ids, reader->candidates({}));
  constexpr std::size_t kAtOnce = 256;
  for (std::size_t at = 0; at < ids.size(); at += kAtOnce) {
    OPWRIGHT_TRY_ASSIGN(const auto forms,
                        reader->forms(std::span(ids).subspan(at, std::min(kAtOnce, ids.size() - at))));
    OPWRIGHT_TRY_ASSIGN(const auto occurrences, reader->occurrences(forms));
    auto row = occurrences.begin();  // those of one form stand together, in the order of the forms
    for (const store::FormRow& form : forms) {
      const Observed observed = observed_of(form, shown);
      sink.add_bytes(form.text.size());
      for (; row != occurrences.end() && row->form == form.id; ++row) OPWRIGHT_TRY(observe(observed, form, *row, sink));
    }
  }
  if (!sink.keeps_calls()) return {};
  OPWRIGHT_TRY_ASSIGN(const auto sequences, reader->sequences());
  for (const store::SequenceRow& row : sequences) {
    OPWRIGHT_TRY_ASSIGN(const std::string bytes, reader->trace_bytes(row));
    OPWRIGHT_TRY(sink.keep(row.sequence, {.bytes = bytes}));
  }
  return {};
}

Status read_damaged_store(const std::string& path, int wait_ms, format::TraceSink& sink,
                          const std::function<void(const std::string& what)>& lost) {
  OPWRIGHT_TRY_ASSIGN(const auto salvage, store::sqlite::Salvage::open(path, wait_ms, lost));
  sink.add_file();
  OPWRIGHT_TRY(salvage->traces([&](const store::TraceRow& row) { return describe(row, sink), Status(); }));
  if (sink.keeps_calls())
    OPWRIGHT_TRY(salvage->sequences([&](const store::SequenceRow& row, const std::string& bytes) {
      return sink.keep(row.sequence, {.bytes = bytes});
    }));
  return salvage->forms([&](const store::sqlite::SavedForm& saved) -> Status {
    const Observed observed = observed_of(saved.form, path);
    sink.add_bytes(saved.form.text.size());
    for (const store::OccurrenceRow& row : saved.occurrences) OPWRIGHT_TRY(observe(observed, saved.form, row, sink));
    if (!saved.occurrences.empty()) return {};
    lost("table form, row " + std::to_string(saved.form.id.value) + ": kept, but nothing says where it was seen");
    store::OccurrenceRow unknown;
    unknown.trace_uid = "salvaged";
    return observe(observed, saved.form, unknown, sink);
  });
}

}  // namespace opwright::jobs
