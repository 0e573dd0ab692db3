#include "jobs/store_source.h"

#include <sys/stat.h>

#include <fstream>

#include "base/json.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/salvage.h"

namespace opwright::jobs {

Result<bool> is_store_file(const std::string& path) {
  struct stat info{};
  if (path == "-" || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char magic[16] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == std::string_view("SQLite format 3\0", 16);
}

namespace {

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

Status read_store(const std::string& path, int wait_ms, format::TraceSink& sink) {
  OPWRIGHT_TRY_ASSIGN(store::Reader reader, store::Reader::open(path, wait_ms));
  sink.add_file();
  OPWRIGHT_TRY_ASSIGN(const auto traces, reader.traces());
  for (const store::TraceRow& row : traces) describe(row, sink);
  OPWRIGHT_TRY_ASSIGN(const auto ids, reader.candidates({}));
  for (const ConfigId id : ids) {
    OPWRIGHT_TRY_ASSIGN(const auto forms, reader.forms(id));
    OPWRIGHT_TRY_ASSIGN(const auto occurrences, reader.occurrences(forms));
    for (const store::FormRow& form : forms) {
      const Observed observed = observed_of(form, path);
      sink.add_bytes(form.text.size());
      for (const store::OccurrenceRow& row : occurrences) {
        if (row.form == form.id) OPWRIGHT_TRY(observe(observed, form, row, sink));
      }
    }
  }
  if (!sink.keeps_calls()) return {};
  OPWRIGHT_TRY_ASSIGN(const auto sequences, reader.sequences());
  for (const store::SequenceRow& row : sequences) {
    OPWRIGHT_TRY_ASSIGN(const std::string bytes, reader.trace_bytes(row));
    OPWRIGHT_TRY(sink.keep(row.sequence, {.bytes = bytes}));
  }
  return {};
}

Status read_damaged_store(const std::string& path, int wait_ms, format::TraceSink& sink,
                          const std::function<void(const std::string& what)>& lost) {
  OPWRIGHT_TRY_ASSIGN(store::Salvage salvage, store::Salvage::open(path, wait_ms, lost));
  sink.add_file();
  OPWRIGHT_TRY(salvage.traces([&](const store::TraceRow& row) { return describe(row, sink), Status(); }));
  if (sink.keeps_calls())
    OPWRIGHT_TRY(salvage.sequences([&](const store::SequenceRow& row, const std::string& bytes) {
      return sink.keep(row.sequence, {.bytes = bytes});
    }));
  return salvage.forms([&](const store::SavedForm& saved) -> Status {
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
