#include "jobs/conform_device.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace opwright::jobs {
namespace {

// A sum that the library accepts; `shape` is what the record says comes out.
std::string recorded(const std::string& op, const std::string& shape, const std::string& outcome = "ok") {
  const std::string memory = R"("storage":"DEVICE","memory":{"layout":"INTERLEAVED","buffer":"DRAM"}})";
  const std::string tensor = R"({"tensor":{"shape":[1,1,32,64],"dtype":"BFLOAT16","layout":"TILE",)" + memory + "}";
  return R"({"id":")" + op + shape + R"(","board":"n150","l1_small":24576,"call":{"op":")" + op + R"(","args":[)" +
         tensor + "," + tensor + R"(],"kwargs":{}},"outcome":")" + outcome + R"(","outputs":[{"shape":)" + shape +
         R"(,"padded_shape":)" + shape + R"(,"dtype":"BFLOAT16","layout":"TILE",)" + memory + R"(],"grid":[8,8]})" +
         "\n";
}

TEST(ConformDevice, ReportsAgreementAndWhereThereIsNone) {
  const TestFolder folder;
  const std::string good =
      folder.write("good.jsonl", recorded("ttnn.add", "[1,1,32,64]") + recorded("ttnn.multiply", "[1,1,32,64]"));
  const std::string bad = folder.write("bad.jsonl", recorded("ttnn.add", "[1,1,32,32]"));
  const auto agreed = conform_device({.device = "sim:n150", .files = {good}});
  ASSERT_TRUE(agreed) << agreed.error().message;
  EXPECT_EQ(agreed->cases, 2);
  EXPECT_EQ(agreed->total.outcome.agree, 2);
  EXPECT_EQ(agreed->total.specs.disagree, 0);
  EXPECT_TRUE(agreed->disagreements.empty());
  EXPECT_EQ(agreed->per_op.size(), 2U);
  const auto both = conform_device({.device = "sim:n150", .files = {good, bad}});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->cases, 3);
  EXPECT_EQ(both->total.specs.disagree, 1);
  ASSERT_EQ(both->disagreements.size(), 1U);
  EXPECT_EQ(both->disagreements[0].op, "ttnn.add");
  EXPECT_EQ(both->disagreements[0].what, "spec");
}

TEST(ConformDevice, OnlyTheOperationsThatAreAskedFor) {
  const TestFolder folder;
  const std::string file =
      folder.write("two.jsonl", recorded("ttnn.add", "[1,1,32,64]") + recorded("ttnn.multiply", "[1,1,32,64]"));
  const auto report = conform_device({.device = "sim:n150", .files = {file}, .ops = {"ttnn.multiply"}});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->cases, 1);
  EXPECT_TRUE(report->per_op.contains("ttnn.multiply"));
}

TEST(ConformDevice, NoSuchDeviceOrFileIsAnError) {
  const TestFolder folder;
  EXPECT_FALSE(
      conform_device({.device = "toaster", .files = {folder.write("a.jsonl", recorded("ttnn.add", "[1,1,32,64]"))}}));
  const auto missing = conform_device({.device = "sim:n150", .files = {folder.file("no_such.jsonl")}});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("no_such.jsonl"), std::string::npos) << missing.error().message;
}

}  // namespace
}  // namespace opwright::jobs
