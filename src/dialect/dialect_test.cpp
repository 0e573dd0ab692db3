#include "dialect/dialect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dialect/aten/aten.h"
#include "dialect/ttnn/ttnn.h"

namespace opwright {
namespace {

TEST(Dialect, IsFoundByTheNameInFront) {
  for (const char* op : {"ttnn.add", "ttnn::add", "ttnn.experimental.x", "ttnn."})
    EXPECT_EQ(dialect_of(op).name, "ttnn") << op;
  for (const char* op : {"aten.add.Tensor", "aten::add.Tensor", "aten::_softmax"})
    EXPECT_EQ(dialect_of(op).name, "aten") << op;
  for (const char* op :
       {"", "add", "ttnn", "ttnnx.add", "attn.add", "torch.add", "Aten.add", "aten:add", "mylib.aten.add"})
    EXPECT_EQ(dialect_of(op).name, "") << op;
}

TEST(Dialect, TheNeutralOneKnowsNothing) {
  const Dialect& neutral = dialect_of("mylib.matmul");
  EXPECT_FALSE(neutral.executed);
  EXPECT_FALSE(neutral.in_masters);
  EXPECT_TRUE(neutral.tables().known().empty());
  EXPECT_EQ(neutral.normal_form, nullptr);
  EXPECT_EQ(operation_name("mylib::matmul.default"), "mylib.matmul.default");
  EXPECT_TRUE(signature_of("mylib.matmul").empty());
  EXPECT_FALSE(is_handle_argument("mylib.matmul", "barrier_semaphore"));
}

TEST(Dialect, EveryOneIsListedOnceUnderItsOwnName) {
  std::set<std::string_view> names;
  for (const Dialect* dialect : dialects()) {
    EXPECT_FALSE(dialect->name.empty());
    EXPECT_TRUE(names.insert(dialect->name).second) << dialect->name;
    const auto known = dialect->tables().known();
    EXPECT_FALSE(known.empty()) << dialect->name;
    for (const KnownOperation& op : known) EXPECT_EQ(&dialect_of(op.name), dialect) << op.name;
    for (const KnownOperation& op : known) EXPECT_EQ(operation_name(op.name), op.name);
    EXPECT_EQ(std::ranges::adjacent_find(known, std::greater_equal<>(), &KnownOperation::name), known.end());
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"aten", "ttnn"}));
}

TEST(Dialect, AnOperationHasOneName) {
  EXPECT_EQ(operation_name("ttnn::experimental::x"), "ttnn.experimental.x");
  for (const char* op : {"aten::relu", "aten.relu", "aten.relu.default", "aten::relu.default"})
    EXPECT_EQ(operation_name(op), "aten.relu") << op;
  EXPECT_EQ(operation_name("aten::add.Tensor"), "aten.add.Tensor");
  EXPECT_EQ(operation_name("ttnn.x.default"), "ttnn.x.default");
}

TEST(Dialect, AShortNameMayStandForAnOperationOfEach) {
  EXPECT_EQ(possible_operations("add"), (std::vector<std::string>{"add", "ttnn.add", "aten.add"}));
}

TEST(Dialect, SignaturesAndHandlesAreTheDialects) {
  EXPECT_EQ(signature_of("ttnn.add").size(), 2u);
  const auto add = signature_of("aten.add.Tensor");
  EXPECT_EQ(std::vector<std::string_view>(add.begin(), add.end()), (std::vector<std::string_view>{"self", "other"}));
  EXPECT_TRUE(is_handle_argument("ttnn.all_gather", "barrier_semaphore"));
  EXPECT_TRUE(is_handle_argument("ttnn.all_gather", "multi_device_global_semaphore"));
  EXPECT_FALSE(is_handle_argument("ttnn.all_gather", "dim"));
  EXPECT_FALSE(is_handle_argument("aten.add.Tensor", "barrier_semaphore"));
}

TEST(TtnnTables, KnowTheLibrary) {
  const OperationTables& tables = ttnn_dialect().tables();
  EXPECT_EQ(tables.known().size(), 824u);
  EXPECT_TRUE(tables.is_known("ttnn.add"));
  EXPECT_TRUE(tables.in_existing("ttnn.add"));
  EXPECT_TRUE(tables.is_known("ttnn.all_gather"));
  EXPECT_FALSE(tables.in_existing("ttnn.all_gather"));
  for (const char* op : {"ttnn.ad", "ttnn::add", "", "ttnn.zzz"}) EXPECT_FALSE(tables.is_known(op)) << op;
  EXPECT_TRUE(tables.excludes("ttnn.copy_device_to_host_tensor"));
  EXPECT_FALSE(tables.excludes("ttnn.add"));
}

}  // namespace
}  // namespace opwright
