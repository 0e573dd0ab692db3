#include <fmt/format.h>

#include "base/atomic_file.h"
#include "report/analysis.h"
#include "report/exports.h"
#include "report/markup.h"

namespace opwright::report {
namespace {

struct Suite {
  std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  std::string timestamp;
  std::string cases;
};

// A wrong answer is a failure; a case that could not be carried through is an error, as JUnit means the two.
bool is_error(Outcome outcome) {
  return outcome == Outcome::kCrashed || outcome == Outcome::kTimedOut || outcome == Outcome::kHostMemory ||
         outcome == Outcome::kHarnessError || outcome == Outcome::kDeviceError;
}

std::string evidence_of(const CaseRecord& record) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, value);
  };
  line("case", record.line);
  line("repeat", record.repeat);
  line("outcome", name_of(record.outcome));
  line("blame", name_of(record.blame));
  line("evidence", record.evidence);
  line("notes", record.notes);
  line("differences", record.differences);
  line("unnoticed faults", record.unnoticed);
  line("disagreement", record.disagreement);
  if (record.pcc) line("PCC", fmt::format("{}", *record.pcc));
  if (record.ulp) line("ULP", fmt::format("{}", *record.ulp));
  if (record.bound_used) line("error as a share of its bound", fmt::format("{}", *record.bound_used));
  line("models", record.models);
  if (record.calls > 0) line("calls", std::to_string(record.calls));
  return text;
}

enum class Element : std::uint8_t { kNone, kFailure, kError, kSkipped };

Element element_of(Outcome outcome, bool is_strict) {
  if (is_unproven(outcome)) return is_strict ? Element::kFailure : Element::kSkipped;
  switch (standing_of(outcome)) {
    case Standing::kPassed:
    case Standing::kUndecided:  // JUnit has no word for it: the text beside it says what it is
      return Element::kNone;
    case Standing::kFailed:
      return is_error(outcome) ? Element::kError : Element::kFailure;
    case Standing::kNoAnswer:
      return Element::kSkipped;
  }
  return Element::kNone;
}

void add(Suite& suite, const CaseRecord& record, bool is_strict) {
  ++suite.tests;
  suite.seconds += record.wall_seconds;
  if (suite.timestamp.empty()) suite.timestamp = record.started.substr(0, 19);
  // The id of the vector tells two cases with the same line apart, and is the same in every run: servers follow a test
  // by its name.
  const std::string id = record.vector.empty() ? std::to_string(record.index) : record.vector;
  suite.cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                             markup_text(record.suite.empty() ? record.op : record.suite + "." + record.op),
                             markup_text(fmt::format("{} [{}]", record.line, id)), record.wall_seconds);
  const std::string message = markup_text(record.reason.empty() ? std::string(name_of(record.outcome)) : record.reason);
  const std::string type(name_of(record.outcome));
  std::string body;
  switch (const Element element = element_of(record.outcome, is_strict)) {
    case Element::kNone:
      break;
    case Element::kFailure:
    case Element::kError: {
      const char* name = element == Element::kError ? "error" : "failure";
      ++(element == Element::kError ? suite.errors : suite.failures);
      body += fmt::format("      <{} message=\"{}\" type=\"{}\">{}</{}>\n", name, message, type,
                          markup_text(fmt::format("{}\nrepeat: {}", record.reason, record.repeat)), name);
      break;
    }
    case Element::kSkipped:
      ++suite.skipped;
      body += fmt::format("      <skipped message=\"{}: {}\"/>\n", type, message);
      break;
  }
  if (record.outcome != Outcome::kPassed)
    body += fmt::format("      <system-out>{}</system-out>\n", markup_text(evidence_of(record)));
  suite.cases += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
}

}  // namespace

Result<Exported> write_junit(const std::string& file, const RunRecord& run, const ResultStream& results,
                             bool is_strict) {
  std::map<std::string, Suite> suites;
  Exported exported;
  Suite all;
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    ++exported.results;
    add(suites[record.op], record, is_strict);
    if (standing_of(record.outcome) == Standing::kUndecided && !is_unproven(record.outcome))
      ++exported
            .not_expressible[fmt::format("outcome {}: written as a test that did not fail", name_of(record.outcome))];
    return {};
  }));
  for (const auto& [name, suite] : suites) {
    all.tests += suite.tests;
    all.failures += suite.failures;
    all.errors += suite.errors;
    all.skipped += suite.skipped;
    all.seconds += suite.seconds;
  }
  OPWRIGHT_TRY_ASSIGN(AtomicFile out, AtomicFile::create(file));
  const auto counts = [](const Suite& suite) {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"", suite.tests,
                       suite.failures, suite.errors, suite.skipped, suite.seconds);
  };
  OPWRIGHT_TRY(out.append(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n",
                                      markup_text("opwright " + run.uid), counts(all))));
  for (const auto& [name, suite] : suites) {
    OPWRIGHT_TRY(
        out.append(fmt::format("  <testsuite name=\"{}\" {} hostname=\"{}\" timestamp=\"{}\">\n", markup_text(name),
                               counts(suite), markup_text(run.host), markup_text(suite.timestamp))));
    OPWRIGHT_TRY(out.append(
        fmt::format("    <properties>\n      <property name=\"run\" value=\"{}\"/>\n      <property name=\"device\" "
                    "value=\"{}\"/>\n"
                    "      <property name=\"seed\" value=\"{}\"/>\n      <property name=\"status\" value=\"{}\"/>\n"
                    "    </properties>\n",
                    markup_text(run.uid), markup_text(run.device), run.seed, markup_text(run.status))));
    OPWRIGHT_TRY(out.append(suite.cases));
    OPWRIGHT_TRY(out.append("  </testsuite>\n"));
  }
  OPWRIGHT_TRY(out.append("</testsuites>\n"));
  OPWRIGHT_TRY(out.commit());
  exported.bytes = static_cast<std::int64_t>(out.bytes());
  exported.files.push_back(file);
  return exported;
}

}  // namespace opwright::report
