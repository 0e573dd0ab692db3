#include "jobs/export_configs.h"

#include <fmt/format.h>

#include "base/json_object.h"
#include "base/words.h"
#include "dialect/dialect.h"
#include "jobs/value_text.h"
#include "normalize/normalize.h"

namespace opwright::jobs {
namespace {

// One configuration a line: what a data tool wants.
std::string jsonl_text(const std::vector<select::Selected>& selected, ExportReport& report) {
  std::string text;
  for (const select::Selected& one : selected) {
    JsonObject object;
    object.add("operation", one.config.op)
        .add("key", to_hex(one.config.key))
        .add("convention", name_of(one.config.convention))
        .add("calls", one.calls)
        .add("uncounted", one.uncounted)
        .add_raw("models", json_array(one.models(), false))
        .add_raw("machines", json_array(one.machines(), false))
        .add_raw("sources", json_array(one.sources(), false))
        .add_raw("arguments", arguments_json(one.config))
        .add("raised", one.raised)
        .add("error", one.error);
    text += object.text() + "\n";
    ++report.configurations;
  }
  return text;
}

std::string csv_text(const std::vector<select::Selected>& selected, ExportReport& report) {
  std::string text = "operation,key,convention,calls,uncounted,models,machines,configuration,raised,error\n";
  const auto joined = [](const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : "; ") + name;
    return all;
  };
  for (const select::Selected& one : selected) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_cell(one.config.op), to_hex(one.config.key),
                        name_of(one.config.convention), one.calls, one.uncounted, csv_cell(joined(one.models())),
                        csv_cell(joined(one.machines())), csv_cell(normalize::canonical_text(one.config)), one.raised,
                        csv_cell(one.error));
    ++report.configurations;
  }
  return text;
}

// A master is where tests come from, and what never returned is no test.
void leave_out_raised(std::vector<select::Selected>& selected, ExportReport& report) {
  const auto left = std::erase_if(selected, [](const select::Selected& one) { return one.only_raised(); });
  if (left > 0) report.left_out["configurations all of whose calls raised"] = static_cast<std::int64_t>(left);
}

// A master is a file of one library's tooling, which would take an operation of another for one of its own.
void leave_out_dialects(std::vector<select::Selected>& selected, ExportReport& report) {
  std::erase_if(selected, [&](const select::Selected& one) {
    const Dialect& dialect = dialect_of(one.config.op);
    if (dialect.in_masters || dialect.name.empty()) return false;
    ++report.not_expressible[fmt::format("of the dialect {}; a master has no place for it (use --to jsonl or csv)",
                                         dialect.name)];
    return true;
  });
}

}  // namespace

Result<ExportedConfigs> export_configs(const ExportOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(options.question.where));
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(options.question.store, options.question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(std::vector<select::Selected> selected, select::select_all(*reader, selector, select::kAllOfIt));
  OPWRIGHT_TRY_ASSIGN(const auto traces, reader->traces());
  ExportedConfigs out;
  const bool is_master = options.format == ExportFormat::kMaster || options.format == ExportFormat::kMaster1;
  if (is_master && !options.include_raised) leave_out_raised(selected, out.report);
  if (is_master) leave_out_dialects(selected, out.report);
  switch (options.format) {
    case ExportFormat::kMaster: {
      OPWRIGHT_TRY_ASSIGN(out.text, master_era2(selected, traces, options.generation, out.report));
      break;
    }
    case ExportFormat::kMaster1: {
      OPWRIGHT_TRY_ASSIGN(out.text, master_era1(selected, traces, out.report));
      break;
    }
    case ExportFormat::kJsonl:
      out.text = jsonl_text(selected, out.report);
      break;
    case ExportFormat::kCsv:
      out.text = csv_text(selected, out.report);
      break;
  }
  return out;
}

}  // namespace opwright::jobs
