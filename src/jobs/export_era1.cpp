#include <map>
#include <set>

#include "base/json_object.h"
#include "format/master/value_writer.h"
#include "jobs/export_master.h"
#include "jobs/export_style.h"

namespace opwright::jobs {
namespace {

constexpr json::Style kStyle{.sort_keys = false, .indent = 2};

std::string arguments_json(const OpConfig& config, const store::FormRow& form) {
  if (form.kind == FormKind::kEra1) return form.text;
  json::Document document;
  const auto root = document.parse(form.text);
  return format::era1_arguments(config, form.kind, root ? **root : json::Node{});
}

std::string configuration_json(const select::Selected& selected, const store::FormRow& form) {
  std::set<std::string> sources, machines;
  for (const store::OccurrenceRow& row : selected.occurrences) {
    if (row.form != form.id) continue;
    if (!row.source.empty()) sources.insert(row.source);
    if (!row.machine.empty()) machines.insert(row.machine);
  }
  JsonObject object;
  object.add_raw("arguments", arguments_json(selected.config, form));
  if (sources.size() > 1)
    object.add_raw("source", json_array({sources.begin(), sources.end()}, false));
  else
    object.add("source", sources.empty() ? std::string("unknown") : *sources.begin());
  if (!machines.empty()) object.add_raw("machine_info", json_array({machines.begin(), machines.end()}, true));
  return object.text();
}

}  // namespace

Result<std::string> master_era1(const std::vector<select::Selected>& selected,
                                const std::vector<store::TraceRow>& traces, ExportReport& report) {
  std::map<std::string, std::vector<std::string>> by_op;  // as the traces spell it: ttnn::add
  for (const select::Selected& one : selected) {
    for (const store::FormRow& form : one.forms) {
      if (one.config.convention == Convention::kCpp)
        by_op[form.op].push_back(configuration_json(one, form));
      else
        ++report.not_expressible["recorded at the Python level; an era-1 master holds C++ arguments (use --to master)"];
    }
  }
  json::Document document;
  OperationsText operations;
  for (const auto& [op, configurations] : by_op) {
    operations.begin(op);
    for (const std::string& configuration : configurations) {
      OPWRIGHT_TRY(append_styled(operations.next(), configuration, kStyle, kConfigLevel, document));
      ++report.configurations;
    }
    operations.end();
  }
  JsonObject metadata;
  metadata.add_raw("models", sources_json(selected))
      .add("unique_operations", operations.count())
      .add("total_configurations", report.configurations);
  if (const std::string latest = last_updated(traces); !latest.empty()) metadata.add("last_updated", latest);
  metadata.add_raw("operation_types", operations.summary_json());
  std::string text = "{\n  \"operations\": " + operations.text() + ",\n  \"metadata\": ";
  OPWRIGHT_TRY(append_styled(text, metadata.text(), kStyle, 1, document));
  return text + "\n}";
}

}  // namespace opwright::jobs
