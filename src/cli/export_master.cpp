#include "cli/export_master.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/json.h"
#include "base/json_write.h"
#include "cli/output.h"
#include "format/master/value_writer.h"
#include "normalize/foreign_hash.h"
#include "normalize/normalize.h"

namespace opwright::cli {
namespace {

constexpr int kConfigLevel = 4;  // of a configuration inside {"operations": {op: {"configurations": […]}}}

using Rows = std::vector<const store::OccurrenceRow*>;

// Writes compact JSON text again in Python's style at a level of nesting.
Status append_styled(std::string& out, const std::string& compact, json::Style style, int level,
                     json::Document& document) {
  const auto root = document.parse(compact);
  if (!root)
    return fail(ErrorCode::kBadInput, "a stored form is not valid JSON: " + json::describe(compact, root.error()));
  json::append_python(out, **root, style, level);
  return {};
}

using PytestArgs = std::map<std::string, std::string>;  // trace uid -> its pytest_args

std::string execution_json(const store::OccurrenceRow& row, const PytestArgs& pytest_args) {
  JsonObject object;
  if (row.count != kUncounted) object.add("count", row.count);
  object.add_raw("machine_info", row.machine.empty() ? "null" : row.machine);
  object.add("source", row.source);
  if (row.trace_uid.starts_with("run:"))
    object.add_raw("trace_run_ids", "[" + row.trace_uid.substr(4) + "]");
  else if (!row.trace_uid.starts_with("content:"))
    object.add("trace_uid", row.trace_uid);
  std::string text = object.text();
  if (!row.extra.empty()) text = text.substr(0, text.size() - 1) + ", " + row.extra.substr(1);
  if (row.extra.find("\"pytest_args\"") == std::string::npos && !row.trace_uid.starts_with("content:")) {
    const auto known = pytest_args.find(row.trace_uid);
    text = text.substr(0, text.size() - 1) +
           ", \"pytest_args\": " + (known == pytest_args.end() ? "null" : json_string(known->second)) + "}";
  }
  return text;
}

struct Record {  // one configuration of an era-2 file
  std::string hash;
  std::string arguments;
  std::string sweep_source_hash;
  std::vector<store::OccurrenceRow> rows;
};

// Two forms with one hash are one record to the existing readers: executions of the same run add up.
void join(Record& into, const Record& other) {
  for (const store::OccurrenceRow& row : other.rows) {
    const auto same = std::find_if(into.rows.begin(), into.rows.end(), [&](const store::OccurrenceRow& known) {
      return known.source == row.source && known.machine == row.machine && known.trace_uid == row.trace_uid;
    });
    if (same == into.rows.end())
      into.rows.push_back(row);
    else if (row.count != kUncounted)
      same->count = std::max<std::int64_t>(same->count, 0) + row.count;
  }
  if (into.sweep_source_hash.empty()) into.sweep_source_hash = other.sweep_source_hash;
}

Rows rows_of(const Selected& selected, FormId form) {
  Rows rows;
  for (const store::OccurrenceRow& row : selected.occurrences) {
    if (row.form == form) rows.push_back(&row);
  }
  return rows;
}

// A form without a stored hash is one record per hardware and mesh, as the existing tracer keeps them apart.
Status add_hashed(const std::string& op, const std::string& arguments, const std::string& sweep_source_hash,
                  const Rows& rows, std::vector<Record>& records) {
  json::Document document, machine_document;
  const auto root = document.parse(arguments);
  if (!root)
    return fail(ErrorCode::kBadInput, "a stored form is not valid JSON: " + json::describe(arguments, root.error()));
  std::map<std::string, std::vector<store::OccurrenceRow>> by_hash;
  for (const store::OccurrenceRow* row : rows) {
    const json::Node* machine = nullptr;
    if (!row->machine.empty()) {
      if (const auto parsed = machine_document.parse(row->machine)) machine = *parsed;
    }
    by_hash[normalize::config_hash(normalize::Generation::kG5, op, **root, machine)].push_back(*row);
  }
  for (auto& [hash, members] : by_hash) {
    Record record{hash, arguments, sweep_source_hash, std::move(members)};
    const auto same = std::find_if(records.begin(), records.end(), [&](const Record& known) {
      return known.hash == record.hash && (known.sweep_source_hash == sweep_source_hash ||
                                           known.sweep_source_hash.empty() || sweep_source_hash.empty());
    });
    if (same == records.end())
      records.push_back(std::move(record));
    else
      join(*same, record);
  }
  return {};
}

template <class F>
Status for_each_operation(const std::vector<Selected>& selected, F&& use) {
  std::map<std::string, std::vector<const Selected*>> groups;
  for (const Selected& one : selected) groups[one.config.op].push_back(&one);
  for (const auto& [op, members] : groups) OPWRIGHT_TRY(use(op, members));
  return {};
}

std::string last_updated(const std::vector<store::TraceRow>& traces) {
  std::string latest;
  json::Document document;
  for (const store::TraceRow& trace : traces) {
    const auto facts = document.parse(trace.facts);
    if (!facts) continue;
    for (const char* key : {"last_updated", "timestamp"}) {
      if (const auto text = (*facts)->string_field(key)) latest = std::max(latest, std::string(*text));
    }
  }
  return latest;
}

PytestArgs pytest_args_of(const std::vector<store::TraceRow>& traces) {
  PytestArgs found;
  json::Document document;
  for (const store::TraceRow& trace : traces) {
    const auto facts = document.parse(trace.facts);
    if (const auto text = facts ? (*facts)->string_field("pytest_args") : std::nullopt) found.emplace(trace.uid, *text);
  }
  return found;
}

std::set<std::string> sources_of(const std::vector<Selected>& selected) {
  std::set<std::string> sources;
  for (const Selected& one : selected) {
    for (const store::OccurrenceRow& row : one.occurrences) {
      if (!row.source.empty()) sources.insert(row.source);
    }
  }
  return sources;
}

std::string summary_json(const std::map<std::string, std::int64_t>& summary) {
  JsonObject object;
  for (const auto& [op, count] : summary) object.add(op, count);
  return object.text();
}

}  // namespace

Result<std::string> master_era2(const std::vector<Selected>& selected, const std::vector<store::TraceRow>& traces,
                                ExportReport& report) {
  constexpr json::Style kStyle{.sort_keys = true, .indent = 2};
  json::Document document;
  std::string operations;
  std::map<std::string, std::int64_t> summary;
  bool computed = false;
  const PytestArgs pytest_args = pytest_args_of(traces);
  OPWRIGHT_TRY(
      for_each_operation(selected, [&](const std::string& op, const std::vector<const Selected*>& members) -> Status {
        std::vector<Record> records, unhashed;
        for (const Selected* one : members) {
          for (const store::FormRow& form : one->forms) {
            const Rows rows = rows_of(*one, form.id);
            if (rows.empty()) continue;
            if (one->config.convention == Convention::kCpp) {
              ++report.not_expressible
                    ["recorded at the C++ level; an era-2 master holds Python arguments (use --to master1)"];
            } else if (form.kind == FormKind::kEra2 && !form.config_hash.empty()) {
              records.push_back({form.config_hash, form.text, form.sweep_source_hash, {}});
              for (const store::OccurrenceRow* row : rows) records.back().rows.push_back(*row);
            } else {
              computed = true;
              OPWRIGHT_TRY(add_hashed(op,
                                      form.kind == FormKind::kEra2 ? form.text : format::era2_arguments(one->config),
                                      form.sweep_source_hash, rows, unhashed));
            }
          }
        }
        std::move(unhashed.begin(), unhashed.end(), std::back_inserter(records));
        if (records.empty()) return {};
        std::stable_sort(records.begin(), records.end(),
                         [](const Record& a, const Record& b) { return a.hash < b.hash; });
        operations += operations.empty() ? "\n    " : ",\n    ";
        json::append_quoted(operations, op);
        operations += ": {\n      \"configurations\": [";
        for (std::size_t i = 0; i < records.size(); ++i) {
          const Record& record = records[i];
          std::vector<std::string> executions;
          for (const store::OccurrenceRow& row : record.rows) executions.push_back(execution_json(row, pytest_args));
          JsonObject object;
          object.add_raw("arguments", record.arguments)
              .add("config_hash", record.hash)
              .add("config_id", ++report.configurations)
              .add_raw("executions", json_array(executions, true));
          if (!record.sweep_source_hash.empty()) object.add("sweep_source_hash", record.sweep_source_hash);
          operations += i > 0 ? ",\n        " : "\n        ";
          OPWRIGHT_TRY(append_styled(operations, object.text(), kStyle, kConfigLevel, document));
        }
        operations += "\n      ]\n    }";
        summary[op] = static_cast<std::int64_t>(records.size());
        return {};
      }));
  const std::set<std::string> sources = sources_of(selected);
  JsonObject metadata;
  if (const std::string latest = last_updated(traces); !latest.empty()) metadata.add("last_updated", latest);
  metadata.add_raw("models", json_array({sources.begin(), sources.end()}, false))
      .add_raw("operations_summary", summary_json(summary))
      .add("total_configurations", report.configurations)
      .add("unique_operations", static_cast<std::int64_t>(summary.size()));
  if (computed) metadata.add("config_hash_generation", normalize::name_of(normalize::Generation::kG5));
  std::string text = "{\n  \"metadata\": ";
  OPWRIGHT_TRY(append_styled(text, metadata.text(), kStyle, 1, document));
  text += ",\n  \"operations\": {" + operations + (operations.empty() ? "}\n}" : "\n  }\n}");
  return text;
}

Result<std::string> master_era1(const std::vector<Selected>& selected, const std::vector<store::TraceRow>& traces,
                                ExportReport& report) {
  constexpr json::Style kStyle{.sort_keys = false, .indent = 2};
  json::Document document;
  std::string operations;
  std::map<std::string, std::int64_t> summary;
  OPWRIGHT_TRY(
      for_each_operation(selected, [&](const std::string&, const std::vector<const Selected*>& members) -> Status {
        std::map<std::string, std::vector<std::string>> by_spelling;  // ttnn::add
        for (const Selected* one : members) {
          if (one->config.convention == Convention::kPython) {
            report.not_expressible
                ["recorded at the Python level; an era-1 master holds C++ arguments (use --to master)"] +=
                static_cast<std::int64_t>(one->forms.size());
            continue;
          }
          for (const store::FormRow& form : one->forms) {
            JsonObject object;
            object.add_raw("arguments", form.kind == FormKind::kEra1 ? form.text : format::era1_arguments(one->config));
            std::set<std::string> sources, machines;
            for (const store::OccurrenceRow* row : rows_of(*one, form.id)) {
              if (!row->source.empty()) sources.insert(row->source);
              if (!row->machine.empty()) machines.insert(row->machine);
            }
            if (sources.size() > 1)
              object.add_raw("source", json_array({sources.begin(), sources.end()}, false));
            else
              object.add("source", sources.empty() ? std::string("unknown") : *sources.begin());
            if (!machines.empty()) object.add_raw("machine_info", json_array({machines.begin(), machines.end()}, true));
            by_spelling[form.op].push_back(object.text());
          }
        }
        for (const auto& [op, configurations] : by_spelling) {
          operations += operations.empty() ? "\n    " : ",\n    ";
          json::append_quoted(operations, op);
          operations += ": {\n      \"configurations\": [";
          for (std::size_t i = 0; i < configurations.size(); ++i) {
            operations += i > 0 ? ",\n        " : "\n        ";
            OPWRIGHT_TRY(append_styled(operations, configurations[i], kStyle, kConfigLevel, document));
          }
          operations += "\n      ]\n    }";
          summary[op] = static_cast<std::int64_t>(configurations.size());
          report.configurations += summary[op];
        }
        return {};
      }));
  const std::set<std::string> sources = sources_of(selected);
  JsonObject metadata;
  metadata.add_raw("models", json_array({sources.begin(), sources.end()}, false))
      .add("unique_operations", static_cast<std::int64_t>(summary.size()))
      .add("total_configurations", report.configurations);
  if (const std::string latest = last_updated(traces); !latest.empty()) metadata.add("last_updated", latest);
  metadata.add_raw("operation_types", summary_json(summary));
  std::string text =
      "{\n  \"operations\": {" + operations + (operations.empty() ? "}" : "\n  }") + ",\n  \"metadata\": ";
  OPWRIGHT_TRY(append_styled(text, metadata.text(), kStyle, 1, document));
  text += "\n}";
  return text;
}

}  // namespace opwright::cli
