#include "vectors/all_cases.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "vectors/test_vectors.h"

namespace opwright::vectors {
namespace {

TEST(AllCases, AreTheProductOfWhatWasRecorded) {
  CaseSpace space;
  const std::vector<std::string> recorded{
      "ttnn.add(input_tensor_a=tensor([32,32] BFLOAT16 TILE DEVICE), input_tensor_b=tensor([32,32] BFLOAT16 TILE "
      "DEVICE))",
      "ttnn.add(input_tensor_a=tensor([64,32] FLOAT32 TILE DEVICE), input_tensor_b=tensor([1,32] BFLOAT16 TILE "
      "DEVICE), "
      "dtype=DataType.BFLOAT16)",
      "ttnn.add(input_tensor_a=tensor([64,32] FLOAT32 TILE DEVICE), input_tensor_b=2.0)",
      "ttnn.add(input_tensor_a=tensor([64,32] FLOAT32 TILE DEVICE), input_tensor_b=3.0, use_legacy=true)"};
  std::set<std::string> keys;
  for (const std::string& line : recorded) {
    TestVector vector = vector_of(line);
    vector.calls = 5;
    vector.config_hash = "x";
    keys.insert(vector.key);
    space.add(vector);
  }
  // Two shapes (together), two dtypes of a, dtype or not; and apart from them 2 scalars, use_legacy or not.
  EXPECT_EQ(space.size(), 2 * 2 * 2 + 2 * 2);
  Collected all;
  ASSERT_TRUE(space.for_each("all_cases", all.use()));
  ASSERT_EQ(static_cast<std::int64_t>(all.vectors.size()), space.size());
  std::set<std::string> made;
  std::size_t traced = 0;
  for (const TestVector& vector : all.vectors) {
    made.insert(vector.key);
    EXPECT_EQ(vector.suite, "all_cases");
    EXPECT_TRUE(vector.config_hash.empty());
    EXPECT_EQ(vector.calls, keys.contains(vector.key) ? 5 : 0);
    traced += keys.contains(vector.key) ? 1 : 0;
    // Shapes that were not recorded together never come together.
    EXPECT_EQ(case_line(vector.config).find("[32,32] BFLOAT16 TILE DEVICE), input_tensor_b=tensor([1,32]"),
              std::string::npos);
  }
  EXPECT_EQ(made.size(), all.vectors.size());
  EXPECT_EQ(traced, recorded.size());
}

TEST(AllCases, SizesDoNotWrap) {
  CaseSpace space;
  for (int i = 0; i < 20; ++i) {
    std::string line = "ttnn.x(";
    for (int n = 0; n < 20; ++n) line += fmt::format("{}p{}={}", n > 0 ? ", " : "", n, i);
    space.add(vector_of(line + ")"));
  }
  EXPECT_EQ(space.size(), std::numeric_limits<std::int64_t>::max());
}

TEST(AllCases, ListsOfTensorsStayLists) {
  CaseSpace space;
  space.add(
      vector_of("ttnn.concat(tensors=[tensor([32] BFLOAT16 TILE DEVICE),tensor([32] FLOAT32 TILE DEVICE)], dim=0)"));
  space.add(
      vector_of("ttnn.concat(tensors=[tensor([32] FLOAT32 TILE DEVICE),tensor([32] FLOAT32 TILE DEVICE)], dim=1)"));
  Collected all;
  ASSERT_TRUE(space.for_each("all_cases", all.use()));
  ASSERT_EQ(all.vectors.size(), 4U);
  for (const TestVector& vector : all.vectors) ASSERT_EQ(vector.config.args.at(0).value.as_list()->size(), 2U);
}

}  // namespace
}  // namespace opwright::vectors
