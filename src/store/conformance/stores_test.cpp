// The implementations that the laws run for, and what two stores are compared by.
#include <fmt/format.h>

#include "model/record_json.h"
#include "store/conformance/memory_store.h"
#include "store/conformance/server_place.h"
#include "store/conformance/store_under_test.h"
#include "store/sqlite_door.h"

namespace opwright::store {
namespace {

class FilePlace final : public Place {
 public:
  explicit FilePlace(const std::string& content = "") {
    if (!content.empty()) folder_.write("s.db", content);
  }
  std::unique_ptr<Store> store() override { return sqlite::store_at(folder_.file("s.db")); }
  std::string bytes() override { return opwright::content_of(folder_.file("s.db")); }

 private:
  const TestFolder folder_;
};

class MemoryPlace final : public Place {
 public:
  std::unique_ptr<Store> store() override { return memory_store(state_); }

 private:
  std::shared_ptr<MemoryState> state_ = make_memory();
};

}  // namespace

std::vector<StoreUnderTest> all_stores() {
  StoreUnderTest file{"sqlite", [] { return std::make_unique<FilePlace>(); }, {}, {}};
  for (int version = 1; version < sqlite::schema_version(); ++version)
    file.older[fmt::format("v{}", version)] = [version] {
      return std::make_unique<FilePlace>(fixture(fmt::format("stores/v{}.db", version)));
    };
  const std::string gone = "what is in memory is gone with its process";
  StoreUnderTest memory{"memory",
                        [] { return std::make_unique<MemoryPlace>(); },
                        {},
                        {{"WhatWasAcknowledgedSurvivesAKill", gone},
                         {"AKilledImportLeavesNothing", gone},
                         {"OlderStoresAreReadAsTheyLie", "there are no older ones"},
                         {"OlderStoresAreBroughtUpToDate", "there are no older ones"}}};
  const std::string beside = "on a server results do not wait for an import (postgresql/server_test.cpp)";
  StoreUnderTest server{"postgresql",
                        [] { return server_place(); },
                        {},
                        {{"ResultsAreWrittenBetweenTransactionsAndWaitForOne", beside},
                         {"OlderStoresAreReadAsTheyLie", "there are no older ones"},
                         {"OlderStoresAreBroughtUpToDate", "there are no older ones"}}};
  server.missing = no_server();
  return {file, memory, server};
}

std::vector<std::string> content_of(Store& store) {
  std::vector<std::string> lines;
  const auto reader = *store.reader(100);
  const auto ids = *reader->candidates({});
  const auto forms = *reader->forms(ids);
  for (const FormRow& form : forms) {
    lines.push_back(
        fmt::format("form {} {} {} error '{}'", static_cast<int>(form.kind), form.op, form.text, form.error));
    const auto rows = *reader->occurrences(std::span(&form, 1));
    for (const OccurrenceRow& row : rows)
      lines.push_back(fmt::format("seen {} in {} ({}, {}) on {} ({}) trace {} hashes '{}' '{}' {} count {} raised {}",
                                  form.text, row.source, row.model, row.hf_model, row.machine, row.machine_label,
                                  row.trace_uid, row.sweep_source_hash, row.config_hash, row.extra, row.count,
                                  row.raised));
  }
  // Cards are a copy: they say the same, whatever was changed.
  std::map<std::int64_t, std::string> form_texts, source_texts, machine_texts;
  for (const FormRow& form : forms) form_texts[form.id.value] = form.text;
  const auto known_sources = *reader->sources();
  for (const SourceRow& row : known_sources) source_texts[row.id.value] = row.text;
  const auto known_machines = *reader->machines();
  for (const MachineRow& row : known_machines) machine_texts[row.id.value] = row.text;
  const Status read = reader->cards(ids, true, [&](const Card& card) {
    std::vector<std::string> seen;
    for (const Seen& one : card.seen)
      seen.push_back(fmt::format("'{}' in {} on {} sweep '{}' count {} raised {}", form_texts.at(one.form.value),
                                 source_texts.at(one.source.value), machine_texts.at(one.machine.value),
                                 one.sweep_source_hash, one.count, one.raised));
    std::sort(seen.begin(), seen.end());
    lines.push_back(fmt::format("card {} {} {} seen {}", card.op, static_cast<int>(card.convention), to_hex(card.key),
                                fmt::join(seen, "; ")));
    return Status();
  });
  EXPECT_TRUE(read) << read.error().message;
  const auto all_operations = *reader->operations();
  for (const OperationRow& row : all_operations)
    lines.push_back(fmt::format("operation {}: {} configurations, {} calls, {} uncounted, {} sources, {} raised",
                                row.name, row.configurations, row.calls, row.uncounted, row.sources, row.raised));
  const auto all_traces = *reader->traces();
  for (const TraceRow& row : all_traces) lines.push_back(fmt::format("trace {} {} {}", row.uid, row.format, row.facts));
  const auto all_sequences = *reader->sequences();
  for (const SequenceRow& row : all_sequences)
    lines.push_back(fmt::format("sequence {} {} {}", row.sequence.uid, row.sequence.name, to_hex(row.sequence.digest)));
  // What the index says of where configurations were seen, by names.
  const auto all_sources = *reader->sources();
  for (const SourceRow& row : all_sources) {
    const auto seen = *reader->candidates(std::vector<Way>{{{}, {{{}, {{kSourceFact, row.id.value, row.id.value}}}}}});
    lines.push_back(fmt::format("source {}: {} configurations", row.text, seen.size()));
  }
  const auto results = *store.results_reader(100);
  const auto all_runs = *results->runs();
  for (const RunRecord& run : all_runs) {
    lines.push_back(fmt::format("run {} {}", run.uid, run.status));
    EXPECT_TRUE(
        results->for_each(run.uid, [&](CaseRecord&& record) { return lines.push_back(to_json(record)), Status(); }));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace opwright::store
