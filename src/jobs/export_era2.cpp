#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json_object.h"
#include "format/master/value_writer.h"
#include "jobs/export_master.h"
#include "jobs/export_style.h"
#include "model/test_id.h"
#include "select/file_source.h"

namespace opwright::jobs {
namespace {

constexpr json::Style kStyle{.sort_keys = true, .indent = 2};

using PytestArgs = std::map<std::string, std::string>;  // trace uid -> its pytest_args

PytestArgs pytest_args_of(const std::vector<store::TraceRow>& traces) {
  PytestArgs found;
  json::Document document;
  for (const store::TraceRow& trace : traces) {
    const auto facts = document.parse(trace.facts);
    const auto text = facts ? (*facts)->string_field("pytest_args") : std::nullopt;
    if (text) found.emplace(trace.uid, *text);
  }
  return found;
}

struct Execution {
  store::OccurrenceRow row;                   // of calls: the source is the test function
  std::map<std::string, std::int64_t> tests;  // its parametrisations, with their counts
  bool of_calls = false;
};

struct Record {  // one configuration of the file
  std::string hash, sweep_source_hash, arguments;
  std::string traced_machine;  // JSON; "" none
  std::vector<Execution> executions;
};

// Records of one operation name; forms with one hash are one record to the existing readers.
class Records {
 public:
  Status add(const select::Selected& selected, const store::FormRow& form, normalize::Generation generation) {
    std::vector<const store::OccurrenceRow*> unhashed;
    std::set<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>> hashed;
    const auto seen = [](const store::OccurrenceRow& row) {
      return std::make_tuple(std::string_view(row.source), std::string_view(row.machine),
                             std::string_view(row.trace_uid), std::string_view(row.sweep_source_hash));
    };
    for (const store::OccurrenceRow& row : selected.occurrences) {
      if (row.form != form.id) continue;
      if (row.config_hash.empty() || !is_era2_text(form.kind)) {
        unhashed.push_back(&row);
        continue;
      }
      hashed.insert(seen(row));
      put(row.config_hash, form.text, row);
    }
    // A copy of the same trace that carried no hash adds nothing.
    std::erase_if(unhashed, [&](const store::OccurrenceRow* row) { return hashed.contains(seen(*row)); });
    if (unhashed.empty()) return {};
    const std::string arguments = is_era2_text(form.kind) ? form.text : format::era2_arguments(selected.config);
    const auto root = document_.parse(arguments);
    if (!root) return fail(damaged_form(arguments, root.error()));
    std::set<std::string_view> stored;  // hashes that files of the store have for this configuration
    for (const store::OccurrenceRow& row : selected.occurrences) {
      if (!row.config_hash.empty()) stored.insert(row.config_hash);
    }
    for (const store::OccurrenceRow* row : unhashed) {
      const json::Node* machine = nullptr;
      if (const auto parsed = machine_document_.parse(row->machine); parsed) machine = *parsed;
      std::string hash = same_call_among(stored, form.op, **root, machine);
      if (hash.empty()) {
        computed_ = true;
        hash = normalize::config_hash(generation, form.op, **root, machine);
      }
      put(hash, arguments, *row);
    }
    return {};
  }

  std::vector<Record> sorted() {
    std::vector<Record> records;
    for (auto& [key, record] : by_hash_) records.push_back(std::move(record));
    return records;
  }
  bool computed() const { return computed_; }

 private:
  // The hash under which a file has this very call on this hardware, whichever generation it is of: one call is one
  // record. Of several, that of the newest generation.
  static std::string same_call_among(const std::set<std::string_view>& stored, const std::string& op,
                                     const json::Node& arguments, const json::Node* machine) {
    std::string best;
    unsigned long newest = 0;
    for (const std::string_view hash : stored) {
      const unsigned long generations = normalize::matching_generations(hash, op, arguments, machine).to_ulong();
      if (generations <= newest) continue;
      newest = generations;
      best = hash;
    }
    return best;
  }

  // What belongs to the configuration and not to the execution: {"@traced_machine_info": …, "pytest_args": null} ->
  // {"pytest_args": null}
  void take_marks(std::string& extra, std::string& machine) {
    if (extra.find(kTracedMachine) == std::string::npos && extra.find(kOfTestIds) == std::string::npos) return;
    const auto root = machine_document_.parse(extra);
    if (!root || !(*root)->is(json::Kind::kObject)) return;
    JsonObject rest;
    for (std::uint32_t i = 0; i < (*root)->count; ++i) {
      const std::string_view key = (*root)->fields[i].key;
      std::string text;
      json::append_python(text, (*root)->fields[i].value, {.sort_keys = true});
      if (key == kTracedMachine)
        machine = std::move(text);
      else if (key != kOfTestIds)
        rest.add_raw(key, text);
    }
    extra = rest.text() == "{}" ? "" : rest.text();
  }

  void put(const std::string& hash, const std::string& arguments, const store::OccurrenceRow& row) {
    Record& record = by_hash_[{hash, row.sweep_source_hash}];
    record.hash = hash;
    record.sweep_source_hash = row.sweep_source_hash;
    if (record.arguments.empty() || arguments < record.arguments) record.arguments = arguments;
    Execution own{row, {}, select::is_of_calls(row)};
    own.row.source = select::source_for_files(row);
    take_marks(own.row.extra, record.traced_machine);
    auto same = std::find_if(record.executions.begin(), record.executions.end(), [&](const Execution& known) {
      return known.row.source == own.row.source && known.row.machine == row.machine &&
             known.row.trace_uid == row.trace_uid;
    });
    if (same == record.executions.end())
      same = record.executions.insert(same, own);
    else if (row.count != kUncounted)
      same->row.count = std::max<std::int64_t>(same->row.count, 0) + row.count;
    if (own.row.source == row.source) return;
    std::int64_t& calls = same->tests.try_emplace(row.source, kUncounted).first->second;
    if (row.count != kUncounted) calls = std::max<std::int64_t>(calls, 0) + row.count;
  }

  std::map<std::pair<std::string, std::string>, Record> by_hash_;
  json::Document document_, machine_document_;
  bool computed_ = false;
};

// The exact tests of a test function: {"test_x.py::test_add[1]": 3, …}
std::string test_ids_json(const Execution& execution) {
  JsonObject object;
  for (const auto& [test, calls] : execution.tests)
    object.add_raw(test, calls == kUncounted ? "null" : std::to_string(calls));
  return object.text();
}

// The fields that the row itself does not hold are in `extra`, as the file had them. A row that came from calls gets
// what the existing tracer writes.
std::string execution_json(const Execution& execution, const PytestArgs& pytest_args) {
  const store::OccurrenceRow& row = execution.row;
  JsonObject object;
  const bool from_calls = row.config_hash.empty();
  if (row.count != kUncounted) object.add("count", row.count);
  if (!row.machine.empty())
    object.add_raw("machine_info", row.machine);
  else if (from_calls)
    object.add_raw("machine_info", "null");
  object.add("source", row.source);
  if (!execution.tests.empty()) object.add_raw("test_ids", test_ids_json(execution));
  if (row.trace_uid.starts_with("run:"))
    object.add_raw("trace_run_ids", "[" + row.trace_uid.substr(4) + "]");
  else if (from_calls || !row.trace_uid.starts_with("content:"))  // a file without uids gets none
    object.add("trace_uid", row.trace_uid);
  if (from_calls && row.extra.find("\"pytest_args\"") == std::string::npos) {
    const auto known = pytest_args.find(row.trace_uid);
    object.add_raw("pytest_args", known == pytest_args.end() ? "null" : json_string(known->second));
  }
  std::string text = object.text();
  return row.extra.empty() ? text : text.substr(0, text.size() - 1) + ", " + row.extra.substr(1);
}

// Without these three the existing database takes no configuration, and its hash is that of no hardware.
bool tells_board(const std::string& machine, json::Document& document) {
  const auto root = document.parse(machine);
  if (!root || !(*root)->is(json::Kind::kObject)) return false;
  for (const char* key : {"board_type", "device_series", "card_count"}) {
    const json::Node* value = (*root)->find(key);
    if (value == nullptr || value->is(json::Kind::kNull)) return false;
  }
  return true;
}

Status append_record(std::string& out, const Record& record, const PytestArgs& pytest_args, json::Document& document,
                     ExportReport& report) {
  std::vector<std::string> executions;
  bool without_board = false;
  for (const Execution& execution : record.executions) {
    executions.push_back(execution_json(execution, pytest_args));
    without_board = without_board || (execution.of_calls && !tells_board(execution.row.machine, document));
  }
  if (without_board) ++report.without_board;
  JsonObject object;
  object.add_raw("arguments", record.arguments)
      .add("config_hash", record.hash)
      .add("config_id", ++report.configurations)
      .add_raw("executions", json_array(executions, true));
  if (!record.sweep_source_hash.empty()) object.add("sweep_source_hash", record.sweep_source_hash);
  if (!record.traced_machine.empty()) object.add_raw("traced_machine_info", record.traced_machine);
  return append_styled(out, object.text(), kStyle, kConfigLevel, document);
}

// What the existing readers take for the models of the file: its sources.
std::string models_json(const std::vector<select::Selected>& selected) {
  std::set<std::string> models;
  for (const select::Selected& one : selected) {
    for (const store::OccurrenceRow& row : one.occurrences) {
      if (!row.source.empty()) models.insert(select::source_for_files(row));
    }
  }
  return json_array({models.begin(), models.end()}, false);
}

}  // namespace

Result<std::string> master_era2(const std::vector<select::Selected>& selected,
                                const std::vector<store::TraceRow>& traces, normalize::Generation generation,
                                ExportReport& report) {
  std::map<std::string, Records> by_op;  // as the traces spell it: the hash is taken over that
  for (const select::Selected& one : selected) {
    for (const store::FormRow& form : one.forms) {
      if (one.config.convention == Convention::kPython)
        OPWRIGHT_TRY(by_op[form.op].add(one, form, generation));
      else
        ++report
              .not_expressible["recorded at the C++ level; an era-2 master holds Python arguments (use --to master1)"];
    }
  }
  const PytestArgs pytest_args = pytest_args_of(traces);
  json::Document document;
  OperationsText operations;
  bool computed = false;
  for (auto& [op, records] : by_op) {
    computed = computed || records.computed();
    operations.begin(op);
    for (const Record& record : records.sorted()) {
      OPWRIGHT_TRY(append_record(operations.next(), record, pytest_args, document, report));
    }
    operations.end();
  }
  JsonObject metadata;
  if (const std::string latest = last_updated(traces); !latest.empty()) metadata.add("last_updated", latest);
  metadata.add_raw("models", models_json(selected))
      .add_raw("operations_summary", operations.summary_json())
      .add("total_configurations", report.configurations)
      .add("unique_operations", operations.count());
  if (computed) metadata.add("config_hash_generation", normalize::name_of(generation));
  std::string text = "{\n  \"metadata\": ";
  OPWRIGHT_TRY(append_styled(text, metadata.text(), kStyle, 1, document));
  return text + ",\n  \"operations\": " + operations.text() + "\n}";
}

}  // namespace opwright::jobs
