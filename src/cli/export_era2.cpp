#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "cli/export_master.h"
#include "cli/export_style.h"
#include "cli/output.h"
#include "format/master/value_writer.h"
#include "normalize/foreign_hash.h"

namespace opwright::cli {
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

struct Record {  // one configuration of the file
  std::string hash, sweep_source_hash, arguments;
  std::string traced_machine;  // JSON; "" none
  std::vector<store::OccurrenceRow> rows;
};

// Records of one operation name; forms with one hash are one record to the existing readers.
class Records {
 public:
  Status add(const Selected& selected, const store::FormRow& form) {
    std::vector<const store::OccurrenceRow*> unhashed;
    std::set<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>> hashed;
    const auto seen = [](const store::OccurrenceRow& row) {
      return std::make_tuple(std::string_view(row.source), std::string_view(row.machine),
                             std::string_view(row.trace_uid), std::string_view(row.sweep_source_hash));
    };
    for (const store::OccurrenceRow& row : selected.occurrences) {
      if (row.form != form.id) continue;
      if (row.config_hash.empty() || form.kind != FormKind::kEra2) {
        unhashed.push_back(&row);
        continue;
      }
      hashed.insert(seen(row));
      put(row.config_hash, form.text, row);
    }
    // A copy of the same trace that carried no hash adds nothing.
    std::erase_if(unhashed, [&](const store::OccurrenceRow* row) { return hashed.contains(seen(*row)); });
    if (unhashed.empty()) return {};
    const std::string arguments = form.kind == FormKind::kEra2 ? form.text : format::era2_arguments(selected.config);
    const auto root = document_.parse(arguments);
    if (!root) return fail(damaged_form(arguments, root.error()));
    computed_ = true;
    for (const store::OccurrenceRow* row : unhashed) {
      const json::Node* machine = nullptr;
      if (const auto parsed = machine_document_.parse(row->machine); parsed) machine = *parsed;
      put(normalize::config_hash(normalize::Generation::kG5, form.op, **root, machine), arguments, *row);
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
  // {"@traced_machine_info": …, "pytest_args": null} -> {"pytest_args": null}
  void take_traced_machine(std::string& extra, std::string& machine) {
    if (extra.find(kTracedMachine) == std::string::npos) return;
    const auto root = machine_document_.parse(extra);
    if (!root || !(*root)->is(json::Kind::kObject)) return;
    JsonObject rest;
    for (std::uint32_t i = 0; i < (*root)->count; ++i) {
      std::string text;
      json::append_python(text, (*root)->fields[i].value, {.sort_keys = true});
      if ((*root)->fields[i].key == kTracedMachine)
        machine = std::move(text);
      else
        rest.add_raw((*root)->fields[i].key, text);
    }
    extra = rest.text() == "{}" ? "" : rest.text();
  }

  void put(const std::string& hash, const std::string& arguments, const store::OccurrenceRow& row) {
    Record& record = by_hash_[{hash, row.sweep_source_hash}];
    record.hash = hash;
    record.sweep_source_hash = row.sweep_source_hash;
    if (record.arguments.empty() || arguments < record.arguments) record.arguments = arguments;
    store::OccurrenceRow own = row;
    take_traced_machine(own.extra, record.traced_machine);
    const auto same = std::find_if(record.rows.begin(), record.rows.end(), [&](const store::OccurrenceRow& known) {
      return known.source == row.source && known.machine == row.machine && known.trace_uid == row.trace_uid;
    });
    if (same == record.rows.end())
      record.rows.push_back(std::move(own));
    else if (row.count != kUncounted)
      same->count = std::max<std::int64_t>(same->count, 0) + row.count;
  }

  std::map<std::pair<std::string, std::string>, Record> by_hash_;
  json::Document document_, machine_document_;
  bool computed_ = false;
};

// The fields that the row itself does not hold are in `extra`, as the file had them. A row that came from calls gets
// what the existing tracer writes.
std::string execution_json(const store::OccurrenceRow& row, const PytestArgs& pytest_args) {
  JsonObject object;
  const bool from_calls = row.config_hash.empty();
  if (row.count != kUncounted) object.add("count", row.count);
  if (!row.machine.empty())
    object.add_raw("machine_info", row.machine);
  else if (from_calls)
    object.add_raw("machine_info", "null");
  object.add("source", row.source);
  if (row.trace_uid.starts_with("run:"))
    object.add_raw("trace_run_ids", "[" + row.trace_uid.substr(4) + "]");
  else if (!row.trace_uid.starts_with("content:"))
    object.add("trace_uid", row.trace_uid);
  if (from_calls && row.extra.find("\"pytest_args\"") == std::string::npos) {
    const auto known = pytest_args.find(row.trace_uid);
    object.add_raw("pytest_args", known == pytest_args.end() ? "null" : json_string(known->second));
  }
  std::string text = object.text();
  return row.extra.empty() ? text : text.substr(0, text.size() - 1) + ", " + row.extra.substr(1);
}

Status append_record(std::string& out, const Record& record, std::int64_t config_id, const PytestArgs& pytest_args,
                     json::Document& document) {
  std::vector<std::string> executions;
  for (const store::OccurrenceRow& row : record.rows) executions.push_back(execution_json(row, pytest_args));
  JsonObject object;
  object.add_raw("arguments", record.arguments)
      .add("config_hash", record.hash)
      .add("config_id", config_id)
      .add_raw("executions", json_array(executions, true));
  if (!record.sweep_source_hash.empty()) object.add("sweep_source_hash", record.sweep_source_hash);
  if (!record.traced_machine.empty()) object.add_raw("traced_machine_info", record.traced_machine);
  return append_styled(out, object.text(), kStyle, kConfigLevel, document);
}

}  // namespace

Result<std::string> master_era2(const std::vector<Selected>& selected, const std::vector<store::TraceRow>& traces,
                                ExportReport& report) {
  std::map<std::string, Records> by_op;  // as the traces spell it: the hash is taken over that
  for (const Selected& one : selected) {
    for (const store::FormRow& form : one.forms) {
      if (one.config.convention == Convention::kPython)
        OPWRIGHT_TRY(by_op[form.op].add(one, form));
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
      OPWRIGHT_TRY(append_record(operations.next(), record, ++report.configurations, pytest_args, document));
    }
    operations.end();
  }
  JsonObject metadata;
  if (const std::string latest = last_updated(traces); !latest.empty()) metadata.add("last_updated", latest);
  metadata.add_raw("models", sources_json(selected))
      .add_raw("operations_summary", operations.summary_json())
      .add("total_configurations", report.configurations)
      .add("unique_operations", operations.count());
  if (computed) metadata.add("config_hash_generation", normalize::name_of(normalize::Generation::kG5));
  std::string text = "{\n  \"metadata\": ";
  OPWRIGHT_TRY(append_styled(text, metadata.text(), kStyle, 1, document));
  return text + ",\n  \"operations\": " + operations.text() + "\n}";
}

}  // namespace opwright::cli
