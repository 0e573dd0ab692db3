#include "jobs/run_record.h"

#include <gtest/gtest.h>

namespace opwright::jobs {
namespace {

RunRecord record_of(const RunChoice& choice) {
  RunPlan plan{.spool = *CaseSpool::create(), .chosen = {0, 1}, .digest = "abc"};
  return new_run_record(choice, "opwright run --seed 3", plan);
}

TEST(RunRecord, KeepsWhatWasAskedFor) {
  const RunRecord run = record_of({.where = "op=add", .device = "null", .seed = 3, .check = true});
  EXPECT_EQ(run.plan, R"({"flags": {"--where": ["op=add"], "--device": ["null"], "--seed": ["3"], "--check": true}, )"
                      R"("cases": 2, "digest": "abc"})");
  EXPECT_EQ(run.command, "opwright run --seed 3");
  EXPECT_EQ(run.device, "null");
  EXPECT_EQ(run.suite, "model_traced");
  EXPECT_EQ(run.seed, 3U);
  EXPECT_EQ(run.planned, 2);
  EXPECT_EQ(run.status, "running");
  EXPECT_EQ(digest_of(run), "abc");
  EXPECT_EQ(record_of({.suite = "a", .suites = "b"}).suite, "b");
  EXPECT_EQ(record_of({.suites = "b", .vectors = "c"}).suite, "c");
}

TEST(RunRecord, AResumedRunChoosesWhatItHad) {
  RunChoice choice{
      .where = "op=add", .ops = {"ttnn.add", "ttnn.relu"}, .device = "sim:n300", .pcc = 0.5, .mutate = true};
  choice.timeouts.by_name["ttnn.add"] = 3;
  const auto again = resumed_choice({}, record_of(choice));
  ASSERT_TRUE(again) << again.error().message;
  for (const std::string_view field : choice_fields())
    EXPECT_EQ(texts_of(*again, field), texts_of(choice, field)) << field;
}

TEST(RunRecord, AResumedRunCannotBeGivenOtherCases) {
  const auto refused = resumed_choice({.seed = 4}, record_of({.seed = 3}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_EQ(refused.error().message, "--resume takes the cases of the interrupted run; --seed cannot change them");
}

TEST(RunRecord, ASecretIsNotStoredAndMustBeGivenAgain) {
  RunRecord run = record_of({.device = "exec:dev --token abc"});
  run.uid = "r1";
  EXPECT_EQ(run.plan.find("abc"), run.plan.find("\"abc\"") + 1) << "the digest alone: " << run.plan;
  EXPECT_EQ(run.device, "exec:dev --token ***");
  EXPECT_EQ(resumed_choice({}, run).error().message,
            "run r1 was started with a secret in --device, which is not stored; give it again: --resume --device "
            "'exec:dev --token ***'");
  EXPECT_EQ(resumed_choice({.device = "exec:other --token abc"}, run).error().message,
            "--resume: --device differs in more than its secret from that of run r1, 'exec:dev --token ***'");
  const auto again = resumed_choice({.device = "exec:dev --token xyz"}, run);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->device, "exec:dev --token xyz");
}

TEST(RunRecord, APlanThatCannotBeReadIsAnError) {
  RunRecord run;
  run.uid = "r1";
  for (const char* plan : {"", "[]", "{}", R"({"flags": 3})", R"({"flags": {"--seed": ["x"]}})",
                           R"({"flags": {"--of-a-later-version": ["x"]}})"}) {
    run.plan = plan;
    const auto choice = resumed_choice({}, run);
    ASSERT_FALSE(choice) << plan;
    EXPECT_EQ(choice.error().code, ErrorCode::kBadInput) << plan;
    EXPECT_TRUE(choice.error().message.starts_with("run r1 has no plan that could be continued")) << plan;
  }
}

}  // namespace
}  // namespace opwright::jobs
