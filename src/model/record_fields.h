// The fields of a result, described once. JSON lines, rows of the store, CSV and the table in docs/formats/results.md
// come from this list or are checked against it; a new field is a line here and a member of CaseRecord (and a column of
// the store, in a new schema).
//
//   for_each_field(record, [](const RecordField& field, const auto& value) { … });
#pragma once

#include <string_view>

#include "model/case_record.h"

namespace opwright {

struct RecordField {
  std::string_view name;  // of JSON and CSV: a promise
  const char* column;     // of the store
  int place;              // of the column in a row of the store, behind the run; 0: not stored
  int csv;                // its column in `--export csv`, from 1; 0: not there
  std::string_view meaning;
  bool planned = false;  // known before the case runs: a worker's answer does not change it
};

inline constexpr int kStoredFields = 48;
inline constexpr int kCsvFields = 48;

// In the order of JSON.
template <class Record, class Use>
void for_each_field(Record& record, const Use& use) {
  const auto field = [&](std::string_view name, const char* column, int place, int csv, auto& member,
                         std::string_view meaning) { use(RecordField{name, column, place, csv, meaning}, member); };
  const auto planned = [&](std::string_view name, const char* column, int place, int csv, auto& member,
                           std::string_view meaning) {
    use(RecordField{name, column, place, csv, meaning, true}, member);
  };
  planned("index", "place", 1, 1, record.index, "place in the plan of its run");
  planned("vector", "vector", 2, 2, record.vector, "id of the test vector: the same in every run");
  planned("key", "key", 3, 3, record.key, "of the configuration");
  planned("config_hash", "config_hash", 4, 4, record.config_hash, "what the existing tooling knows it by");
  planned("op", "op", 5, 5, record.op, "operation");
  planned("suite", "suite", 6, 6, record.suite, "of the vector");
  planned("case", "line", 7, 44, record.line, "the case line");
  planned("repeat", "repeat", 8, 45, record.repeat, "the command that runs it alone");
  planned("dtype", "dtype", 9, 14, record.dtype, "of the first tensor");
  planned("layout", "layout", 10, 15, record.layout, "of the first tensor");
  planned("memory", "memory", 11, 16, record.memory, "where the first tensor lies");
  planned("models", "models", 12, 17, record.models, "that call it, separated by commas");
  planned("calls", "calls", 13, 18, record.calls, "of the models: the weight of the case");
  field("elements", "elements", 14, 19, record.elements, "of all tensors, in and out");
  planned("seed", "seed", 16, 21, record.recipe.seed, "of the input data");
  planned("data", "distribution", 15, 20, record.recipe.distribution, "distribution of plain inputs");
  field("outcome", "outcome", 17, 7, record.outcome, "how it ended");
  field("reason", "reason", 18, 8, record.reason, "why it is not passed");
  field("argument", "argument", 19, 9, record.argument, "the parameter at fault");
  field("blame", "blame", 20, 10, record.blame, "who a failure belongs to");
  field("evidence", "evidence", 21, 11, record.evidence, "what was repeated to find that out, and how it ended");
  field("notes", "notes", 22, 12, record.notes, "what a reader must know beside the outcome");
  planned("attempts", "attempts", 23, 13, record.attempts, "how often it ran");
  field("second_opinion", "", 0, 0, record.second_opinion,
        "a worker's answer only: how the simulated device ended with the same data");
  field("pcc", "pcc", 24, 22, record.pcc, "correlation with the reference, the worst of all outputs");
  field("ulp", "ulp", 25, 23, record.ulp, "99 in 100 elements are within it");
  field("nrmse", "nrmse", 26, 24, record.nrmse,
        "root of the mean square error, in standard deviations of the exact values");
  field("bound_used", "bound_used", 27, 25, record.bound_used, "largest error as a share of its bound");
  field("judged", "judged", 28, 26, record.judged, "elements looked at");
  field("verdicts", "verdicts", 29, 47, record.verdicts, "JSON text: a verdict an output");
  field("outputs", "outputs", 30, 46, record.outputs, "JSON text: a spec an output");
  field("fields", "fields", 31, 27, record.fields, "of the traced configuration, compared with the executed one");
  field("fields_equal", "fields_equal", 32, 28, record.fields_equal, "that the executed one has too");
  field("differences", "differences", 33, 29, record.differences, "the other ones");
  field("faults", "faults", 34, 30, record.faults, "planted behind the comparer");
  field("faults_noticed", "faults_noticed", 35, 31, record.faults_noticed, "that the judge saw");
  field("unnoticed", "unnoticed", 36, 32, record.unnoticed, "names of the other ones");
  field("against", "against", 37, 33, record.against, "outcome on the second device");
  field("disagreement", "disagreement", 38, 34, record.disagreement, "where the two devices differ");
  field("started", "started", 39, 35, record.started, "UTC");
  field("wall_seconds", "wall_seconds", 40, 36, record.wall_seconds, "of the whole case, in its worker");
  field("device_seconds", "device_seconds", 41, 37, record.device_seconds, "of the call, warm where it ran twice");
  field("cold_seconds", "cold_seconds", 42, 38, record.cold_seconds, "of its first time, where it ran twice");
  field("kernel_seconds", "kernel_seconds", 43, 39, record.kernel_seconds, "on the modelled or real chip");
  field("reference_seconds", "reference_seconds", 44, 40, record.reference_seconds, "of the reference and the judge");
  field("l1_per_core", "l1_per_core", 45, 41, record.l1_per_core, "bytes; 0: not reported");
  field("dram", "dram", 46, 42, record.dram, "bytes; 0: not reported");
  field("host_bytes", "host_bytes", 47, 43, record.host_bytes, "peak of the worker");
  field("perf", "perf", 48, 48, record.perf, "JSON text: times of a run with `--perf` ([perf.md](perf.md))");
}

}  // namespace opwright
