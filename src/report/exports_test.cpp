#include "report/exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/json.h"
#include "base/test_folder.h"
#include "model/record_json.h"
#include "report/markup.h"
#include "report/test_records.h"

namespace opwright::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<CaseRecord> records_of_every_outcome() {
  std::vector<CaseRecord> records;
  for (const Outcome outcome : all_outcomes()) {
    records.push_back(record_of(static_cast<std::int64_t>(records.size()), outcome));
    if (outcome != Outcome::kPassed)
      records.back().reason = "why <&> \"" + std::string(name_of(outcome)) + "\"\x01\xff";
  }
  return records;
}

TEST(Jsonl, ComesBackAsItWas) {
  const TestFolder folder;
  auto records = records_of_every_outcome();
  for (CaseRecord& record : records) record.reason = "line\nbreak";  // bytes that are no text are another test
  records[1].pcc = std::nan("");
  records[2].ulp = records[3].bound_used = std::numeric_limits<double>::infinity();
  records[2].config_hash = "59555cf6";
  RunRecord run = run_of("r1", 18);
  run.seed = 18446744073709551615ULL;
  run.plan = R"({"a": [1]})";
  const auto written = write_jsonl(folder.file("r.jsonl"), run, stream_of(records));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->results, static_cast<std::int64_t>(records.size()));
  std::vector<std::string> back;
  const Status read = read_jsonl(
      folder.file("r.jsonl"),
      [&](const RunRecord& found) {
        EXPECT_EQ(to_json(found), to_json(run));
        EXPECT_EQ(found.seed, run.seed);
        return Status();
      },
      [&](CaseRecord&& record) {
        back.push_back(opwright::to_json(record));
        return Status();
      });
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(back.size(), records.size());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], opwright::to_json(records[i]));
}

TEST(Jsonl, ADamagedFileIsRefusedBeforeAnythingIsTaken) {
  const TestFolder folder;
  const std::vector<CaseRecord> records{record_of(0), record_of(1)};
  ASSERT_TRUE(write_jsonl(folder.file("r.jsonl"), run_of("r1"), stream_of(records)));
  const std::string whole = content_of(folder.file("r.jsonl"));
  int taken = 0;
  const auto error_of = [&](const std::string& text) {
    const Status status = read_jsonl(
        folder.write("bad.jsonl", text), [&](const RunRecord&) { return ++taken, Status(); },
        [&](CaseRecord&&) { return ++taken, Status(); });
    return status ? std::string("none") : status.error().message;
  };
  EXPECT_THAT(error_of(whole.substr(0, whole.size() - 20)), HasSubstr("line 3"));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("{\"outcome\": \"passed\"}\n"), HasSubstr("does not begin with a run"));
  EXPECT_THAT(error_of("{\"opwright_results\": 9, \"run\": {}}\n"), HasSubstr("newer"));
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(error_of(whole), "none");
  EXPECT_EQ(taken, 3);
}

TEST(Csv, HasTheSameColumnsInEveryRow) {
  const TestFolder folder;
  std::vector<CaseRecord> records{record_of(0), record_of(1, Outcome::kLost)};
  records[1].reason = "a,\"b\"\nc";
  const auto written = write_csv(folder.file("r.csv"), stream_of(records));
  ASSERT_TRUE(written);
  const std::string text = content_of(folder.file("r.csv"));
  EXPECT_THAT(text, HasSubstr("\"a,\"\"b\"\"\nc\""));
  EXPECT_THAT(text, ::testing::StartsWith("index,vector,key,config_hash,op,suite,outcome,reason,"));
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(written->bytes, static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(std::count(first.begin(), first.end(), ','), 47);
}

TEST(Junit, FailuresErrorsAndSkipsAreToldApart) {
  const TestFolder folder;
  const auto records = records_of_every_outcome();
  const auto written = write_junit(folder.file("r.xml"), run_of("r1"), stream_of(records));
  ASSERT_TRUE(written) << written.error().message;
  const std::string text = content_of(folder.file("r.xml"));
  EXPECT_THAT(text, HasSubstr("tests=\"19\" failures=\"6\" errors=\"5\" skipped=\"5\""));
  EXPECT_THAT(text, HasSubstr("<failure message=\"why &lt;&amp;&gt; &quot;failed&quot;\\u"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"unsupported: why"));
  EXPECT_THAT(text, HasSubstr("repeat: opwright run --case 'ttnn.sigmoid_accurate("));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"unproven: why"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"mistrusted: why"));
  EXPECT_EQ(written->not_expressible.size(), 2u);  // accepted, xfailed
  ASSERT_TRUE(write_junit(folder.file("strict.xml"), run_of("r1"), stream_of(records), true));
  EXPECT_THAT(content_of(folder.file("strict.xml")),
              HasSubstr("tests=\"19\" failures=\"8\" errors=\"5\" skipped=\"3\""));
}

TEST(Sweep, FilesAndFieldsAreThoseOfTheFramework) {
  const TestFolder folder;
  CaseRecord passed = record_of(0, Outcome::kPassed, "ttnn.add"), failed = record_of(1, Outcome::kFailed, "ttnn.add"),
             skipped = record_of(2, Outcome::kUnsupported, "ttnn.add");
  passed.pcc = 0.5;
  passed.wall_seconds = 60;
  passed.config_hash = "59555cf6";
  passed.l1_per_core = 4096;
  failed.reason = "PCC 0.1";
  const std::vector<CaseRecord> records{passed, failed, skipped};
  RunRecord run = run_of("r1", 3);
  run.git_commit = "abc";
  const auto written = write_sweep(folder.file("out"), run, stream_of(records));
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_EQ(written->files.size(), 2u);
  EXPECT_EQ(written->files[0], folder.file("out/model_traced_ec808049c858_20261115_200000.json"));
  EXPECT_EQ(written->files[1], folder.file("out/oprun_vm_e391e6c5286f_20261115_200000.json"));
  json::Document document;
  const std::string text = content_of(written->files[0]);
  const auto root = document.parse(text);
  ASSERT_TRUE(root.has_value());
  ASSERT_EQ((*root)->count, 3u);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < (*root)->items[0].count; ++i) names.emplace_back((*root)->items[0].fields[i].key);
  EXPECT_THAT(names, ElementsAre("github_job_id", "full_test_name", "test_start_ts", "test_end_ts", "test_case_name",
                                 "filepath", "success", "skipped", "error_message", "error_hash", "config", "frontend",
                                 "model_name", "op_kind", "op_name", "framework_op_name", "inputs", "outputs",
                                 "op_params", "git_sha", "status", "card_type", "backend", "data_source", "input_hash",
                                 "message", "exception", "metrics", "op_params_set"));
  const auto field = [&](int record, const char* name) { return std::string((*root)->items[record].find(name)->text); };
  EXPECT_EQ(field(0, "status"), "pass");
  EXPECT_EQ(field(0, "success"), "true");
  EXPECT_EQ(field(0, "error_message"), "None");
  EXPECT_EQ(field(0, "error_hash"), "dc937b59892604f5a86ac96936cd7ff09e25f18ae6b758e8014a24c7fa039e91");
  EXPECT_EQ(field(0, "message"), "0.5");
  EXPECT_EQ(field(0, "test_start_ts"), "2026-11-15T20:00:00.500000Z");
  EXPECT_EQ(field(0, "test_end_ts"), "2026-11-15T20:01:00.500000Z");
  EXPECT_EQ(field(0, "op_name"), "add_model_traced");
  EXPECT_EQ(field(0, "input_hash"), "59555cf6");  // of the trace
  EXPECT_EQ(field(1, "input_hash"), "00ff1");     // no trace has one: our key
  EXPECT_EQ(field(1, "status"), "fail_assert_exception");
  EXPECT_EQ(field(1, "exception"), "PCC 0.1");
  EXPECT_EQ(field(2, "status"), "skipped");
  EXPECT_EQ(field(2, "skipped"), "true");
  EXPECT_THAT(text, HasSubstr("\"metric_name\": \"peak_l1_memory_per_core_bytes\",\n        \"metric_value\": 4096.0"));
  EXPECT_THAT(text, HasSubstr("\"param_name\": \"input_tensor.dtype\""));
  EXPECT_THAT(content_of(written->files[1]), HasSubstr("\"status\": \"fail\",\n  \"tests\": [\n    {"));
}

TEST(Markup, EveryByteIsACharacterThere) {  // and one that is seen
  EXPECT_EQ(markup_text("a<b> & \"c\"\n\té…🚀"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;&#9;é…🚀");
  for (const std::string_view bad : {"\x01", "\x7f", "\xff", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xEF\xBF\xBF"})
    EXPECT_THAT(markup_text(bad), ::testing::StartsWith("\\u"));
  EXPECT_EQ(markup_text("\x1b\xe2\x80\xae"), "\\u001b\\u202e");
}

TEST(Sweep, ARunIsPassedOnlyWhenItIs) {
  const TestFolder folder;
  const auto status_of = [&](const std::vector<CaseRecord>& records, std::int64_t planned, const char* status) {
    RunRecord run = run_of("r1", planned);
    run.status = status;
    const auto written = write_sweep(folder.file("out"), run, stream_of(records));
    const std::string text = content_of(written->files.back());
    const std::size_t at = text.find("\"status\": \"") + 11;
    return text.substr(at, text.find('"', at) - at);
  };
  EXPECT_EQ(status_of({record_of(0)}, 1, "complete"), "passed");
  EXPECT_EQ(status_of({record_of(0)}, 2, "complete"), "did_not_finish");
  EXPECT_EQ(status_of({record_of(0)}, 1, "interrupted"), "did_not_finish");
  EXPECT_EQ(status_of({record_of(0, Outcome::kUnsupported)}, 1, "complete"), "did_not_finish");
  EXPECT_EQ(status_of({record_of(0), record_of(1, Outcome::kCrashed)}, 2, "interrupted"), "fail");
}

}  // namespace
}  // namespace opwright::report
