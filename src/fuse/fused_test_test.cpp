#include "fuse/fused_test.h"

#include <gtest/gtest.h>

#include "fuse/test_fused.h"

namespace opwright::fuse {
namespace {

TEST(FusedTestJson, IsReadBackAsItWas) {
  const FusedTest test = example_test();
  const std::string text = to_json(test);
  const auto again = parse_fused_test(text, "text");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(to_json(*again), text);
  EXPECT_EQ(again->sets[0].calls[1].config.args[1].name, "input_tensor_b");
  EXPECT_EQ(again->calls[1].tensors[0], Source::of_result(0, 0));
  EXPECT_EQ(again->inputs[1].role, Role::kWeight);
  EXPECT_DOUBLE_EQ(again->sets[0].expected->pcc, 0.9998);
  EXPECT_EQ(again->findings[0].code, FindingCode::kNoPrefill);
}

// Each part that is missing or does not fit is named.
TEST(FusedTestJson, SaysWhatDoesNotFit) {
  const auto problem = [](const std::string& from, const std::string& to) {
    std::string text = to_json(example_test());
    const auto at = text.find(from);
    if (at == std::string::npos) return "not in the text: " + from;
    text.replace(at, from.size(), to);
    const auto read = parse_fused_test(text, "gated.params.json");
    return read ? std::string("it is read") : read.error().message;
  };
  EXPECT_EQ(
      problem("{\"call\": 0, \"result\": 0}", "{\"call\": 1, \"result\": 0}"),
      "gated.params.json: calls[1] (ttnn.multiply): tensor 0 is result 0 of call 1, which no earlier call returns");
  EXPECT_EQ(problem("\"activation\"", "\"actor\""),
            "gated.params.json: inputs[0].role is not there, or not what it "
            "should be");
  EXPECT_EQ(problem("\"name\": \"example\"", "\"name\": \"a b\""),
            "gated.params.json: name 'a b': letters, digits and _, as Python takes it");
  EXPECT_EQ(problem("\"contents\": [\"\", \"\"]", "\"contents\": []"),
            "gated.params.json: sets 'decode_1': calls, inputs, outputs or contents are not as many as the test has");
  EXPECT_EQ(problem("\"fused_test\": 1", "\"fused_test\": 7"),
            "gated.params.json: version 7 of the format, this build reads up to 1; read it with a newer opwright, or "
            "make the test again");
  EXPECT_EQ(problem("\"fused_test\": 1", "\"suite\": 1"), "gated.params.json: it is no description of a fused test");
  EXPECT_EQ(problem("\"NO_PREFILL\"", "\"NO_WAY\""),
            "gated.params.json: findings[0].code is not there, or not what it "
            "should be");
}

TEST(FusedTestJson, RefusesWhatIsNoJson) {
  const auto read = parse_fused_test("{\"fused_test\": 1", "cut.params.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_TRUE(read.error().message.starts_with("cut.params.json: byte ")) << read.error().message;
}

TEST(FusedTest, FirstUseIsTheFirstCallThatTakesAnInput) {
  const FusedTest test = example_test();
  const auto use = first_use(test, 1);
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->call, 0U);
  EXPECT_EQ(use->tensor, 1U);
  EXPECT_FALSE(first_use(test, 7).has_value());
}

}  // namespace
}  // namespace opwright::fuse
