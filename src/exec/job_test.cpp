#include "exec/job.h"

#include <gtest/gtest.h>

#include <limits>

#include "model/record_json.h"

namespace opwright {
namespace {

Job job() {
  Job job;
  job.record.index = 17;
  job.record.vector = "v";
  job.record.key = "k";
  job.record.config_hash = "h";
  job.record.op = "ttnn.add";
  job.record.suite = "s";
  job.record.line = "ttnn.add(a='x')\n\"é\"";
  job.record.repeat = "opwright run";
  job.record.dtype = "BFLOAT16";
  job.record.layout = "TILE";
  job.record.memory = "DRAM";
  job.record.models = "m";
  job.record.calls = 5;
  job.record.elements = 100;
  job.record.recipe = {Distribution::kIntegers, std::numeric_limits<std::uint64_t>::max()};
  job.board = "n300";
  job.pcc = 0.75;
  TensorSpec spec;
  spec.shape = {1, 7};
  spec.has_shape = true;
  job.recorded = {{{{spec, {}, {}}}, 4, "n150"}};
  return job;
}

TEST(Job, AnOrderIsWhatAWorkerNeeds) {
  const std::string line = to_json(order_of(job()));
  const auto order = parse_order(line);
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->index, 17);
  EXPECT_EQ(order->line, job().record.line);
  EXPECT_EQ(order->recipe.distribution, Distribution::kIntegers);
  EXPECT_EQ(order->recipe.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(order->board, "n300");
  EXPECT_EQ(order->pcc, 0.75);
  EXPECT_EQ(to_json(order->recorded), to_json(job().recorded));
  for (const char* not_needed : {"repeat", "models", "suite", "vector", "config_hash", "seconds"})
    EXPECT_EQ(line.find(not_needed), std::string::npos) << line;
}

TEST(Job, EveryDistributionComesBack) {
  for (const Distribution distribution :
       {Distribution::kNormal, Distribution::kUniform01, Distribution::kPositive, Distribution::kIntegers}) {
    Job one = job();
    one.record.recipe.distribution = distribution;
    const auto order = parse_order(to_json(order_of(one)));
    ASSERT_TRUE(order) << order.error().message;
    EXPECT_EQ(order->recipe.distribution, distribution);
  }
}

TEST(Job, AnOrderThatLacksSomethingIsAnError) {
  for (const char* line : {"", "[]", "{}", R"({"index": 1, "case": "x", "data": "normal"})",
                           R"({"index": 1, "case": "x", "data": "odd", "seed": "1"})",
                           R"({"index": 1, "case": "x", "data": "normal", "seed": "1x"})",
                           R"({"case": "x", "data": "normal", "seed": "1"})"})
    EXPECT_FALSE(parse_order(line)) << line;
}

TEST(Job, ARecordIsWhatWasPlannedAndWhatWasFound) {
  CaseRecord found;
  found.index = 17;
  found.op = "another";
  found.calls = 77;
  found.attempts = 9;
  found.recipe = {Distribution::kUniform01, 99};
  found.outcome = Outcome::kFailed;
  found.reason = "r";
  found.elements = 11;
  found.pcc = 0.5;
  found.wall_seconds = 2;
  const CaseRecord record = joined(job().record, found);
  CaseRecord expected = job().record;
  expected.outcome = Outcome::kFailed;
  expected.reason = "r";
  expected.elements = 111;
  expected.pcc = 0.5;
  expected.wall_seconds = 2;
  EXPECT_EQ(to_json(record), to_json(expected));
}

}  // namespace
}  // namespace opwright
