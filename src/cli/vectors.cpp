#include <fmt/format.h>

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "cli/vectors_export.h"
#include "jobs/make_vectors.h"
#include "vectors/suites.h"
#include "vectors/validity.h"
#include "vectors/vector_line.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kWhereFlag,
    Flag{"--op", "OP", "only this operation, e.g. add, ttnn.add (may be repeated)", true},
    Flag{"--suite", "NAME", "model_traced (default), all_cases, sample; with --suites one of the file"},
    Flag{"--suites", "FILE", "suites of a YAML file instead of the store's (docs/formats/vectors.md)"},
    Flag{"--from", "PATH",
         "vectors of PATH instead: a vector file, a folder with a manifest, or lines of --format jsonl"},
    Flag{"--limit", "N", "make at most N combinations (default 100000)"},
    Flag{"--count", "N", "vectors of suite sample (default 100)"},
    Flag{"--seed", "N", "of suite sample and of the input data (default 1)"},
    Flag{"--randomize", "SEED", "shuffle the vectors"},
    Flag{"--dedupe", "", "one vector for equal inputs and parameters, whichever era or form recorded them"},
    Flag{"--group-by", "G",
         "mesh, hw or none: one vector for each mesh or hardware (default none, with --export mesh)"},
    Flag{"--export", "DIR", "write vector files of the existing tooling and generation_manifest.json"},
    Flag{"--tag", "T", "of exported vectors (default $USER)"},
    kWaitFlag,
};

constexpr char kDetails[] =
    "  opwright vectors\n"
    "  opwright vectors --op add --suite all_cases\n"
    "  opwright vectors --suite sample --count 50 --format jsonl\n"
    "  opwright vectors --suites my.yaml --export vectors_export\n"
    "  opwright vectors --from vectors_export --op add\n\n"
    "model_traced has exactly the recorded configurations, all_cases every combination of the values that an "
    "operation\n"
    "was recorded with, sample some of model_traced, spread over the operations. Vectors that break a validity rule "
    "are\n"
    "kept, with the reason. With --format jsonl each vector is a line, which 'run --vectors FILE' takes; it takes an\n"
    "exported folder or file too.";

Result<vectors::SuiteOptions> options_of(const ParsedArgs& args, CommandEnv& env) {
  vectors::SuiteOptions options;
  options.file = args.value("--suites");
  options.vectors = args.value("--from");
  if (!options.file.empty() && !options.vectors.empty())
    return fail(ErrorCode::kUsage, "--suites and --from: choose one of them");
  const bool of_store = options.file.empty() && options.vectors.empty();
  options.suite = args.value("--suite", of_store ? options.suite : "");
  options.ops = args.all("--op");
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", vectors::kDefaultLimit));
  OPWRIGHT_TRY_ASSIGN(const std::size_t count, count_of(args, "--count", 100));
  OPWRIGHT_TRY_ASSIGN(const std::size_t seed, count_of(args, "--seed", 1));
  options.limit = static_cast<std::int64_t>(limit);
  options.count = static_cast<std::int64_t>(count);
  options.seed = seed;
  if (!args.value("--count").empty() && options.suite != "sample")
    return fail(ErrorCode::kUsage, "--count: only suite sample has one; add --suite sample");
  if (!args.value("--randomize").empty()) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t random, count_of(args, "--randomize", 0));
    options.randomize = random;
  }
  options.dedupe = args.is_set("--dedupe");
  const std::string group = args.value("--group-by", args.value("--export").empty() ? "none" : "mesh");
  const auto by = vectors::parse_group_by(group);
  if (!by) return fail(ErrorCode::kUsage, fmt::format("--group-by {}: choose mesh, hw or none", group));
  options.group = *by;
  if (!args.value("--tag").empty() && args.value("--export").empty())
    return fail(ErrorCode::kUsage, "--tag: exported vectors have one; add --export DIR");
  options.announce = [&env](std::int64_t vectors, std::size_t operations) {
    env.err << fmt::format("opwright: {} of {}\n", plural(vectors, "combination"),
                           plural(static_cast<std::int64_t>(operations), "operation"));
  };
  return options;
}

std::string rules_text(const std::map<std::string, std::int64_t>& invalid) {
  std::string text;
  for (const auto& [rule, count] : by_count(invalid))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rule, count);
  return text;
}

Table summary_table(const vectors::SuiteReport& report) {
  const vectors::SuiteCounts total = report.total();
  Table table{{{"suite"},
               {"operation"},
               {"vectors", true},
               {"invalid", true, total.invalid_total() > 0},
               {"merged", true, total.merged > 0},
               {"rules", false, total.invalid_total() > 0}},
              {}};
  for (const auto& [name, counts] : report.counts)
    table.rows.push_back({name.first, name.second, counts.vectors, counts.invalid_total(), counts.merged,
                          Cell(rules_text(counts.invalid), counts_json(counts.invalid))});
  return table;
}

void print_summary(const vectors::SuiteReport& report, const vectors::SweepReport* written, const std::string& folder,
                   CommandEnv& env) {
  const vectors::SuiteCounts total = report.total();
  if (env.format == OutputFormat::kJson) {
    std::vector<std::string> rows;
    for (const auto& [name, counts] : report.counts)
      rows.push_back(JsonObject()
                         .add("suite", name.first)
                         .add("operation", name.second)
                         .add("vectors", counts.vectors)
                         .add_raw("invalid", counts_json(counts.invalid))
                         .add("merged", counts.merged)
                         .text());
    JsonObject object;
    object.add("vectors", total.vectors)
        .add("valid", total.vectors - total.invalid_total())
        .add_raw("invalid", counts_json(total.invalid))
        .add("merged", total.merged)
        .add_raw("operations", json_array(rows, true));
    if (written != nullptr) object.add_raw("export", export_json(*written, folder).text());
    env.out << object.text() << '\n';
    return;
  }
  if (report.counts.empty() && env.format == OutputFormat::kTable)
    env.out << "no configuration matches\n";
  else
    print(summary_table(report), env);
  if (env.format != OutputFormat::kTable) return;
  if (!report.counts.empty()) {
    env.out << fmt::format("{}{}{}\n", plural(total.vectors, "vector"),
                           total.invalid_total() > 0
                               ? fmt::format(", {} invalid ({})", total.invalid_total(), rules_text(total.invalid))
                               : "",
                           total.merged > 0 ? fmt::format(", {} merged into equal ones", total.merged) : "");
  }
  if (written != nullptr) env.out << export_text(*written, folder);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  jobs::VectorsRequest request;
  OPWRIGHT_TRY_ASSIGN(request.question, question_of(args, env));
  OPWRIGHT_TRY_ASSIGN(request.suite, options_of(args, env));
  request.folder = args.value("--export");
  request.tag = args.value("--tag");
  const bool lines = env.format == OutputFormat::kJsonl;
  if (lines) request.each = [&](const vectors::TestVector& vector) { env.out << vectors::to_line(vector) << '\n'; };
  OPWRIGHT_TRY_ASSIGN(const jobs::VectorsReport report, jobs::make_vectors(request));
  if (!lines) print_summary(report.made, report.written ? &*report.written : nullptr, request.folder, env);
  return kExitOk;
}

}  // namespace

JsonObject export_json(const vectors::SweepReport& report, const std::string& folder) {
  JsonObject object;
  object.add("folder", folder)
      .add("vectors", report.vectors)
      .add_raw("files", json_array(report.files, false))
      .add("written", report.written)
      .add("unchanged", static_cast<std::int64_t>(report.files.size()) - report.written)
      .add("bytes", report.bytes)
      .add_raw("as_case_lines", counts_json(report.as_case_lines))
      .add_raw("notes", counts_json(report.notes));
  return object;
}

std::string export_text(const vectors::SweepReport& report, const std::string& folder) {
  const auto files = static_cast<std::int64_t>(report.files.size());
  std::string text =
      fmt::format("{}: {} in {}: {} written ({}), {} unchanged\n", folder, plural(report.vectors, "vector"),
                  plural(files, "file"), report.written, size_text(report.bytes), files - report.written);
  for (const auto& [reason, count] : report.as_case_lines)
    text += fmt::format("  {} written as {}: {}\n", plural(count, "vector"), count == 1 ? "a case line" : "case lines",
                        reason);
  for (const auto& [reason, count] : report.notes)
    text += fmt::format("  {} with {}\n", plural(count, "vector"), reason);
  return text;
}

const Command kVectors{"vectors", "Make test vectors from configurations, and write them as files.",
                       kDetails,  "",
                       0,         0,
                       kFlags,    run,
                       false,     true};

}  // namespace opwright::cli
