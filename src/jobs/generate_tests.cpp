#include "jobs/generate_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/input.h"
#include "gentest/case_files.h"
#include "gentest/pytest_files.h"
#include "jobs/look_at_results.h"
#include "jobs/recorded_returns.h"
#include "launch/temp_folder.h"
#include "normalize/op_filter.h"
#include "vectors/traced.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

// The keys of what failed in a run.
Result<std::set<std::string>> failed_keys(const GenerateOptions& options) {
  const ResultsQuestion question{options.question.store, options.question.wait_ms, {}};
  OPWRIGHT_TRY_ASSIGN(const RunResults run, RunResults::open(question, options.failed_run));
  report::ResultFilter failed;
  failed.outcomes = {"failure"};
  std::set<std::string> keys;
  OPWRIGHT_TRY(run.stream()([&](CaseRecord&& record) -> Status {
    if (!record.key.empty() && failed.matches(record)) keys.insert(std::move(record.key));
    return {};
  }));
  return keys;
}

Status no_match(store::Reader& reader, const GenerateOptions& options) {
  OPWRIGHT_TRY(check_operations(reader, options.ops));
  if (!options.failed_run.empty())
    return fail(
        ErrorCode::kNotFound,
        fmt::format("--failed {}: nothing of that run that failed matches; no test was written", options.failed_run));
  return fail(ErrorCode::kNotFound, "no configuration matches; no test was written (opwright ops lists what is there)");
}

Result<std::vector<gentest::Recorded>> choose(store::Reader& reader, const GenerateOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector where, parse_where(options.question.where));
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, vectors::with_ops(where, options.ops));
  std::set<std::string> failed;
  if (!options.failed_run.empty()) {
    OPWRIGHT_TRY_ASSIGN(failed, failed_keys(options));
  }
  OPWRIGHT_TRY_ASSIGN(const RecordedReturns returns, RecordedReturns::read(reader));
  std::vector<gentest::Recorded> chosen;
  constexpr select::Wanted kWanted{.arguments = true, .error = true};
  OPWRIGHT_TRY(select::for_each_selected(reader, selector, kWanted, [&](select::Selected&& one) -> Status {
    gentest::Recorded recorded;
    recorded.key = to_hex(one.config.key);
    if (!options.failed_run.empty() && !failed.contains(recorded.key)) return {};
    recorded.calls = one.calls;
    recorded.models = fmt::format("{}", fmt::join(one.models(), ", "));
    recorded.machine = fmt::format("{}", fmt::join(one.machines(), ", "));
    if (one.only_raised()) recorded.raised = one.error.empty() ? "an error" : std::move(one.error);
    recorded.returns = returns.of(recorded.key);
    recorded.config = std::move(one.config);
    chosen.push_back(std::move(recorded));
    return {};
  }));
  if (chosen.empty()) OPWRIGHT_TRY(no_match(reader, options));
  std::ranges::sort(chosen, {}, [](const gentest::Recorded& one) { return std::tie(one.config.op, one.key); });
  return chosen;
}

struct Pending {
  std::string name, text;
  bool changed = true;
};

Result<std::string> read_whole(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path, Input::Take::kRegular));
  OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
  return std::string(text.view());
}

Result<Pending> prepare(const gentest::GeneratedFile& file, const GenerateOptions& options, GenerateReport& report) {
  const std::string path = (fs::path(options.folder) / file.name).string();
  Pending pending{file.name, gentest::file_of(file.blocks, file.comment), true};
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return pending;
  OPWRIGHT_TRY_ASSIGN(const std::string existing, read_whole(path));
  if (existing == pending.text) {
    pending.changed = false;
    return pending;
  }
  if (!options.update)
    return fail(ErrorCode::kUsage,
                fmt::format("{}: is there already; --update rewrites our blocks in it and keeps the rest", path));
  OPWRIGHT_TRY_ASSIGN(gentest::Updated updated, gentest::update_blocks(existing, file.blocks, file.comment, path));
  report.blocks_removed += updated.removed;
  pending.changed = updated.text != existing;
  pending.text = std::move(updated.text);
  return pending;
}

// Test files that nothing was generated for: perhaps of another selection, perhaps somebody's own. They stay.
std::vector<std::string> left_in(const GenerateOptions& options, const std::vector<Pending>& files) {
  std::vector<std::string> left;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_test = name.starts_with("test_") && name.ends_with(".py");
    if (is_test && std::ranges::find(files, name, &Pending::name) == files.end()) left.push_back(name);
  }
  std::ranges::sort(left);
  return left;
}

Status write_files(const std::vector<gentest::GeneratedFile>& files, const GenerateOptions& options,
                   GenerateReport& report) {
  std::vector<Pending> pending;
  for (const gentest::GeneratedFile& file : files) {
    OPWRIGHT_TRY_ASSIGN(Pending one, prepare(file, options, report));
    pending.push_back(std::move(one));
  }
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: cannot be made: {}", options.folder, error.message()));
  if (!fs::is_directory(options.folder))
    return fail(ErrorCode::kIo, fmt::format("{}: is no folder; name one with -o DIR", options.folder));
  for (const Pending& one : pending) {
    if (one.changed) OPWRIGHT_TRY(write_into(options.folder, one.name, one.text));
    (one.changed ? report.written : report.unchanged).push_back(one.name);
  }
  report.left = left_in(options, pending);
  return {};
}

Result<GenerateReport> generate_from(const std::string& store, const GenerateOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(store, options.question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::vector<gentest::Recorded> recorded, choose(*reader, options));
  gentest::Generated made =
      options.kind == TestKind::kPytest ? gentest::pytest_files(recorded) : gentest::case_files(recorded);
  GenerateReport report;
  for (const auto& [op, counts] : made.operations) {
    report.configurations += counts.configurations;
    report.generated += counts.generated;
    report.expected_to_fail += counts.expected_to_fail;
  }
  report.operations = std::move(made.operations);
  report.not_generated = std::move(made.not_generated);
  report.examples = std::move(made.examples);
  report.references = std::move(made.references);
  OPWRIGHT_TRY(write_files(made.files, options, report));
  return report;
}

}  // namespace

Result<GenerateReport> generate_tests(const GenerateOptions& options) {
  if (options.paths.empty()) return generate_from(options.question.store, options);
  if (!options.failed_run.empty())
    return fail(ErrorCode::kUsage, "--failed: a run is in a store; name it with --store, and no trace beside it");
  OPWRIGHT_TRY_ASSIGN(const launch::TempFolder folder, launch::TempFolder::make("opwright-gentest-"));
  IngestOptions import;
  import.store = (fs::path(folder.path()) / "store.db").string();
  import.wait_ms = options.question.wait_ms;
  import.filter.all_ops = options.all_ops;
  import.read.include_failed = options.include_failed;
  OPWRIGHT_TRY_ASSIGN(ImportReport imported, ingest(options.paths, import));
  OPWRIGHT_TRY_ASSIGN(GenerateReport report, generate_from(import.store, options));
  report.imported = std::move(imported);
  return report;
}

}  // namespace opwright::jobs
