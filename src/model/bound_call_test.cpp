#include "model/bound_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/test_tensors.h"

namespace opwright {
namespace {

using testing::HasSubstr;

BoundCall call_of(std::vector<Argument> args, Convention convention = Convention::kPython) {
  return BoundCall("ttnn.op", convention, std::move(args));
}
BoundCall with(Value value, Convention convention = Convention::kPython) {
  return call_of({{"x", std::move(value)}}, convention);
}
Value numbers(std::initializer_list<std::int64_t> items) {
  List list;
  for (const std::int64_t n : items) list.emplace_back(n);
  return Value(std::move(list));
}

TEST(BoundCall, TensorsAreSlotsInOrderAlsoInsideLists) {
  const Value list(List{Value::tensor(tensor({1})), Value::tensor(tensor({2}))});
  const BoundCall call = call_of({{"a", Value::tensor(tensor({32, 32}))}, {"b", list}, {"c", Value()}});
  ASSERT_EQ(call.tensors.size(), 3U);
  EXPECT_EQ(call.tensors[2].param, "b");
  EXPECT_EQ(call.tensors[2].item, 1U);
  EXPECT_EQ(call.tensors[2].spec.shape, Shape{2});
  EXPECT_EQ(call.slot("b", 1), 2U);
  EXPECT_EQ(call.slot("c"), std::nullopt);
  EXPECT_EQ(call.tensor_list("b").size(), 2U);
  EXPECT_EQ(call.tensor_list("a").size(), 1U);
  EXPECT_EQ(call.tensor("b"), nullptr);
}

TEST(BoundCall, NoneIsThereButNotPassed) {
  const BoundCall call = with(Value());
  EXPECT_NE(call.find("x"), nullptr);
  EXPECT_FALSE(call.passed("x"));
  EXPECT_EQ(call.find("y"), nullptr);
  EXPECT_EQ(*call.integer("x", 7), 7);
  EXPECT_EQ(*call.integer("y"), std::nullopt);
}

TEST(BoundCall, SettingAndErasingKeepsTheSlots) {
  BoundCall call = call_of({{"a", Value::tensor(tensor({1}))}, {"b", Value::tensor(tensor({2}))}});
  call.set("a", Value(std::int64_t{3}));
  ASSERT_EQ(call.tensors.size(), 1U);
  EXPECT_EQ(call.tensors[0].param, "b");
  call.erase("b");
  EXPECT_TRUE(call.tensors.empty());
  call.set("c", Value::tensor(tensor({5})));
  EXPECT_EQ(call.slot("c"), 0U);
}

TEST(BoundCall, IntegersInEverySpelling) {
  EXPECT_EQ(*with(Value(std::int64_t{-3})).integer("x", 0), -3);
  EXPECT_EQ(*with(Value("42")).integer("x", 0), 42);
  EXPECT_FALSE(with(Value(1.5)).integer("x", 0));
  EXPECT_FALSE(with(Value("1.5")).integer("x", 0));
  EXPECT_FALSE(with(Value("1e300")).integer("x", 0));
}

TEST(BoundCall, NumbersInEverySpelling) {
  EXPECT_EQ(*with(Value(std::int64_t{2})).number("x", 0), 2.0);
  EXPECT_EQ(*with(Value("1e-05")).number("x", 0), 1e-05);
  EXPECT_EQ(*with(Value("-inf")).number("x", 0), -INFINITY);
  EXPECT_FALSE(with(Value("many")).number("x", 0));
}

TEST(BoundCall, OnlyCppTracesWriteFlagsAsNumbers) {
  EXPECT_TRUE(*with(Value(true)).flag("x", false));
  EXPECT_TRUE(*with(Value("True")).flag("x", false));
  EXPECT_TRUE(*with(Value(std::int64_t{1}), Convention::kCpp).flag("x", false));
  EXPECT_FALSE(with(Value(std::int64_t{1}), Convention::kPython).flag("x", false));
  EXPECT_FALSE(with(Value(std::int64_t{2}), Convention::kCpp).flag("x", false));
}

TEST(BoundCall, DtypesAndLayouts) {
  EXPECT_EQ(*with(Value(Enum{"DataType", "BFLOAT8_B"})).dtype("x", DType::kInt32), DType::kBfloat8B);
  EXPECT_EQ(*with(Value("DataType::FLOAT32")).dtype("x", DType::kInt32), DType::kFloat32);
  EXPECT_EQ(*call_of({}).dtype("x", DType::kInt32), DType::kInt32);
  EXPECT_EQ(with(Value("FP8_E4M3")).dtype("x", DType::kInt32).error().kind, Refusal::Kind::kUnsupported);
  EXPECT_EQ(with(Value(std::int64_t{3})).dtype("x", DType::kInt32).error().kind, Refusal::Kind::kRule);
  EXPECT_EQ(*with(Value(Enum{"Layout", "TILE"})).layout("x", Layout::kRowMajor), Layout::kTile);
}

TEST(BoundCall, RowsOfIntegers) {
  EXPECT_EQ(*with(numbers({1, 2})).ints("x"), (Shape{1, 2}));
  EXPECT_EQ(*with(Value(std::int64_t{4})).ints("x"), Shape{4});
  EXPECT_EQ(*with(Value::structure("Shape", {{"", numbers({3, 4})}})).ints("x"), (Shape{3, 4}));
  EXPECT_EQ(*call_of({}).ints("x"), std::nullopt);
  EXPECT_FALSE(with(Value("text")).ints("x"));
  const auto missing = with(Value(List{Value::opaque("", "...")})).ints("x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Refusal::Kind::kLost);
  EXPECT_EQ(missing.error().argument, "x");
}

TEST(BoundCall, AWrongTypeNamesOperatorAndParameter) {
  const auto wrong = with(Value::tensor(tensor({1}))).integer("x", 0);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().argument, "x");
  EXPECT_EQ(wrong.error().message, "ttnn.op(): incompatible function arguments: x cannot be tensor");
  EXPECT_THAT(with(Value(std::string(500, 'a'))).number("x", 0).error().message, HasSubstr("..."));
}

}  // namespace
}  // namespace opwright
