#include "compare/pcc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"
#include "compare/test_data.h"

namespace opwright {
namespace {

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

TEST_F(Goldens, Pcc) {
  int seen = 0;
  for (const json::Node& item : *root_->find("pcc_allclose")) {
    SCOPED_TRACE(item.string_field("name").value());
    Values golden = values(item, "golden");
    Values calculated = values(item, "calculated");
    const json::Node& expected = *item.find("comp_pcc_default");
    const auto check = comp_pcc(golden.view(), calculated.view());
    EXPECT_EQ(check->passed, expected.find("passed")->is_true());
    EXPECT_EQ(check->pcc, number(*expected.find("pcc")));
    ++seen;
  }
  EXPECT_GE(seen, 20);
}

}  // namespace
}  // namespace opwright
