#include <fmt/format.h>

#include <array>

#include "base/input.h"
#include "base/near_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "cli/vectors_export.h"
#include "jobs/export_configs.h"
#include "jobs/export_parquet.h"
#include "jobs/make_vectors.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--to", "FORMAT", "master (era 2), master1 (era 1), jsonl, csv, parquet, vectors (a folder)"},
    Flag{"--output", "FILE", "write to FILE (short: -o), whole or not at all; default standard output"},
    kWhereFlag,
    Flag{"--include-raised", "", "master and master1: also configurations all of whose calls raised"},
    Flag{"--hash-generation", "G", "master: rules of hashes that no file has yet, G0 to G5; default G5, the newest"},
    Flag{"--python", "PATH", "parquet: a Python with pyarrow (default: python3 or python on PATH)"},
    kWaitFlag,
};
constexpr std::array<std::string_view, 6> kFormats{"master", "master1", "jsonl", "csv", "parquet", "vectors"};
constexpr std::string_view kChoose = "choose master, master1, jsonl, csv, parquet or vectors";
constexpr std::array<std::string_view, 2> kLater{"per-op", "native"};

Result<normalize::Generation> generation_of(const ParsedArgs& args) {
  const std::string name = args.value("--hash-generation", "G5");
  for (int g = 0; g < normalize::kGenerations; ++g) {
    if (normalize::name_of(static_cast<normalize::Generation>(g)) == name) return static_cast<normalize::Generation>(g);
  }
  return fail(ErrorCode::kUsage,
              fmt::format("--hash-generation {}: no such generation; G0 to G5 (docs/formats/config-hash.md)", name));
}

// Suite model_traced, as `vectors --export` writes it.
Result<int> export_vectors(const ParsedArgs& args, CommandEnv& env) {
  const std::string folder = args.value("--output");
  if (folder.empty()) return fail(ErrorCode::kUsage, "--to vectors writes files into a folder: add -o DIR");
  jobs::VectorsRequest request;
  OPWRIGHT_TRY_ASSIGN(request.question, question_of(args, env));
  request.suite.group = vectors::GroupBy::kMesh;
  request.folder = folder;
  OPWRIGHT_TRY_ASSIGN(const jobs::VectorsReport made, jobs::make_vectors(request));
  const vectors::SweepReport& report = *made.written;
  print_object(export_json(report, folder),
               {{"folder", folder},
                {"vectors", std::to_string(report.vectors)},
                {"files", std::to_string(report.files.size())},
                {"bytes", std::to_string(report.bytes)}},
               export_text(report, folder), env);
  return kExitOk;
}

Result<int> export_parquet(const ParsedArgs& args, CommandEnv& env) {
  const std::string file = args.value("--output");
  if (file.empty()) return fail(ErrorCode::kUsage, "--to parquet writes a file: add -o FILE");
  OPWRIGHT_TRY_ASSIGN(const jobs::Question question, question_of(args, env));
  OPWRIGHT_TRY(selector_of(args));
  OPWRIGHT_TRY(open_store(args, env));  // what is wrong with the store is said here, and in our words
  env.out << std::flush;
  return jobs::export_parquet(question, file, args.value("--python"));
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string to = args.value("--to", "master");
  if (std::find(kLater.begin(), kLater.end(), to) != kLater.end())
    return fail(ErrorCode::kUnsupported, fmt::format("--to {}: not in this version; {}", to, kChoose));
  if (std::find(kFormats.begin(), kFormats.end(), to) == kFormats.end()) {
    const auto near = near_names(to, kFormats);
    return fail(ErrorCode::kUsage,
                fmt::format("--to {}: no such format{} {}", to, near.empty() ? ";" : did_you_mean(near), kChoose));
  }
  if (args.is_set("--hash-generation") && to != "master")
    return fail(ErrorCode::kUsage, "--hash-generation: only an era-2 master has hashes (--to master)");
  OPWRIGHT_TRY_ASSIGN(const normalize::Generation generation, generation_of(args));
  if (to == "vectors") return export_vectors(args, env);
  if (to == "parquet") return export_parquet(args, env);
  jobs::ExportOptions options;
  OPWRIGHT_TRY_ASSIGN(options.question, question_of(args, env));
  options.format = to == "master"    ? jobs::ExportFormat::kMaster
                   : to == "master1" ? jobs::ExportFormat::kMaster1
                   : to == "jsonl"   ? jobs::ExportFormat::kJsonl
                                     : jobs::ExportFormat::kCsv;
  options.include_raised = args.is_set("--include-raised");
  options.generation = generation;
  OPWRIGHT_TRY_ASSIGN(const jobs::ExportedConfigs exported, jobs::export_configs(options));
  const std::string& text = exported.text;
  const jobs::ExportReport& report = exported.report;
  const std::string file = args.value("--output");
  if (file.empty()) {
    env.out << text;
    if (env.out_is_terminal && !text.ends_with('\n')) env.out << '\n';
  } else {
    OPWRIGHT_TRY(write_atomically(file, text));
    JsonObject object;
    object.add("file", file)
        .add("format", to)
        .add("configurations", report.configurations)
        .add("bytes", static_cast<std::int64_t>(text.size()));
    object.add_raw("not_expressible", counts_json(report.not_expressible))
        .add_raw("left_out", counts_json(report.left_out))
        .add("without_board", report.without_board);
    print_object(object,
                 {{"file", file},
                  {"format", to},
                  {"configurations", std::to_string(report.configurations)},
                  {"bytes", std::to_string(text.size())}},
                 fmt::format("{}: {}, {}\n", file, plural(report.configurations, "configuration"),
                             size_text(static_cast<std::int64_t>(text.size()))),
                 env);
  }
  for (const auto& [reason, count] : report.not_expressible)
    env.err << fmt::format("opwright: {} not written: {}\n", plural(count, "configuration"), reason);
  if (report.without_board > 0) {
    env.err << fmt::format(
        "opwright: the board of {} is not known: the existing database does not take {} (docs/formats/master.md)\n",
        plural(report.without_board, "configuration"), report.without_board == 1 ? "it" : "them");
  }
  for (const auto& [what, count] : report.left_out) {
    env.err << fmt::format("opwright: {} not written: every call raised (--include-raised writes {})\n",
                           plural(count, "configuration"), count == 1 ? "it" : "them");
  }
  return kExitOk;
}

}  // namespace

const Command kExport{
    "export",
    "Write configurations in a format that other tools read.",
    "master and master1 are the files of the existing tooling, in its own text style; jsonl and csv "
    "are for data tools;\nparquet is a table with a column for each property of each tensor, written by the "
    "Python package with pyarrow;\nvectors is what 'opwright vectors --export' writes, where suites can be "
    "chosen.\n\n"
    "  opwright export --to master -o ttnn_operations_master.json\n"
    "  opwright export --to master1 --where 'op=add'\n"
    "  opwright export --to csv -o all.csv\n"
    "  opwright export --to parquet -o all.parquet\n"
    "  opwright export --to vectors -o vectors_export",
    "",
    0,
    0,
    kFlags,
    run};

}  // namespace opwright::cli
