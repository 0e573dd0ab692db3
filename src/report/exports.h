// Results written for other tools: one writer a format, each file whole or not at all. docs/formats/results.md
// describes the files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/result_stream.h"

namespace opwright::report {

struct Exported {
  std::int64_t results = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> files;
  std::map<std::string, std::int64_t> not_expressible;  // what the format has no place for -> results
};

// One row a result, all fields.
Result<Exported> write_csv(const std::string& file, const ResultStream& results);
// The run in the first line, then one result a line; read_jsonl() takes it back.
Result<Exported> write_jsonl(const std::string& file, const RunRecord& run, const ResultStream& results);
// One testsuite an operator. In memory: about 1 kB a result. What nobody proved (unproven, mistrusted) is skipped, with
// the reason, or with `is_strict` a failure: a green test is one whose case passed.
Result<Exported> write_junit(const std::string& file, const RunRecord& run, const ResultStream& results,
                             bool is_strict = false);
// The result files of the existing sweep framework, in a folder: one file a module, and the oprun file.
Result<Exported> write_sweep(const std::string& folder, const RunRecord& run, const ResultStream& results);

// The whole file is checked before the first result is handed over. `begin` gets the run.
Status read_jsonl(const std::string& file, const std::function<Status(const RunRecord&)>& begin, const UseResult& use);

std::string to_json(const RunRecord& run);
Result<RunRecord> parse_run(std::string_view json);

}  // namespace opwright::report
