#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/json.h"
#include "model/record_fields.h"
#include "report/case_arguments.h"
#include "report/page_data.h"
#include "report/test_records.h"

namespace opwright::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a browser does with an element of packed data.
std::string unpacked(const std::string& text) {
  std::string squeezed(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(squeezed.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  EXPECT_GT(size, 0);
  std::string out(1 << 20, '\0');
  uLongf room = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &room, reinterpret_cast<const Bytef*>(squeezed.data()),
                       static_cast<uLong>(size)),
            Z_OK);
  out.resize(room);
  return out;
}

std::string column(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":[";
  const std::size_t at = json.find(key);
  EXPECT_NE(at, std::string::npos) << name;
  return json.substr(at + key.size(), json.find(']', at) - at - key.size());
}

std::string page_of(const RunRecord& run, const std::vector<CaseRecord>& records) {
  const auto page = make_page(run, stream_of(records));
  EXPECT_TRUE(page.has_value());
  EXPECT_EQ(page->results, static_cast<std::int64_t>(records.size()));
  return page->html;
}

TEST(ReportPage, NothingIsLeftOfTheTemplate) {
  const std::string html = page_of(run_of("r1"), {record_of(0)});
  EXPECT_THAT(html, Not(HasSubstr("{{")));
  EXPECT_THAT(html, HasSubstr("<title>r1 on sim:n150 · Opwright</title>"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'sha256-"));
}

// The names of an object's fields, in their order.
std::set<std::string> names_in(const std::string& object) {
  json::Document document;
  const auto root = document.parse(object);
  std::set<std::string> names;
  if (!root || !(*root)->is(json::Kind::kObject)) return names;
  for (std::uint32_t i = 0; i < (*root)->count; ++i) names.emplace((*root)->fields[i].key);
  return names;
}

// Every field of a result (model/record_fields.h) is on the page under its name or a shorter one; what else is there is
// made by the page.
TEST(ReportPage, HasTheFieldsOfAResult) {
  const std::map<std::string, std::string> shorter{{"case", "line"},
                                                   {"bound_used", "bound"},
                                                   {"wall_seconds", "wall"},
                                                   {"device_seconds", "device"},
                                                   {"cold_seconds", "cold"},
                                                   {"kernel_seconds", "kernel"},
                                                   {"reference_seconds", "reference"},
                                                   {"l1_per_core", "l1"}};
  const std::set<std::string> made{"cluster", "agreement", "arguments", "rank", "terms",
                                   "pytest",  "ttnn",      "unspelled", "past"};
  const std::set<std::string> left_out{"config_hash", "second_opinion",
                                       "perf"};  // for other tools; of a worker's answer only; shown by results --perf
  std::set<std::string> expected = made;
  const CaseRecord record = record_of(0);
  for_each_field(record, [&](const RecordField& field, const auto&) {
    const std::string name(field.name);
    if (left_out.contains(name)) return;
    EXPECT_TRUE(expected.insert(shorter.contains(name) ? shorter.at(name) : name).second) << name;
  });
  PageData page;
  page.add(record);
  const std::string columns = page.columns_json(), mark = "\"columns\":";
  std::string text = columns.substr(columns.find(mark) + mark.size());
  text.pop_back();
  std::set<std::string> found = names_in(text);
  const std::string details = unpacked(page.details().front());
  const auto details_names = names_in(details.substr(1, details.size() - 2));
  EXPECT_FALSE(found.empty());
  EXPECT_FALSE(details_names.empty());
  for (const std::string& name : details_names) EXPECT_TRUE(found.insert(name).second) << name << " is there twice";
  EXPECT_EQ(found, expected);
}

TEST(ReportPage, DataCannotCloseItsElement) {
  RunRecord run = run_of("</title></script><script>alert(1)</script>");
  run.command = "{{script}} <!-- </script>";
  CaseRecord record = record_of(0);
  record.line = record.reason = "</script><img src=x onerror=alert(1)>";
  const std::string html = page_of(run, {record});
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("onerror")));
  EXPECT_THAT(html, HasSubstr("\\u003c!-- \\u003c/script>"));
  EXPECT_THAT(html, HasSubstr("{{script}}"));  // as data: not filled a second time
}

TEST(ReportPage, AnErrorOfTheStreamIsTheAnswer) {
  const auto page = make_page(
      run_of("r1"), [](const UseResult&) -> Status { return fail(ErrorCode::kBadInput, "r1: result 7 is damaged"); });
  ASSERT_FALSE(page.has_value());
  EXPECT_EQ(page.error().message, "r1: result 7 is damaged");
}

TEST(PageData, StringsAreThereOnce) {
  PageData data;
  data.add(record_of(0));
  data.add(record_of(1));
  const std::string json = data.columns_json();
  EXPECT_EQ(column(json, "op"), "0,0");
  const std::size_t first = json.find("tensor([1,1,32,32]");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(json.find("tensor([1,1,32,32]", first + 1), std::string::npos) << "the command has the line a second time";
  EXPECT_THAT(json, HasSubstr("\"opwright run --case '\\u0001' --seed 1 --device sim:n150\""));
}

TEST(PageData, ACommandWithoutItsLineStaysWhole) {
  CaseRecord record = record_of(0);
  record.repeat = "opwright run --resume r1";
  PageData data;
  data.add(record);
  EXPECT_THAT(data.columns_json(), HasSubstr("\"opwright run --resume r1\""));
}

TEST(PageData, AbsentIsNotANumberAndNotInfinite) {
  PageData data;
  for (const std::optional<double> pcc :
       {std::optional<double>(), std::optional(std::nan("")), std::optional(std::numeric_limits<double>::infinity()),
        std::optional(0.99999999999999)}) {
    CaseRecord record = record_of(data.results());
    record.pcc = pcc;
    data.add(record);
  }
  EXPECT_EQ(column(data.columns_json(), "pcc"), "null,\"nan\",1e999,0.99999999999999");
}

TEST(PageData, FailuresWithTheSameMessageHaveOneCause) {
  PageData data;
  for (int i = 0; i < 3; ++i) {
    CaseRecord record = record_of(i, i < 2 ? Outcome::kFailed : Outcome::kRefused);
    record.reason = "PCC 0.9" + std::to_string(i) + " is below 0.99";
    data.add(record);
  }
  data.add(record_of(3));
  const std::string json = data.columns_json();
  EXPECT_THAT(json, HasSubstr("\"failed: PCC N is below N\""));
  EXPECT_THAT(json, HasSubstr("\"refused: PCC N is below N\""));
}

TEST(PageData, DetailsLieInBlocks) {
  PageData data;
  const auto count = static_cast<std::int64_t>(PageData::kBlock) + 3;
  for (std::int64_t i = 0; i < count; ++i) {
    CaseRecord record = record_of(i);
    record.evidence = "evidence " + std::to_string(i);
    data.add(record);
  }
  ASSERT_EQ(data.details().size(), 2u);
  EXPECT_EQ(data.details().size(), 2u) << "asking again closes no second block";
  const std::string last = unpacked(data.details()[1]);
  EXPECT_THAT(last, HasSubstr("\"evidence\": \"evidence " + std::to_string(count - 1) + "\""));
  EXPECT_THAT(last, Not(HasSubstr("\"evidence\": \"evidence 0\"")));
}

TEST(CaseArguments, ATensorIsARowOfItsParts) {
  CaseRecord record = record_of(0);
  record.judged = 1;
  record.line =
      "ttnn.matmul(tensor([1,1,64,256] BFLOAT16 TILE DEVICE memory(L1 HEIGHT_SHARDED shard [32,256] on (0,0)-(1,0) "
      "ROW_MAJOR)), tensor([1,1,256,96] BFLOAT8_B TILE DEVICE memory(DRAM INTERLEAVED)), transpose_a=false)";
  const CaseArguments arguments = arguments_of(record);
  EXPECT_THAT(arguments.rows,
              HasSubstr(R"(["input_tensor_a", "[1,1,64,256]", "BFLOAT16", "TILE", "L1 HEIGHT_SHARDED", )"
                        R"("[32,256] on (0,0)-(1,0) ROW_MAJOR", ""])"));
  EXPECT_THAT(arguments.rows, HasSubstr(R"(["transpose_a", "false"])"));
  EXPECT_EQ(arguments.rank, 4);
  EXPECT_EQ(arguments.terms, 256) << "K of the product";
}

TEST(CaseArguments, ALineThatCannotBeReadHasNone) {
  CaseRecord record = record_of(0);
  record.line = "</script>(";
  EXPECT_EQ(arguments_of(record).rows, "[]");
  EXPECT_FALSE(arguments_of(record).rank);
}

TEST(CaseHistory, KnowsHowACaseEndedBefore) {
  CaseRecord record = record_of(0);
  CaseHistory history;
  EXPECT_EQ(history.of(record), "[]");
  history.begin({.uid = "first"});
  record.outcome = Outcome::kPassed;
  record.pcc = 0.5;
  history.add(record);
  history.begin({.uid = "second"});
  record.outcome = Outcome::kCrashed;
  record.pcc.reset();
  history.add(record);
  EXPECT_EQ(history.of(record),
            fmt::format("[[0,{},0.5,{:.4g}],[1,{},null,{:.4g}]]", static_cast<int>(Outcome::kPassed),
                        record.device_seconds, static_cast<int>(Outcome::kCrashed), record.device_seconds));
  EXPECT_THAT(history.runs_json(), HasSubstr("second"));
}

}  // namespace
}  // namespace opwright::report
