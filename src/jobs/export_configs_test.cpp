#include "jobs/export_configs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_folder.h"
#include "jobs/check_hashes.h"
#include "jobs/diff_configs.h"
#include "jobs/ending.h"
#include "jobs/ingest.h"
#include "jobs/make_vectors.h"

namespace opwright::jobs {
namespace {

// A store with the configurations of one small model, and what can be asked of it.
class ExportConfigs : public testing::Test {
 protected:
  void SetUp() override {
    const auto imported = ingest({fixture_path("demo/tiny_llm.json")}, {.store = question_.store});
    ASSERT_TRUE(imported) << imported.error().message;
    configurations_ = imported->configurations;
  }
  ExportedConfigs exported(ExportOptions options) const {
    const auto out = export_configs(options);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : ExportedConfigs();
  }

  TestFolder folder_;
  Question question_{.store = folder_.file("s.db")};
  std::int64_t configurations_ = 0;
};

TEST_F(ExportConfigs, AMasterHoldsTheSameConfigurationsWithSoundHashes) {
  const ExportedConfigs out = exported({.question = question_});
  EXPECT_TRUE(out.report.not_expressible.empty());
  const std::string master = folder_.write("m.json", out.text);
  const auto diff = diff_configs({.a = question_.store, .b = master});
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_TRUE(diff->equal());
  EXPECT_EQ(diff->same, configurations_);
  EXPECT_EQ(ending_of(*diff), Ending::kWell);
  const auto hashes = check_hashes(master);
  ASSERT_TRUE(hashes) << hashes.error().message;
  EXPECT_EQ(hashes->matched, hashes->configurations);
  EXPECT_NE(hashes->generation(), "mixed");
  EXPECT_EQ(ending_of(*hashes), Ending::kWell);
}

TEST_F(ExportConfigs, LinesAreOneAConfiguration) {
  const ExportedConfigs jsonl = exported({.question = question_, .format = ExportFormat::kJsonl});
  EXPECT_EQ(std::ranges::count(jsonl.text, '\n'), configurations_);
  EXPECT_EQ(jsonl.report.configurations, configurations_);
  const ExportedConfigs csv = exported({.question = question_, .format = ExportFormat::kCsv});
  EXPECT_TRUE(csv.text.starts_with("operation,key,convention,"));
}

TEST_F(ExportConfigs, EraOneSaysWhatItCannotHold) {
  const ExportedConfigs out = exported({.question = question_, .format = ExportFormat::kMaster1});
  EXPECT_EQ(out.report.configurations, 0);
  ASSERT_EQ(out.report.not_expressible.size(), 1U);
  EXPECT_GE(out.report.not_expressible.begin()->second, configurations_);
}

TEST_F(ExportConfigs, ASelectorChoosesAndAWrongOneIsAnError) {
  ExportOptions options{.question = question_, .format = ExportFormat::kJsonl};
  options.question.where = "op=no_such_operation";
  EXPECT_EQ(exported(options).text, "");
  options.question.where = "op=";
  EXPECT_EQ(export_configs(options).error().code, ErrorCode::kUsage);
}

TEST_F(ExportConfigs, ADifferenceIsCountedByKind) {
  const auto all = diff_configs({.a = question_.store, .b = fixture_path("master/era2_g4.json")});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_FALSE(all->equal());
  EXPECT_EQ(all->same + all->changed + all->removed, all->a.configurations);
  EXPECT_EQ(all->same + all->changed + all->added, all->b.configurations);
  EXPECT_EQ(ending_of(*all), Ending::kDifference);
}

TEST_F(ExportConfigs, VectorsAreHandedOverAndWritten) {
  std::int64_t seen = 0;
  VectorsRequest request{.question = question_, .folder = folder_.file("out"), .tag = "t"};
  request.each = [&](const vectors::TestVector&) { ++seen; };
  const auto report = make_vectors(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(seen, configurations_);
  EXPECT_EQ(report->made.total().vectors, configurations_);
  ASSERT_TRUE(report->written);
  EXPECT_EQ(report->written->vectors, configurations_);
  request.folder = "";
  EXPECT_FALSE(make_vectors(request)->written);
}

}  // namespace
}  // namespace opwright::jobs
