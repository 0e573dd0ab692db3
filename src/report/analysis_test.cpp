#include "report/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "base/message_pattern.h"
#include "report/analysis_view.h"
#include "report/test_records.h"

namespace opwright::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

Analysis analysis_of(const std::vector<CaseRecord>& records, Analyser::Options options = {},
                     std::int64_t planned = -1) {
  Analyser analyser(run_of("r1", planned < 0 ? static_cast<std::int64_t>(records.size()) : planned), options);
  for (const CaseRecord& record : records) analyser.add(record);
  return analyser.finish();
}

TEST(Figures, PercentilesAreThoseOfTheValues) {
  Figures figures;
  for (const double value : {4.0, 1.0, 3.0, 2.0, 5.0}) figures.add(value);
  figures.add(std::nan(""));
  figures.add(std::optional<double>());
  EXPECT_EQ(figures.count(), 5);
  EXPECT_EQ(figures.nonfinite(), 1);
  EXPECT_EQ(figures.missing(), 1);
  EXPECT_EQ(figures.percentile(0), 1);
  EXPECT_EQ(figures.percentile(50), 3);
  EXPECT_EQ(figures.percentile(100), 5);
  EXPECT_DOUBLE_EQ(figures.percentile(90), 4.6);
  EXPECT_EQ(figures.average(), 3);
  figures.add(0.0);  // after somebody asked
  EXPECT_EQ(figures.percentile(0), 0);
  EXPECT_EQ(figures.min(), 0);
}

TEST(MessagePattern, NumbersAddressesShapesAndHashesDoNotCount) {
  EXPECT_EQ(message_pattern("PCC 0.9968 is below 0.99"), "PCC N is below N");
  EXPECT_EQ(message_pattern("PCC -1.5e-07 is below 1"), "PCC N is below N");
  EXPECT_EQ(message_pattern("shape [1, 1, 32, 64] and (3,4) at 0x7f00ab12"), "shape [N…] and [N…] at 0x…");
  EXPECT_EQ(message_pattern("32x64x128 against [5]"), "[N…] against [N…]");
  EXPECT_EQ(message_pattern("kernel 3fa9be0012345678 failed"), "kernel # failed");
  EXPECT_EQ(message_pattern("conv2d of bfloat8_b in L1 on n300"), "conv2d of bfloat8_b in L1 on n300");
  EXPECT_EQ(message_pattern("TT_FATAL @ op.cpp:123: a == b\ninfo:\n  no  \n backtrace:\n --- 0x12"),
            "TT_FATAL @ op.cpp:N: a == b info: no");
  EXPECT_EQ(message_pattern("within 30s, a-1"), "within Ns, a-N");
  EXPECT_EQ(message_pattern(""), "");
  EXPECT_LT(message_pattern(std::string(100000, 'x')).size(), 1000u);
}

TEST(Analysis, TheThirtySigmoidsReadAsTheyShould) {
  std::vector<CaseRecord> records;
  for (int i = 0; i < 30; ++i) {
    CaseRecord record = record_of(i);
    record.pcc = 0.9999 + 1e-6 * i;
    record.wall_seconds = 0.010 + 0.001 * i;
    record.fields = record.fields_equal = 20;
    records.push_back(record);
  }
  const Analysis analysis = analysis_of(records);
  const std::string text = analysis_text(analysis, {});
  EXPECT_THAT(text, HasSubstr("total       30\n"));
  EXPECT_THAT(text, HasSubstr("passed      30 (100 %)\n"));
  EXPECT_THAT(text, HasSubstr("failed      0 (0 %)\n"));
  EXPECT_THAT(text, HasSubstr("duration    avg 24.5 ms   median 24.5 ms   p90 36.1 ms   max 39.0 ms   sum 735.0 ms"));
  EXPECT_THAT(text, HasSubstr("PCC         min 0.9999000   max 0.9999290   avg 0.9999145"));
  EXPECT_THAT(text, HasSubstr("(30 cases)"));
  EXPECT_THAT(text, HasSubstr("calls       300 of 300 calls pass (100 %)"));
  EXPECT_THAT(text, HasSubstr("executed == traced in 600 of 600 fields, 30 of 30 cases (100 %)"));
  EXPECT_THAT(text, HasSubstr("repeat: " + records[0].repeat));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Analysis, OutcomesAreCountedByWhatTheyMean) {
  const Analysis a = analysis_of({record_of(0), record_of(1, Outcome::kFailed), record_of(2, Outcome::kTimedOut),
                                  record_of(3, Outcome::kUnsupported), record_of(4, Outcome::kMistrusted),
                                  record_of(5, Outcome::kXfailed), record_of(6, Outcome::kLost)},
                                 {}, 10);
  EXPECT_EQ(a.total, 7);
  EXPECT_EQ(a.unreached, 3);
  EXPECT_EQ(a.passed, 1);
  EXPECT_EQ(a.failed, 2);
  EXPECT_EQ(a.undecided, 2);
  EXPECT_EQ(a.no_answer, 2);
  EXPECT_EQ(a.calls, 70);
  EXPECT_EQ(a.calls_passed, 10);
  EXPECT_EQ(a.seconds.count(), 5);  // what never ran has no duration
  EXPECT_EQ(a.pcc.count(), 2);
  EXPECT_EQ(a.pcc.missing(), 5);
  const std::string text = analysis_text(a, {});
  EXPECT_THAT(text, HasSubstr("failed      2 (28.6 %)   failed 1, timed_out 1"));
  EXPECT_THAT(text, HasSubstr("no verdict  2 (28.6 %)   unsupported 1, lost 1"));
  EXPECT_THAT(text, HasSubstr("mistrusted  1 (14.3 %)"));
  EXPECT_THAT(text, HasSubstr("unreached   3 of 10 planned: the run ended without them\n"));
  EXPECT_THAT(text, HasSubstr("5 cases without"));
}

TEST(Analysis, CasesJudgedInPartAreCounted) {
  std::vector<CaseRecord> records{record_of(0), record_of(1), record_of(2)};
  records[1].notes = "judged in part: 64 of 4096 rows";
  const Analysis a = analysis_of(records);
  EXPECT_EQ(a.in_part, 1);
  EXPECT_THAT(analysis_text(a, {}), HasSubstr("1 case judged in part"));
  EXPECT_THAT(analysis_text(analysis_of({record_of(0)}), {}), Not(HasSubstr("in part")));
}

TEST(Analysis, EveryOutcomeHasAStanding) {
  std::map<Standing, std::string> names;
  for (const Outcome outcome : all_outcomes()) {
    (names[standing_of(outcome)] += ' ') += name_of(outcome);
    const bool told = standing_of(outcome) == Standing::kPassed || standing_of(outcome) == Standing::kUndecided;
    EXPECT_EQ(is_failure(outcome), !told) << name_of(outcome);
  }
  EXPECT_EQ(names[Standing::kPassed], " passed");
  EXPECT_EQ(names[Standing::kUndecided], " mistrusted unproven accepted xfailed");
  EXPECT_EQ(names[Standing::kNoAnswer], " not_run unsupported lost");
  EXPECT_EQ(names[Standing::kFailed],
            " vacuous failed refused out_of_memory device_error crashed timed_out host_memory harness_error xpassed "
            "reference_wrong");
}

TEST(Analysis, TheTimeOfWhatNeverRanIsNowhere) {
  std::vector<CaseRecord> records{record_of(0), record_of(1, Outcome::kUnsupported), record_of(2, Outcome::kNotRun),
                                  record_of(3, Outcome::kFailed)};
  records[1].wall_seconds = records[2].wall_seconds = 100;
  const Analysis a = analysis_of(records);
  EXPECT_DOUBLE_EQ(a.seconds.sum(), 0.020);
  for (const By by : {By::kOp, By::kDtype, By::kModel, By::kSuite}) {
    ASSERT_EQ(a.tables.at(by).size(), 1u);
    EXPECT_EQ(a.tables.at(by)[0].cases, 4);
    EXPECT_DOUBLE_EQ(a.tables.at(by)[0].seconds, a.seconds.sum()) << name_of(by);
  }
}

TEST(Analysis, CallsAreTheWeight) {
  CaseRecord often = record_of(0), seldom = record_of(1, Outcome::kFailed), never = record_of(2);
  often.calls = 990;
  never.calls = 0;
  const Analysis a = analysis_of({often, seldom, never});
  EXPECT_EQ(a.calls_passed, 990);
  EXPECT_EQ(a.calls, 1000);
  EXPECT_EQ(a.uncounted, 1);
  EXPECT_THAT(analysis_text(a, {}), HasSubstr("990 of 1,000 calls pass (99.0 %); 1 case without a count"));
}

TEST(Analysis, FailuresAreClusteredByOutcomeAndMessage) {
  CaseRecord a = record_of(0, Outcome::kFailed, "ttnn.add"), b = record_of(1, Outcome::kFailed, "ttnn.sub"),
             c = record_of(2, Outcome::kRefused, "ttnn.add"), d = record_of(3, Outcome::kUnsupported);
  a.reason = "PCC 0.5 is below 0.99";
  b.reason = "PCC 0.25 is below 0.999";
  c.reason = a.reason;
  d.reason = "no kernel";
  a.blame = Blame::kOperator;
  const Analysis analysis = analysis_of({a, b, c, d});
  ASSERT_EQ(analysis.failures.size(), 2u);
  const Cluster& largest = analysis.failures[0];
  EXPECT_EQ(largest.count, 2);
  EXPECT_EQ(largest.pattern, "PCC N is below N");
  EXPECT_THAT(largest.ops, ElementsAre(Pair("ttnn.add", 1), Pair("ttnn.sub", 1)));
  EXPECT_THAT(largest.blames, ElementsAre(Pair("op", 1)));
  EXPECT_EQ(largest.repeat, a.repeat);
  ASSERT_EQ(analysis.unanswered.size(), 1u);
  EXPECT_EQ(analysis.unanswered[0].pattern, "no kernel");
  EXPECT_THAT(analysis.blames, ElementsAre(Pair("", 2), Pair("op", 1)));
  EXPECT_THAT(analysis_text(analysis, {}), HasSubstr("not attributed 2, op 1"));
}

TEST(Analysis, TooManyMessagesAreCountedNotKept) {
  std::vector<CaseRecord> records;
  for (int i = 0; i < 6000; ++i) {
    records.push_back(record_of(i, Outcome::kFailed));
    for (int n = i; n > 0; n /= 26) records.back().reason += static_cast<char>('a' + n % 26);
  }
  const Analysis analysis = analysis_of(records);
  EXPECT_EQ(analysis.failures.size(), 5000u);
  EXPECT_EQ(analysis.clusters_cut, 1000);
}

TEST(Analysis, TheWorstCasesAreKeptInOrder) {
  std::vector<CaseRecord> records;
  for (const double pcc : {0.9, 0.5, 0.7, 0.99, 0.6}) {
    records.push_back(record_of(static_cast<std::int64_t>(records.size())));
    records.back().pcc = pcc;
    records.back().ulp = 10 * pcc;
  }
  records[3].pcc = std::nan("");
  const Analysis a = analysis_of(records, {.worst = 2});
  ASSERT_EQ(a.least_pcc.size(), 2u);
  EXPECT_EQ(a.least_pcc[0].value, 0.5);
  EXPECT_EQ(a.least_pcc[1].value, 0.6);
  EXPECT_EQ(a.most_ulp[0].index, 3);
  EXPECT_EQ(a.pcc.nonfinite(), 1);
}

TEST(Analysis, TablesHaveARowForEachName) {
  CaseRecord two = record_of(0), none = record_of(1, Outcome::kFailed, "ttnn.add");
  two.models = "bert, resnet";
  none.models = none.dtype = "";
  const Analysis a = analysis_of({two, none});
  const auto names = [&](By by) {
    std::vector<std::string> all;
    for (const Group& group : a.tables.at(by)) all.push_back(group.name);
    return all;
  };
  EXPECT_THAT(names(By::kModel), ElementsAre("", "bert", "resnet"));
  EXPECT_THAT(names(By::kDtype), ElementsAre("", "BFLOAT16"));
  EXPECT_THAT(names(By::kOutcome), ElementsAre("failed", "passed"));
  for (const By by : kAllBy) EXPECT_EQ(parse_by(name_of(by)), by);
  EXPECT_FALSE(parse_by("colour"));
}

TEST(Analysis, ProofFaultsAndDifferencesAreAddedUp) {
  CaseRecord a = record_of(0), b = record_of(1, Outcome::kUnproven), c = record_of(2, Outcome::kVacuous);
  a.fields = a.fields_equal = 10;
  b.fields = 10;
  b.fields_equal = 8;
  b.differences = "dim: 1 -> 2; input_tensor.dtype: BFLOAT16 -> FLOAT32";
  c.faults = 8;
  c.faults_noticed = 6;
  c.unnoticed = "swap, zero";
  a.against = "refused";
  a.disagreement = "passed here, refused there";
  b.against = "unsupported";
  b.disagreement = "as an older program wrote it";
  c.against = "passed";
  const Analysis analysis = analysis_of({a, b, c});
  EXPECT_EQ(analysis.against_cases, 3);
  EXPECT_EQ(analysis.disagreed, 1);
  EXPECT_EQ(analysis.not_compared, 1);
  EXPECT_EQ(analysis.compared_cases, 2);
  EXPECT_EQ(analysis.equal_cases, 1);
  EXPECT_THAT(analysis.differing_fields, ElementsAre(Pair("dim", 1), Pair("input_tensor.dtype", 1)));
  EXPECT_THAT(analysis.unnoticed, ElementsAre(Pair("swap", 1), Pair("zero", 1)));
  const std::string text = analysis_text(analysis, {});
  EXPECT_THAT(text, HasSubstr("executed == traced in 18 of 20 fields, 1 of 2 cases (50.0 %)"));
  EXPECT_THAT(text, HasSubstr("not looked at in 1 case"));
  EXPECT_THAT(text, HasSubstr("6 of 8 planted faults noticed (75.0 %) in 1 case; 1 vacuous"));
  EXPECT_THAT(
      text,
      HasSubstr("1 of 2 cases disagree with the second device, 1 not compared, because one of the two has no answer"));
}

TEST(Analysis, JsonIsSoundAndHasThePromisedNames) {
  for (const auto& records : {std::vector<CaseRecord>{}, {record_of(0), record_of(1, Outcome::kLost)}}) {
    const std::string text = analysis_json(analysis_of(records)).text();
    json::Document document;
    const auto root = document.parse(text);
    ASSERT_TRUE(root.has_value()) << text;
    for (const char* name : {"run", "total", "outcomes", "passed", "failed", "pcc", "seconds"})
      EXPECT_NE((*root)->find(name), nullptr) << name;
    for (const char* name : {"min", "max", "avg"}) EXPECT_NE((*root)->find("pcc")->find(name), nullptr) << name;
    EXPECT_EQ((*root)->find("pcc")->find("min")->is(json::Kind::kNull), records.empty());
  }
  EXPECT_THAT(analysis_text(analysis_of({}), {}), HasSubstr("total       0\n"));
}

TEST(Analysis, SharesNeverRoundAwayTheLastCase) {
  EXPECT_EQ(share_text(9999, 10000), "99.9 %");
  EXPECT_EQ(share_text(99999, 100000), "99.9 %");
  EXPECT_EQ(share_text(1, 1000000), "0.1 %");
  EXPECT_EQ(share_text(3, 3), "100 %");
  EXPECT_EQ(share_text(0, 0), "none");
  EXPECT_EQ(pcc_text(1), "1");
  EXPECT_EQ(seconds_text(0.000123), "123 µs");
  EXPECT_EQ(seconds_text(0.0123), "12.3 ms");
  EXPECT_EQ(seconds_text(12.3), "12.30 s");
  EXPECT_EQ(seconds_text(600), "10.0 min");
  EXPECT_EQ(pcc_text(0.99999999), "0.9999999900");
}

}  // namespace
}  // namespace opwright::report
