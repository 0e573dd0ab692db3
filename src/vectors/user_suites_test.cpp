#include "vectors/user_suites.h"

#include "vectors/test_vectors.h"

namespace opwright::vectors {
namespace {

constexpr char kSuites[] = R"Y(
suites:
  small:
    - op: ttnn.add
      parameters:
        input_tensor_a: ['tensor([32,32] BFLOAT16 TILE DEVICE)', 'tensor([64,32] BFLOAT16 TILE DEVICE)']
        "input_tensor_b, dtype": [[2.0, absent], [none, DataType.BFLOAT16]]
        order: [[1, 2], '"text"']
      data: integers
      seed: 7
      pcc: 0.999
      seconds: 5
  xfail_bad:
    - op: ttnn::relu
      parameters: {arg0: ['tensor([1] FLOAT32 TILE DEVICE)']}
    - op: ttnn.arange
)Y";

TEST(UserSuites, MakeTheProductTheFirstParameterSlowest) {
  const auto suites = parse_user_suites(kSuites, "my.yaml");
  ASSERT_TRUE(suites) << suites.error().message;
  ASSERT_EQ(suites->size(), 2U);
  EXPECT_EQ((*suites)[0].cases[0].size(), 8);
  Collected all;
  for (const UserSuite& suite : *suites) ASSERT_TRUE(for_each_user_vector(suite, all.use()));
  ASSERT_EQ(all.vectors.size(), 10U);
  std::vector<std::string> lines;
  for (const TestVector& vector : all.vectors) lines.push_back(case_line(vector.config));
  EXPECT_EQ(lines[0], "ttnn.add(input_tensor_a=tensor([32,32] BFLOAT16 TILE DEVICE), input_tensor_b=2.0, order=[1,2])");
  EXPECT_EQ(lines[1],
            "ttnn.add(input_tensor_a=tensor([32,32] BFLOAT16 TILE DEVICE), input_tensor_b=2.0, order=\"text\")");
  EXPECT_EQ(lines[2],
            "ttnn.add(input_tensor_a=tensor([32,32] BFLOAT16 TILE DEVICE), input_tensor_b=none, "
            "dtype=DataType.BFLOAT16, order=[1,2])");
  EXPECT_EQ(lines[4], "ttnn.add(input_tensor_a=tensor([64,32] BFLOAT16 TILE DEVICE), input_tensor_b=2.0, order=[1,2])");
  EXPECT_EQ(lines[8], "ttnn::relu(arg0=tensor([1] FLOAT32 TILE DEVICE))");
  EXPECT_EQ(lines[9], "ttnn.arange()");
  EXPECT_EQ(all.vectors[0].recipe.seed, 7U);
  EXPECT_EQ(all.vectors[0].recipe.distribution, Distribution::kIntegers);
  EXPECT_EQ(all.vectors[0].pcc, 0.999);
  EXPECT_EQ(all.vectors[0].seconds, 5.0);
  EXPECT_FALSE(all.vectors[0].expected_to_fail());
  EXPECT_TRUE(all.vectors[8].expected_to_fail());
}

TEST(UserSuites, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> kBad[] = {
      {"", "suites"},
      {"suites: [", "no YAML"},
      {"suites:\n  s:\n    - op: a\n      parameter: {}\n", "line 4, column 7: unknown key 'parameter'; did you mean"},
      {"suite: {}\n", "line 1, column 1: unknown key 'suite'"},
      {"suites: {}\n", "names of suites"},
      {"suites:\n  s: 3\n", "line 2"},
      {"suites:\n  a b:\n    - op: x\n", "no name of a suite"},
      {"suites:\n  s:\n    - op: x\n  s:\n    - op: y\n", "stands twice"},
      {"suites:\n  s:\n    - parameters: {}\n", "needs `op:`"},
      {"suites:\n  s:\n    - op: [1]\n", "line 3"},
      {"suites:\n  s:\n    - op: x\n      parameters: {a: 3}\n", "list of values"},
      {"suites:\n  s:\n    - op: x\n      parameters: {a: []}\n", "list of values"},
      {"suites:\n  s:\n    - op: x\n      parameters:\n        a: [relu(]\n", "line 5, column 13: 'relu(' is no value"},
      {"suites:\n  s:\n    - op: x\n      parameters:\n        'a,b': [[1]]\n", "2 values are wanted"},
      {"suites:\n  s:\n    - op: x\n      parameters:\n        'a,a': [[1, 2]]\n", "'a' stands twice"},
      {"suites:\n  s:\n    - op: x\n      parameters: {a: [{b: 1}]}\n", "as in a case line"},
      {"suites:\n  s:\n    - op: x\n      pcc: 2\n", "`pcc:` is a number from -1 to 1"},
      {"suites:\n  s:\n    - op: x\n      seconds: .nan\n", "`seconds:` is a number"},
      {"suites:\n  s:\n    - op: x\n      seed: -1\n", "`seed:` is a whole number"},
      {"suites:\n  s:\n    - op: x\n      data: pink\n", "no distribution 'pink'"},
  };
  for (const auto& [text, part] : kBad) {
    const auto suites = parse_user_suites(text, "my.yaml");
    ASSERT_FALSE(suites) << text;
    EXPECT_EQ(suites.error().code, ErrorCode::kBadInput);
    EXPECT_TRUE(suites.error().message.starts_with("my.yaml")) << suites.error().message;
    EXPECT_NE(suites.error().message.find(part), std::string::npos) << text << "\n" << suites.error().message;
  }
}

TEST(UserSuites, AFileThatMeansTooMuchIsRefused) {
  std::string text = "suites:\n  s:\n    - op: ttnn.add\n      parameters:\n        p0: [&a0 [1,1,1,1,1,1,1,1,1,1]]\n";
  for (int i = 1; i < 9; ++i) {
    text += "        p" + std::to_string(i) + ": [&a" + std::to_string(i) + " [";
    for (int n = 0; n < 10; ++n) text += (n > 0 ? "," : "") + ("*a" + std::to_string(i - 1));
    text += "]]\n";
  }
  const auto suites = parse_user_suites(text, "my.yaml");
  ASSERT_FALSE(suites);
  EXPECT_NE(suites.error().message.find("with its aliases (*name) written out, the file is larger than 64 MiB"),
            std::string::npos)
      << suites.error().message;
}

TEST(UserSuites, NamesAndCasesOfAliasesCountToo) {
  std::string names = "suites:\n  s:\n    - op: &long " + std::string(100'000, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) names += "    - op: *long\n";
  std::string cases = "suites:\n  s: &s\n";
  for (int i = 0; i < 2000; ++i) cases += "    - op: ttnn.add\n";
  for (int i = 0; i < 1000; ++i) cases += "  s" + std::to_string(i) + ": *s\n";
  for (const std::string& text : {names, cases}) {
    const auto suites = parse_user_suites(text, "my.yaml");
    ASSERT_FALSE(suites);
    EXPECT_NE(suites.error().message.find("larger than 64 MiB"), std::string::npos) << suites.error().message;
  }
}

}  // namespace
}  // namespace opwright::vectors
