#include "cli/device_conform.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/device_flags.h"
#include "cli/output.h"
#include "jobs/conform_device.h"
#include "jobs/ending.h"

namespace opwright::cli {
namespace {

std::string percent(const Agreement& agreement) {
  if (agreement.agree + agreement.disagree == 0) return "";
  return fmt::format("{:.1f} %", 100.0 * agreement.share());
}

std::string agreement_json(const Agreement& agreement) {
  return JsonObject().add("agree", agreement.agree).add("disagree", agreement.disagree).text();
}

std::string values_json(const ValueAgreement& values) {
  return JsonObject().add("exact", values.exact).add("within", values.within).add("beyond", values.beyond).text();
}

std::string agreements_json(const std::map<std::string, Agreement>& agreements) {
  JsonObject object;
  for (const auto& [name, agreement] : agreements) object.add_raw(name, agreement_json(agreement));
  return object.text();
}

JsonObject report_json(const ConformReport& report) {
  std::vector<std::string> per_op;
  for (const auto& [name, op] : report.per_op)
    per_op.push_back(JsonObject()
                         .add("operation", name)
                         .add("cases", op.cases)
                         .add_raw("outcome", agreement_json(op.outcome))
                         .add_raw("specs", agreement_json(op.specs))
                         .add_raw("values", values_json(op.values))
                         .add("elements", op.elements)
                         .add("exact_elements", op.exact_elements)
                         .text());
  std::vector<std::string> disagreements;
  for (const Disagreement& one : report.disagreements)
    disagreements.push_back(JsonObject()
                                .add("id", one.id)
                                .add("operation", one.op)
                                .add("what", one.what)
                                .add("kind", one.kind)
                                .add("text", one.text)
                                .add("repeat", one.repeat)
                                .text());
  return JsonObject()
      .add("cases", report.cases)
      .add_raw("skipped", counts_json(report.skipped))
      .add_raw("outcome", agreement_json(report.total.outcome))
      .add_raw("specs", agreement_json(report.total.specs))
      .add_raw("values", values_json(report.total.values))
      .add_raw("fields", agreements_json(report.fields))
      .add_raw("uncounted", agreements_json(report.uncounted))
      .add("agreed_unsupported", report.agreed_unsupported)
      .add_raw("per_op", json_array(per_op, true))
      .add_raw("disagreements", json_array(disagreements, true));
}

void print_report(const ConformReport& report, std::size_t list, CommandEnv& env) {
  Table table{{{"operation"},
               {"cases", true},
               {"outcome", true},
               {"of", true},
               {"specs", true},
               {"of", true},
               {"exact", true},
               {"within", true},
               {"beyond", true},
               {"bit-exact", true}},
              {}};
  const auto row = [&](std::string name, const OpAgreement& op) {
    const auto value = [&](std::int64_t count) {
      return op.values.exact + op.values.within + op.values.beyond == 0 ? std::string() : std::to_string(count);
    };
    const auto of = [](const Agreement& a) {
      return a.agree + a.disagree == 0 ? std::string() : std::to_string(a.agree + a.disagree);
    };
    table.rows.push_back({std::move(name), grouped(op.cases), percent(op.outcome), of(op.outcome), percent(op.specs),
                          of(op.specs), value(op.values.exact), value(op.values.within), value(op.values.beyond),
                          op.elements == 0 ? std::string()
                                           : fmt::format("{:.1f} %", 100.0 * static_cast<double>(op.exact_elements) /
                                                                         static_cast<double>(op.elements))});
  };
  for (const auto& [name, op] : report.per_op) row(name, op);
  row("all", report.total);
  print(table, env);
  for (const auto& [name, agreement] : report.uncounted)
    env.out << fmt::format("not counted: {} of kind {}, {} agree\n",
                           plural(agreement.agree + agreement.disagree, "case"), name, percent(agreement));
  if (report.agreed_unsupported > 0)
    env.out << fmt::format("of the equal outcomes {} are refusals because nothing here handles the call, not a rule\n",
                           grouped(report.agreed_unsupported));
  std::string fields;
  for (const auto& [name, agreement] : report.fields)
    if (agreement.disagree > 0)
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", name, grouped(agreement.disagree));
  if (!fields.empty()) env.out << "fields that differ: " << fields << '\n';
  std::int64_t skipped = 0;
  for (const auto& [reason, count] : report.skipped) skipped += count;
  if (skipped > 0) env.out << fmt::format("skipped: {}: {}\n", plural(skipped, "case"), count_list(report.skipped, 5));
  for (std::size_t i = 0; i < std::min(list, report.disagreements.size()); ++i) {
    const Disagreement& one = report.disagreements[i];
    env.out << fmt::format("\n{} {} {}{}\n  {}\n  repeat: {}\n", one.what, one.op, one.id,
                           one.kind.empty() ? "" : " (" + one.kind + ")", one.text, one.repeat);
  }
  if (report.disagreements.size() > list)
    env.out << fmt::format("\nand {} more disagreements (--list N shows more, --format json all)\n",
                           report.disagreements.size() - list);
}

}  // namespace

Result<int> run_conform(const ParsedArgs& args, CommandEnv& env) {
  jobs::ConformOptions options;
  options.device = args.value("--device", options.device);
  options.files = args.all("--oracle");
  options.files.insert(options.files.end(), args.positionals.begin() + 1, args.positionals.end());
  if (options.files.empty()) return fail(ErrorCode::kUsage, "device conform needs --oracle FILE…");
  options.ops = args.all("--op");
  OPWRIGHT_TRY_ASSIGN(const std::size_t list, count_of(args, "--list", 10));
  if (jobs::is_device_program(options.device)) {
    OPWRIGHT_TRY_ASSIGN(options.program, program_settings_of(args));
  }
  OPWRIGHT_TRY_ASSIGN(const ConformReport report, jobs::conform_device(options));
  if (env.format == OutputFormat::kTable)
    print_report(report, list, env);
  else
    print_object(report_json(report), {}, "", env);
  return jobs::exit_code(jobs::ending_of(report));
}

}  // namespace opwright::cli
