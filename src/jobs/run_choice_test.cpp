#include "jobs/run_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace opwright::jobs {
namespace {

// A value of every field, as a record holds it.
const std::map<std::string_view, Texts>& samples() {
  static const std::map<std::string_view, Texts> kSamples{
      {"--where", {"op=add"}},
      {"--suite", {"sample"}},
      {"--suites", {"mine.yaml"}},
      {"--op", {"ttnn.add", "ttnn.relu"}},
      {"--limit", {"7"}},
      {"--count", {"8"}},
      {"--randomize", {"9"}},
      {"--vectors", {"folder"}},
      {"--shard", {"2/8"}},
      {"--budget", {"1h30m"}},
      {"--device", {"sim:n300"}},
      {"--against", {"null"}},
      {"--seed", {"11"}},
      {"--data", {"uniform"}},
      {"--pcc", {"0.995"}},
      {"--sample", {"4096"}},
      {"--timeout", {"60", "ttnn.conv2d=120.5", "xfail_suite=5"}},
      {"--python", {"/usr/bin/python3"}},
      {"--start-timeout", {"2.5"}},
      {"--dedupe", {"true"}},
      {"--keep-invalid", {"true"}},
      {"--plan-order", {"true"}},
      {"--check", {"true"}},
      {"--golden", {"true"}},
      {"--mutate", {"true"}},
      {"--warm", {"true"}},
      {"--profile", {"ops_perf_results.csv"}},
      {"--profile-window", {"decode"}},
  };
  return kSamples;
}

TEST(RunChoice, EveryFieldIsReadBackAsItWasWritten) {
  RunChoice all;
  ASSERT_EQ(choice_fields().size(), samples().size()) << "a new field needs a sample here";
  for (const std::string_view field : choice_fields()) {
    ASSERT_TRUE(samples().contains(field)) << field;
    const Texts& texts = samples().at(field);
    EXPECT_EQ(texts_of({}, field), Texts()) << field << " is not given by default";
    RunChoice one;
    ASSERT_TRUE(set_field(one, field, texts)) << field;
    for (const std::string_view other : choice_fields()) {
      const Texts expected = other == field ? texts : Texts();
      EXPECT_EQ(texts_of(one, other), expected) << field << " sets " << other;
    }
    ASSERT_TRUE(set_field(all, field, texts));
  }
  for (const std::string_view field : choice_fields()) EXPECT_EQ(texts_of(all, field), samples().at(field));
}

TEST(RunChoice, OfAFieldWithOneValueTheLastCounts) {
  RunChoice choice;
  ASSERT_TRUE(set_field(choice, "--seed", {"1", "2"}));
  EXPECT_EQ(choice.seed, 2U);
  ASSERT_TRUE(set_field(choice, "--seed", {}));
  EXPECT_EQ(choice.seed, 2U) << "nothing given changes nothing";
}

TEST(RunChoice, AWrongValueNamesItsField) {
  const auto problem = [](std::string_view field, const std::string& text) {
    RunChoice choice;
    const Status set = set_field(choice, field, {text});
    return set ? std::string("taken") : set.error().message;
  };
  EXPECT_EQ(problem("--limit", "many"), "--limit many: a whole number is needed");
  EXPECT_EQ(problem("--seed", "1234567890123456"), "--seed 1234567890123456: a whole number is needed");
  EXPECT_EQ(problem("--pcc", "1.5"), "--pcc: '1.5' is no number between -1 and 1");
  EXPECT_EQ(problem("--pcc", "nan"), "--pcc: 'nan' is no number between -1 and 1");
  EXPECT_EQ(problem("--start-timeout", "0"), "--start-timeout 0: a number of seconds");
  EXPECT_EQ(problem("--timeout", "ttnn.add=soon"), "--timeout ttnn.add=soon: SECONDS, OP=SECONDS or SUITE=SECONDS");
  EXPECT_EQ(problem("--colour", "red"), "a run has no field '--colour'");
}

TEST(RunChoice, ATimeOutIsTheCasesOwnThenItsOperationsThenItsSuitesThenTheUsual) {
  Timeouts timeouts;
  CaseRecord record;
  record.op = "ttnn.add";
  record.suite = "slow";
  EXPECT_EQ(timeouts.of(record, std::nullopt, 0.1), 30);
  EXPECT_EQ(timeouts.of(record, std::nullopt, 10), 200) << "generous with a case that is known to be long";
  timeouts.usual = 5;
  EXPECT_EQ(timeouts.of(record, std::nullopt, 10), 5) << "what was asked for is not stretched";
  timeouts.by_name["slow"] = 70;
  EXPECT_EQ(timeouts.of(record, std::nullopt, 10), 70);
  timeouts.by_name["ttnn.add"] = 80;
  EXPECT_EQ(timeouts.of(record, std::nullopt, 10), 80);
  EXPECT_EQ(timeouts.of(record, 3, 10), 3);
}

TEST(RunChoice, OptionsOfACaseComeFromIt) {
  const auto options =
      case_options({.seed = 5, .sample = 64, .data = "integers", .pcc = 0.5, .check = true, .warm = true});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->recipe.seed, 5U);
  EXPECT_EQ(options->most_elements, 64);
  EXPECT_EQ(options->pcc, 0.5);
  EXPECT_FALSE(options->compute);
  EXPECT_EQ(options->repeat, 2);
  EXPECT_EQ(case_options({.sample = 0}).error().message, "--sample: at least 1");
  EXPECT_EQ(case_options({.data = "pink"}).error().message,
            "--data: no distribution 'pink'; normal, uniform, positive, integers, zeros, ones or special");
  EXPECT_EQ(case_options({.against = "null", .golden = true}).error().code, ErrorCode::kUsage);
}

TEST(RunChoice, ARepeatLineHasWhatChangesTheAnswerAndNoSecret) {
  EXPECT_EQ(repeat_flags({}), "");
  EXPECT_EQ(repeat_flags({.against = "exec:dev --token abc", .sample = 10, .pcc = 0.99, .check = true, .golden = true}),
            " --pcc 0.99 --sample 10 --against 'exec:dev --token ***' --check --golden");
}

}  // namespace
}  // namespace opwright::jobs
