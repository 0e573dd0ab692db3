// Test files of recorded configurations: chosen from a store, a trace or a run, made (gentest/), and written into a
// folder, all of them or none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gentest/generated.h"
#include "jobs/ingest.h"
#include "jobs/question.h"

namespace opwright::jobs {

enum class TestKind : std::uint8_t { kPytest, kCases };

struct GenerateOptions {
  Question question;               // store and selector
  std::vector<std::string> paths;  // traces or stores to take instead of the store
  bool all_ops = false;            // of `paths`: also operations that the filter leaves out
  bool include_failed = false;     // of `paths`: also calls of tests that did not pass
  std::vector<std::string> ops;
  std::string failed_run;  // only what failed in this run; "" all
  TestKind kind = TestKind::kPytest;
  std::string folder;
  bool update = false;  // files that are there get their blocks rewritten
};

struct GenerateReport {
  std::int64_t configurations = 0, generated = 0, expected_to_fail = 0;
  std::map<std::string, gentest::OperationCounts> operations;
  std::map<std::string, std::int64_t> not_generated, references;
  std::map<std::string, std::string> examples;
  std::vector<std::string> written, unchanged;  // names of files
  std::size_t blocks_removed = 0;
  ImportReport imported;          // of `paths`: what was left out or lost before anything was chosen
  std::vector<std::string> left;  // test files of earlier times in the folder that nothing was generated for now
};

Result<GenerateReport> generate_tests(const GenerateOptions& options);

}  // namespace opwright::jobs
