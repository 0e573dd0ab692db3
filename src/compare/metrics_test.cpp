#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"
#include "compare/allclose.h"
#include "compare/float_pass.h"
#include "compare/pcc.h"
#include "compare/test_data.h"
#include "compare/ulp.h"

namespace opwright {
namespace {

using ::testing::HasSubstr;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Values of one format, from literals.
struct Values {
  NumberKind kind;
  OwnedNumbers storage;
  std::vector<double> source;

  Values(NumberKind of, std::vector<double> values) : kind(of), source(std::move(values)) {}
  Numbers view() {
    if (kind == NumberKind::kFloat64) return float64_numbers(source);
    return converted(float64_numbers(source), kind, storage);
  }
};

PccCheck pcc(std::vector<double> g, std::vector<double> c, PccRule rule = {}, NumberKind kind = NumberKind::kFloat32) {
  Values golden(kind, std::move(g));
  Values calculated(kind, std::move(c));
  const auto check = comp_pcc(golden.view(), calculated.view(), rule);
  EXPECT_TRUE(check.has_value());
  return check.value_or(PccCheck{false, kNan});
}

Check allclose(std::vector<double> g, std::vector<double> c, NumberKind kind = NumberKind::kFloat32) {
  Values golden(kind, std::move(g));
  Values calculated(kind, std::move(c));
  return comp_allclose(golden.view(), calculated.view()).value_or(Check{false, "error"});
}

void expect_pcc(PccCheck check, bool passed, double value) {
  EXPECT_EQ(check.passed, passed);
  EXPECT_NEAR(check.pcc, value, 1e-15);
}

TEST(Pcc, EdgeCasesOfTheCurrentRule) {
  expect_pcc(pcc({1, 2, 3}, {1, 2, 3}), true, 1.0);
  expect_pcc(pcc({2, 2}, {3, 3}), false, 0.0);
  expect_pcc(pcc({2, 2}, {2.00001, 2.00001}), true, 1.0);
  expect_pcc(pcc({2, 2, 2}, {1, 2, 3}), false, 0.0);
  expect_pcc(pcc({0, 0}, {1e-5, 1e-5}), true, 1.0);
  expect_pcc(pcc({0, 0}, {1, 2}), false, 0.0);
  expect_pcc(pcc({kNan, kNan}, {kNan, kNan}), true, 1.0);
  expect_pcc(pcc({kNan, kNan}, {1, 2}), false, 0.0);
  expect_pcc(pcc({1, kNan, 3}, {1, 2, 3}), false, 0.654653667224013);
  expect_pcc(pcc({1, kInf, 3}, {1, 5, 3}), false, -0.3273268336120065);
  expect_pcc(pcc({5}, {6}), false, 0.0);
  expect_pcc(pcc({1, 2, 3}, {1000, 2000, 3000}), true, 1.0);
  expect_pcc(pcc({1e30, 2e30, 3e30}, {1e30, 2e30, 4e30}), false, 0.9819804978179235);
  expect_pcc(pcc({1, 2, 3}, {1, 2, 4}, {}, NumberKind::kInt64), false, 0.9819804961326678);
  expect_pcc(pcc({1, 2, 3}, {1, 2, 3.5}, {}, NumberKind::kBfloat16), true, 0.9933992719864179);
  expect_pcc(pcc({}, {}), true, 1.0);
}

TEST(Pcc, EarlierRulesByName) {
  for (const PccVariant variant : all_pcc_variants()) EXPECT_EQ(parse_pcc_variant(name_of(variant)), variant);
  EXPECT_FALSE(parse_pcc_variant("pcc-2020").has_value());
  const PccRule june{.variant = PccVariant::kJune2026};
  const PccRule corrcoef{.variant = PccVariant::kCorrcoef};
  const PccRule tt_lib{.variant = PccVariant::kTtLib};
  expect_pcc(pcc({2, 2}, {3, 3}, june), true, 1.0);      // a constant passed
  expect_pcc(pcc({2, 2}, {3, 3}, corrcoef), true, 1.0);  // masked: passed
  expect_pcc(pcc({2, 2}, {3, 3}, tt_lib), false, 0.0);
  expect_pcc(pcc({2, 2}, {2.00001, 2.00001}, tt_lib), true, 1.0);
  expect_pcc(pcc({0, 0}, {1e-5, 1e-5}, june), false, 0.0);
  expect_pcc(pcc({0, 0}, {1e-5, 1e-5}, corrcoef), false, 0.0);
  expect_pcc(pcc({1, 2, 3}, {1, 2, 4}, corrcoef), false, 0.9819805060619656);
  expect_pcc(pcc({5}, {6}, tt_lib), false, 0.0);
  EXPECT_LE(pcc({1, 2, 4}, {2, 4, 8.0001}, corrcoef).pcc, 1.0);
}

TEST(Pcc, DifferentSizesAreAnError) {
  Values golden(NumberKind::kFloat32, {1, 2});
  Values calculated(NumberKind::kFloat32, {1});
  EXPECT_FALSE(comp_pcc(golden.view(), calculated.view()).has_value());
}

TEST(Allclose, MessagesAndEdgeCases) {
  EXPECT_EQ(allclose({2, 2}, {3, 3}).message, "Max ATOL Delta: 1.0, Max RTOL Delta: 0.3333333432674408");
  EXPECT_EQ(allclose({1, 2, 3}, {1, 2, 4}, NumberKind::kInt64).message, "Max ATOL Delta: 1, Max RTOL Delta: 0.25");
  EXPECT_EQ(allclose({1, 2, 3}, {1, 2, 3.5}, NumberKind::kBfloat16).message,
            "Max ATOL Delta: 0.5, Max RTOL Delta: 0.142578125");
  EXPECT_TRUE(allclose({kNan, 1}, {kNan, 1}).passed);
  EXPECT_EQ(allclose({1, kInf}, {1, 5}).message, "Max ATOL Delta: inf, Max RTOL Delta: inf");
  EXPECT_EQ(allclose({kInf}, {kInf}).message, "Max ATOL Delta: nan, Max RTOL Delta: nan");
  EXPECT_FALSE(allclose({kInf}, {-kInf}).passed);
  EXPECT_TRUE(allclose({2}, {2.00001}).passed);
  Values none(NumberKind::kFloat32, {});
  EXPECT_FALSE(comp_allclose(none.view(), none.view()).has_value());
  EXPECT_TRUE(comp_equal(none.view(), none.view())->passed);
}

TEST(Allclose, EqualAndAssertClose) {
  Values nan(NumberKind::kFloat32, {kNan});
  EXPECT_FALSE(comp_equal(nan.view(), nan.view())->passed);
  EXPECT_FALSE(assert_close(nan.view(), nan.view(), 1, 1)->passed);
  Values a(NumberKind::kFloat32, {100, 1});
  Values b(NumberKind::kFloat32, {101, 1});
  EXPECT_TRUE(assert_close(a.view(), b.view(), 0.00995, 0)->passed);  // relative to the expected 101, not to 100
  EXPECT_FALSE(assert_close(b.view(), a.view(), 0.00995, 0)->passed);
  Values c(NumberKind::kBfloat16, {100, 1});
  EXPECT_THAT(assert_close(c.view(), a.view(), 1, 1)->message, HasSubstr("dtype"));
  const auto both = comp_allclose_and_pcc(a.view(), b.view());
  EXPECT_FALSE(both->passed);
  EXPECT_THAT(both->message, HasSubstr(", pcc=1.0"));
}

TEST(Ulp, SizeOfAStep) {
  EXPECT_EQ(ulp_of(NumberKind::kFloat32, 0.0), 0x1p-149);
  EXPECT_EQ(ulp_of(NumberKind::kFloat32, 65504.0), 0.00390625);
  EXPECT_EQ(ulp_of(NumberKind::kFloat32, -0x1.FFFFFEp127), 0x1p104);
  EXPECT_EQ(ulp_of(NumberKind::kBfloat16, 256.0), 2.0);
  EXPECT_EQ(ulp_of(NumberKind::kBfloat16, 0.0), 0x1p-133);
  EXPECT_EQ(ulp_of(NumberKind::kFloat64, 1.0), 0x1p-52);
}

Check ulp(std::vector<double> g, std::vector<double> c, double threshold, bool allow = false,
          NumberKind golden_kind = NumberKind::kBfloat16) {
  Values golden(golden_kind, std::move(g));
  Values calculated(NumberKind::kBfloat16, std::move(c));
  return comp_ulp(golden.view(), calculated.view(), threshold, allow, {1, 2}).value_or(Check{false, "error"});
}

TEST(Ulp, RuleAndMessages) {
  EXPECT_EQ(ulp({1, 2}, {1, 2.03125}, 2).message, "Max ULP Delta: 2.0");
  const Check beyond = ulp({1, 2}, {1, 2.03125}, 1);
  EXPECT_FALSE(beyond.passed);
  EXPECT_EQ(beyond.message, "Max ULP Delta: 2.0 @ [0, 1] = |calculated 2.03125 - golden 2.0| / ULP(golden) 0.015625");
  EXPECT_EQ(ulp({1, kNan}, {1, kNan}, 1).message, "Calculated tensor contains non-finite values");
  EXPECT_TRUE(ulp({1, kNan}, {1, kNan}, 1, true).passed);
  EXPECT_EQ(ulp({1, kInf}, {1, -kInf}, 1, true).message, "Tensors are not finite at the same positions");
  EXPECT_EQ(ulp({1, kInf}, {1, 2}, 1).message, "Tensors are not finite at the same positions");
  // A finer golden tells less than one step.
  EXPECT_EQ(ulp({1.001953125, 1}, {1, 1}, 1, false, NumberKind::kFloat32).message, "Max ULP Delta: 0.25");
  EXPECT_TRUE(ulp({}, {}, 1).passed);
}

TEST(Ulp, DistancesBetweenPatterns) {
  const std::vector<float> expected{1.0F, 1.0F, 0.0F, -0x1p-133F};
  const std::vector<float> actual{1.0F, 1.0078125F, -0.0F, 0x1p-133F};
  const auto stats = bfloat16_ulp_stats(expected, actual);
  EXPECT_EQ(stats->max, 2.0);  // two smallest steps across zero
  EXPECT_EQ(stats->mean, 0.75);
  EXPECT_EQ(stats->median, 0.0);
  EXPECT_EQ(stats->exact_share, 0.5);
  EXPECT_NEAR(stats->p95, 1.85, 1e-12);
  EXPECT_NEAR(stats->std, 0.9574271, 1e-6);
}

TEST(FloatPass, AgreesWithTheSlowWay) {
  test::Numerals random(3);
  std::vector<float> expected;
  std::vector<float> actual;
  for (int i = 0; i < 5003; ++i) {
    expected.push_back(static_cast<float>(100 + random.normal()));
    actual.push_back(expected.back() + static_cast<float>(0.01 * random.normal()));
  }
  expected[17] = std::numeric_limits<float>::infinity();
  actual[4000] = std::numeric_limits<float>::quiet_NaN();
  const FloatFigures fast = compare_floats(expected, actual);
  EXPECT_EQ(fast.count, 5001u);
  EXPECT_EQ(fast.nonfinite, 2u);
  expected.erase(expected.begin() + 4000);
  actual.erase(actual.begin() + 4000);
  expected.erase(expected.begin() + 17);
  actual.erase(actual.begin() + 17);
  EXPECT_NEAR(fast.pcc, comp_pcc(float32_numbers(expected), float32_numbers(actual))->pcc, 1e-6);
  const auto slow = comp_ulp(float32_numbers(expected), float32_numbers(actual), 0);
  EXPECT_THAT(slow->message, HasSubstr(python_text(NumberKind::kFloat32, static_cast<double>(fast.ulp_max))));
  EXPECT_TRUE(std::isnan(compare_floats({}, {}).pcc));
}

// Every golden value that the original functions gave.
class Goldens : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = test::real_data("capture/metrics/pcc_allclose_ulp_goldens.json");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "real data not present";
    text_ = test::bytes_of(path);
    root_ = document_.parse(text_).value();
  }
  static double number(const json::Node& node) {
    if (node.text == "nan" || node.text == "NaN") return kNan;
    if (node.text == "inf") return kInf;
    if (node.text == "-inf") return -kInf;
    return std::stod(std::string(node.text));
  }
  static NumberKind kind(const json::Node& node) {
    const auto name = node.string_field("dtype").value();
    return name == "float32" ? NumberKind::kFloat32 : name == "bfloat16" ? NumberKind::kBfloat16 : NumberKind::kInt64;
  }
  static Values values(const json::Node& node, std::string_view field) {
    std::vector<double> list;
    for (const json::Node& item : *node.find(field)) list.push_back(number(item));
    return {kind(node), std::move(list)};
  }

  std::string text_;
  json::Document document_;
  const json::Node* root_ = nullptr;
};

TEST_F(Goldens, PccAndAllclose) {
  int seen = 0;
  for (const json::Node& item : *root_->find("pcc_allclose")) {
    SCOPED_TRACE(item.string_field("name").value());
    Values golden = values(item, "golden");
    Values calculated = values(item, "calculated");
    const json::Node& expected = *item.find("comp_pcc_default");
    const auto check = comp_pcc(golden.view(), calculated.view());
    EXPECT_EQ(check->passed, expected.find("passed")->is_true());
    EXPECT_EQ(check->pcc, number(*expected.find("pcc")));
    const json::Node& close = *item.find("comp_allclose_default");
    const auto allclose = comp_allclose(golden.view(), calculated.view());
    if (close.find("raises") != nullptr) {
      EXPECT_FALSE(allclose.has_value());
    } else {
      EXPECT_EQ(allclose->passed, close.find("passed")->is_true());
      EXPECT_EQ(allclose->message, close.string_field("message").value());
    }
    ++seen;
  }
  EXPECT_GE(seen, 20);
}

TEST_F(Goldens, Ulp) {
  int seen = 0;
  for (const json::Node& item : *root_->find("ulp")) {
    EXPECT_EQ(ulp_of(kind(item), number(*item.find("x"))), number(*item.find("ulp"))) << item.find("x")->text;
    ++seen;
  }
  EXPECT_GE(seen, 15);
}

}  // namespace
}  // namespace opwright
