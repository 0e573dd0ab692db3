#include "dialect/ttnn/device_operations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dialect/dialect.h"
#include "dialect/ttnn/launched_class.h"

namespace opwright {
namespace {

TEST(DeviceOperations, TheTableIsSortedAndNamesOperationsThatExist) {
  const auto all = known_device_operations();
  EXPECT_GT(all.size(), 150u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  const OperationTables& tables = dialect_of("ttnn.x").tables();
  for (const DeviceOperation& operation : all) {
    EXPECT_NE(operation.work, DeviceWork::kUnknown) << operation.name;
    for (const std::string_view name : operation.operations)
      EXPECT_TRUE(tables.is_known(name)) << operation.name << ": " << name;
  }
}

TEST(DeviceOperations, WhatACallLaunchesIsAClassThatNamesTheCall) {
  EXPECT_GT(operations_that_launch().size(), 80u);
  for (const std::string_view operation : operations_that_launch()) {
    for (const std::string_view launched : find_launched(operation)->classes) {
      if (launched == "-") continue;  // of a choice: nothing
      const DeviceOperation* known = find_device_operation(launched);
      ASSERT_NE(known, nullptr) << operation << " launches " << launched << ", which device_operations.tsv lacks";
      EXPECT_TRUE(std::ranges::count(known->operations, operation) == 1) << launched << " does not name " << operation;
    }
  }
}

TEST(DeviceOperations, AClassIsFoundWithoutItsNamespaceAndAdapter) {
  EXPECT_EQ(device_class("MatmulDeviceOperation"), "MatmulDeviceOperation");
  EXPECT_EQ(device_class("ttnn::operations::matmul::MatmulDeviceOperation"), "MatmulDeviceOperation");
  EXPECT_EQ(device_class("tt::MeshDeviceOperationAdapter<ttnn::GroupNormDeviceOperation>"), "GroupNormDeviceOperation");
  EXPECT_EQ(device_class("MeshDeviceOperationAdapter<a::Reduce<int>>"), "Reduce");
  EXPECT_EQ(device_class(""), "");
  EXPECT_EQ(device_class("MeshDeviceOperationAdapter<"), "");
}

TEST(DeviceOperations, WhichAreCollectiveIsSaidByTheTableAndNotByTheName) {
  EXPECT_TRUE(find_device_operation("AllGatherDeviceOperation")->collective);
  EXPECT_FALSE(find_device_operation("LayerNormPreAllGatherDeviceOperation")->collective);
  EXPECT_EQ(find_device_operation("LayerNormPreAllGatherDeviceOperation")->work, DeviceWork::kNormalization);
  EXPECT_EQ(find_device_operation("MyAllGather"), nullptr);
}

}  // namespace
}  // namespace opwright
