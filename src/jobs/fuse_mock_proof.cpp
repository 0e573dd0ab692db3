#include "jobs/fuse_mock_proof.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/input.h"
#include "base/json_object.h"
#include "format/native/native_trace.h"
#include "jobs/replay_trace.h"
#include "jobs/trace_program.h"
#include "launch/temp_folder.h"

namespace opwright::jobs {
namespace {

// Runs pytest with its output in a file: what is proven is for a report, not for a terminal.
constexpr std::string_view kRunner =
    "import os, sys\n"
    "out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)\n"
    "os.dup2(out, 1)\n"
    "os.dup2(out, 2)\n"
    "import pytest\n"
    "sys.exit(pytest.main(['-q', '-rs', '-p', 'no:cacheprovider', *sys.argv[2:]]))\n";

std::int64_t count_of(const TraceSummary& summary, const std::string& outcome) {
  const auto found = summary.tests.find(outcome);
  return found == summary.tests.end() ? 0 : found->second;
}

}  // namespace

bool MockProof::holds() const { return why_not().empty(); }

std::string MockProof::why_not() const {
  if (failed > 0) return fmt::format("{} of {} tests failed on the mock board", failed, failed + passed);
  if (exit_status != 0) return fmt::format("pytest ended with status {}", exit_status);
  if (passed == 0) return "no test ran on the mock board";
  if (!drift.no_match.empty()) return "the recorded run does not have the sequence: " + drift.no_match;
  if (!drift.missing.empty()) return fmt::format("the parameters {} were not called", drift.missing.front());
  if (!drift.drifts.empty()) {
    const fuse::Drift& first = drift.drifts.front();
    return fmt::format("{}, call {} ({}): {} is {} in the module and {} in the test ({} such difference{})", first.set,
                       first.call, first.op, first.field, first.test, first.trace, drift.drifts.size(),
                       drift.drifts.size() == 1 ? "" : "s");
  }
  if (drift.equal != drift.matches)
    return fmt::format("{} of {} runs of the sequence are as the module's", drift.equal, drift.matches);
  return "";
}

Result<MockProof> prove_on_mock(const fuse::FusedTest& test, const MockProofRequest& request) {
  OPWRIGHT_TRY_ASSIGN(const launch::TempFolder folder, launch::TempFolder::make("opwright-fuse-mock-"));
  const std::string log = folder.path() + "/pytest.log";
  const std::string python = request.python.empty() ? "python3" : request.python;
  const TracedItem item{{python, "-c", std::string(kRunner), log, request.file}, request.file};
  TraceRequest trace;
  trace.folder = folder.path() + "/trace";
  trace.mock = request.board;
  OPWRIGHT_TRY_ASSIGN(TracedOutcome outcome, run_traced(item, 0, trace, {}));
  const TraceSummary summary = summarize(outcome.folder);
  MockProof proof;
  proof.exit_status = outcome.ended.status;
  proof.passed = count_of(summary, "passed");
  proof.failed = count_of(summary, "failed") + count_of(summary, "error");
  proof.skipped = count_of(summary, "skipped");
  proof.calls = summary.calls;
  OPWRIGHT_TRY(read_file(log, proof.output));
  if (summary.files.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: nothing was recorded; pytest says: {}", request.file, proof.output));
  OPWRIGHT_TRY_ASSIGN(RecordedTrace recorded, open_recorded(outcome.folder, "", 0));
  OPWRIGHT_TRY_ASSIGN(proof.drift, fuse::find_drift(recorded.trace, test));
  return proof;
}

Status mock_stage(const fuse::FusedTest& test, const MockProofRequest& request, fuse::Section& section) {
  section.status = fuse::StageStatus::kFail;
  if (!std::filesystem::is_regular_file(request.file)) {
    section.reason = "no test file was written: see emit";
    return {};
  }
  OPWRIGHT_TRY_ASSIGN(const MockProof proof, prove_on_mock(test, request));
  section.reason = proof.why_not();
  if (proof.holds()) section.status = fuse::StageStatus::kPass;
  section.metrics = JsonObject()
                        .add("passed", proof.passed)
                        .add("failed", proof.failed)
                        .add("skipped", proof.skipped)
                        .add("calls", proof.calls)
                        .add("matches", proof.drift.matches)
                        .add("equal", proof.drift.equal)
                        .text();
  section.evidence = fmt::format(
      "{} tests passed, {} failed, {} skipped; {} calls recorded; {} of {} runs of the sequence as the module's, field "
      "by field\n",
      proof.passed, proof.failed, proof.skipped, proof.calls, proof.drift.equal, proof.drift.matches);
  for (const fuse::Drift& one : proof.drift.drifts)
    section.evidence += fmt::format("{} call {} {} {}: module {}, test {} ({} runs)\n", one.set, one.call + 1, one.op,
                                    one.field, one.test, one.trace, one.matches);
  section.evidence += "\n" + proof.output;
  return {};
}

}  // namespace opwright::jobs
