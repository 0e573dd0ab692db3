#include "dialect/ttnn/activation.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

Activation one(const Value& value) {
  const auto read = activations_of(value, "activation");
  return read && read->size() == 1 ? read->front() : Activation{"?", {}};
}

TEST(Activation, EverySpelling) {
  EXPECT_EQ(one(Value(Enum{"UnaryOpType", "SILU"})), (Activation{"silu", {}}));
  EXPECT_EQ(one(Value("relu")), (Activation{"relu", {}}));
  EXPECT_EQ(one(Value("gelu_approx")), (Activation{"gelu", {1}}));
  EXPECT_EQ(one(Value("UnaryOpType::RECIP")), (Activation{"reciprocal", {}}));
  EXPECT_EQ(one(Value("UnaryWithParam(op_type=UnaryOpType::GELU, params=[1])")), (Activation{"gelu", {1}}));
  EXPECT_EQ(one(Value("BasicUnaryWithParam<float>(op_type=UnaryOpType::SIGMOID;param={4,0})")),
            (Activation{"sigmoid", {4, 0}}));
  const Value type(Enum{"UnaryOpType", "LEAKY_RELU"});
  EXPECT_EQ(one(Value::structure("UnaryWithParam", {{"op_type", type}, {"params", Value(List{Value(0.5)})}})),
            (Activation{"leaky_relu", {0.5}}));
}

TEST(Activation, ListsAndNone) {
  EXPECT_TRUE(activations_of(Value(), "activations")->empty());
  const Value two(List{Value("relu"), Value(Enum{"UnaryOpType", "EXP"})});
  const auto read = activations_of(two, "activations");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[1].name, "exp");
}

TEST(Activation, LostAndWrongOnesAreRefusedByName) {
  const auto gone = activations_of(Value::opaque("", "..."), "activations");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, Refusal::Kind::kLost);
  EXPECT_EQ(gone.error().argument, "activations");
  EXPECT_FALSE(activations_of(Value(std::int64_t{3}), "activations"));
}

TEST(Activation, Approximate) {
  EXPECT_TRUE(is_approximate({"gelu", {1}}));
  EXPECT_FALSE(is_approximate({"gelu", {0}}));
  EXPECT_FALSE(is_approximate({"leaky_relu", {1}}));
}

}  // namespace
}  // namespace opwright
