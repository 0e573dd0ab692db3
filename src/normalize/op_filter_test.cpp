#include "normalize/op_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/test_folder.h"
#include "dialect/dialect.h"

namespace opwright::normalize {
namespace {

using Verdict = OpFilter::Verdict;

Verdict judge(const FilterOptions& options, std::string_view op) {
  const auto filter = OpFilter::make(options);
  EXPECT_TRUE(filter) << filter.error().message;
  return filter->judge(op);
}

TEST(OpFilter, KnownOperationsAreKeptAndHousekeepingIsNot) {
  for (const char* op : {"ttnn.add", "ttnn.experimental.rotary_embedding",
                         "ttnn.transformer.scaled_dot_product_attention", "ttnn.all_gather", "ttnn.rand"})
    EXPECT_EQ(judge({}, op), Verdict::kKeep) << op;
  for (const char* op : {"ttnn.deallocate", "ttnn.to_layout", "ttnn.from_torch", "ttnn.view",
                         "ttnn.copy_device_to_host_tensor", "ttnn.prim.binary"})
    EXPECT_EQ(judge({}, op), Verdict::kExcluded) << op;
  for (const char* op :
       {"MatmulDeviceOperation", "tt.tt_metal.create_device_tensor", "ttnn.Tensor.__getitem__", "", "add"})
    EXPECT_EQ(judge({}, op), Verdict::kNotListed) << op;
}

TEST(OpFilter, The26ExclusionsAndNoOther) {
  const std::set<std::string> wanted{"ttnn.allocate_tensor_on_device",
                                     "ttnn.as_tensor",
                                     "ttnn.complex_tensor",
                                     "ttnn.composite_example",
                                     "ttnn.composite_example_multiple_return",
                                     "ttnn.copy_device_to_host_tensor",
                                     "ttnn.copy_host_to_device_tensor",
                                     "ttnn.deallocate",
                                     "ttnn.dram_prefetcher",
                                     "ttnn.dump_tensor",
                                     "ttnn.from_device",
                                     "ttnn.from_torch",
                                     "ttnn.load_tensor",
                                     "ttnn.move",
                                     "ttnn.pearson_correlation_coefficient",
                                     "ttnn.prim.binary",
                                     "ttnn.prim.example",
                                     "ttnn.prim.example_multiple_return",
                                     "ttnn.reallocate",
                                     "ttnn.to_device",
                                     "ttnn.to_dtype",
                                     "ttnn.to_layout",
                                     "ttnn.to_memory_config",
                                     "ttnn.to_torch",
                                     "ttnn.unary_chain",
                                     "ttnn.view"};
  const auto filter = OpFilter::make({});
  for (const std::string& op : wanted) EXPECT_EQ(filter->judge(op), Verdict::kExcluded) << op;
  for (const Dialect* dialect : dialects()) {
    for (const KnownOperation& op : dialect->tables().known())
      EXPECT_EQ(filter->judge(op.name) == Verdict::kExcluded, wanted.contains(std::string(op.name))) << op.name;
  }
}

TEST(OpFilter, EverythingOnRequest) {
  EXPECT_EQ(judge({.all_ops = true}, "MatmulDeviceOperation"), Verdict::kKeep);
  EXPECT_EQ(judge({.all_ops = true}, "ttnn.deallocate"), Verdict::kKeep);
  EXPECT_EQ(judge({.all_ops = true, .exclude = {"add"}}, "ttnn.add"), Verdict::kExcluded);
}

TEST(OpFilter, LikeTheExistingTooling) {
  EXPECT_EQ(judge({.like_existing = true}, "ttnn.add"), Verdict::kKeep);
  EXPECT_EQ(judge({.like_existing = true}, "ttnn.all_gather"), Verdict::kNotListed);
  EXPECT_EQ(judge({.like_existing = true}, "ttnn.deallocate"), Verdict::kExcluded);
}

TEST(OpFilter, MoreNamesToLeaveOutInEverySpelling) {
  for (const char* name : {"ttnn.add", "ttnn::add", "add"}) {
    EXPECT_EQ(judge({.exclude = {name}}, "ttnn.add"), Verdict::kExcluded) << name;
    EXPECT_EQ(judge({.exclude = {name}}, "ttnn.addcmul"), Verdict::kKeep) << name;
  }
}

TEST(OpFilter, AListOfOnesOwn) {
  const TestFolder folder;
  const std::string path = folder.write("ops.txt", "# mine\n  ttnn::add \r\n\nmy_op\nttnn.deallocate");
  EXPECT_EQ(judge({.ops_list_path = path}, "ttnn.add"), Verdict::kKeep);
  EXPECT_EQ(judge({.ops_list_path = path}, "ttnn.my_op"), Verdict::kKeep);
  EXPECT_EQ(judge({.ops_list_path = path}, "my_op"), Verdict::kKeep);
  EXPECT_EQ(judge({.ops_list_path = path}, "ttnn.matmul"), Verdict::kNotListed);
  EXPECT_EQ(judge({.ops_list_path = path}, "ttnn.deallocate"), Verdict::kExcluded);
  EXPECT_EQ(OpFilter::make({.ops_list_path = folder.file("missing")}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(OpFilter::make({.ops_list_path = folder.write("empty", "# nothing\n")}).error().code, ErrorCode::kBadInput);
}

// A dialect says what is kept of it; what has none is kept on request only, as an operation that no list has.
TEST(OpFilter, EachDialectHasItsOwnLists) {
  for (const char* op : {"aten.add.Tensor", "aten.no_such_operator"}) {
    EXPECT_EQ(judge({}, op), Verdict::kKeep) << op;
    EXPECT_EQ(judge({.like_existing = true}, op), Verdict::kNotListed) << op;
  }
  EXPECT_EQ(judge({}, "mylib.matmul"), Verdict::kNotListed);
  EXPECT_EQ(judge({.all_ops = true}, "mylib.matmul"), Verdict::kKeep);
  EXPECT_EQ(judge({.exclude = {"relu"}}, "aten.relu"), Verdict::kExcluded);
  EXPECT_EQ(judge({.exclude = {"relu"}}, "ttnn.relu"), Verdict::kExcluded);
  EXPECT_EQ(judge({.exclude = {"aten::relu.default"}}, "aten.relu"), Verdict::kExcluded);
  EXPECT_EQ(judge({.exclude = {"aten::relu"}}, "ttnn.relu"), Verdict::kKeep);
}

}  // namespace
}  // namespace opwright::normalize
