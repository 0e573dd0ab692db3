#include "compare/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/json.h"
#include "compare/sample_rows.h"
#include "compare/test_data.h"
#include "model/value.h"

namespace opwright {
namespace {

using test::bf16;
using test::spec_of;
using test::tensor_of;
using ::testing::Contains;
using ::testing::HasSubstr;

// A matrix product with bias as a device computes it: partial sums of `group` terms, rounded to bfloat16 after each.
struct Product {
  std::int64_t rows = 64;
  std::int64_t terms = 256;
  std::int64_t columns = 96;
  std::int64_t group = 8;
  bool positive = false;
  std::vector<double> a, b, bias;
  std::vector<double> exact, magnitude, actual;

  void fill(std::uint64_t seed) {
    test::Numerals random(seed);
    const auto draw = [&](std::vector<double>& to, std::int64_t n) {
      to.resize(static_cast<std::size_t>(n));
      for (double& v : to) v = bf16(positive ? random.uniform() : random.normal());
    };
    draw(a, rows * terms);
    draw(b, terms * columns);
    draw(bias, columns);
  }
  double at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return a[static_cast<std::size_t>(i * terms + k)] * b[static_cast<std::size_t>(k * columns + j)];
  }
  // `last`: the terms that the device takes into account.
  double device(std::int64_t i, std::int64_t j, std::int64_t last) const {
    double sum = 0.0;
    for (std::int64_t k = 0; k < last; k += group) {
      double part = 0.0;
      for (std::int64_t l = k; l < std::min(k + group, last); ++l) part += at(i, j, l);
      sum = bf16(sum + part);
    }
    return sum;
  }
  void compute() {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const double bias_j = bias[static_cast<std::size_t>(j)];
        double sum = bias_j;
        double sizes = std::abs(bias_j);
        for (std::int64_t k = 0; k < terms; ++k) {
          sum += at(i, j, k);
          sizes += std::abs(at(i, j, k));
        }
        exact.push_back(sum);
        magnitude.push_back(sizes);
        actual.push_back(bf16(device(i, j, terms) + bias_j));
      }
    }
  }
  ErrorBudget budget() const {
    ErrorBudget budget;
    budget.kind = ErrorBudget::Kind::kContraction;
    budget.terms = terms;
    budget.accumulator_bits = 8;
    budget.group = group;
    return budget;
  }
  Verdict verdict(const std::vector<double>& values) const {
    const Shape shape{rows, columns};
    const HostTensor tensor = tensor_of(shape, DType::kBfloat16, values);
    const ErrorBudget of = budget();
    return judge({.wanted = tensor.spec, .actual = tensor, .budget = of, .value = exact, .magnitude = magnitude},
                 {.distribution = positive ? "U(0,1)" : "N(0,1)", .seed = 7});
  }
};

const Product& normal_product() {
  static const Product product = [] {
    Product p;
    p.fill(1);
    p.compute();
    return p;
  }();
  return product;
}

TEST(Judge, HonestAccumulationPasses) {
  const Verdict verdict = normal_product().verdict(normal_product().actual);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << to_text(verdict);
  EXPECT_EQ(verdict.judged_by, JudgedBy::kPccAndBound);
  EXPECT_GT(verdict.metrics.excess, 0.7);  // the model predicts what rounding does, it is not merely wide
  EXPECT_LT(verdict.metrics.excess, 1.3);
  EXPECT_GT(verdict.metrics.pcc, 0.9999);
  EXPECT_THAT(to_text(verdict), HasSubstr("64 of 64 rows, N(0,1), seed 7"));
}

// Faults that a judge must see. All but the last few keep PCC above 0.999 or shape and dtype as promised.
struct Fault {
  const char* name;
  std::function<void(const Product&, std::vector<double>&)> apply;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> list{
      {"scale 1.03",
       [](const Product&, std::vector<double>& v) {
         for (double& x : v) x = bf16(x * 1.03);
       }},
      {"offset of a hundredth of the largest",
       [](const Product&, std::vector<double>& v) {
         for (double& x : v) x = bf16(x + 0.6);
       }},
      {"one wrong element", [](const Product&, std::vector<double>& v) { v[1000] = bf16(v[1000] + 5); }},
      {"one wrong row",
       [](const Product& p, std::vector<double>& v) { std::copy_n(v.begin(), p.columns, v.begin() + 33 * p.columns); }},
      {"a tile off by one row",
       [](const Product& p, std::vector<double>& v) {
         std::copy_backward(v.begin() + 32 * p.columns, v.end() - p.columns, v.end());
       }},
      {"two columns swapped",
       [](const Product& p, std::vector<double>& v) {
         for (std::int64_t i = 0; i < p.rows; ++i)
           std::swap(v[static_cast<std::size_t>(i * p.columns + 5)], v[static_cast<std::size_t>(i * p.columns + 6)]);
       }},
      {"a block of terms dropped",
       [](const Product& p, std::vector<double>& v) {
         for (std::int64_t i = 0; i < p.rows; ++i) {
           for (std::int64_t j = 0; j < p.columns; ++j) {
             v[static_cast<std::size_t>(i * p.columns + j)] =
                 bf16(p.device(i, j, p.terms - 32) + p.bias[static_cast<std::size_t>(j)]);
           }
         }
       }},
      {"bias missing",
       [](const Product& p, std::vector<double>& v) {
         for (std::size_t i = 0; i < v.size(); ++i) v[i] = bf16(v[i] - p.bias[i % static_cast<std::size_t>(p.columns)]);
       }},
      {"bias of one column missing",
       [](const Product& p, std::vector<double>& v) {
         for (std::int64_t i = 0; i < p.rows; ++i) {
           double& x = v[static_cast<std::size_t>(i * p.columns + 8)];
           x = bf16(x + 1.0);
         }
       }},
      {"three times the rounding error",
       [](const Product& p, std::vector<double>& v) {
         for (std::size_t i = 0; i < v.size(); ++i) v[i] = bf16(p.exact[i] + 3 * (v[i] - p.exact[i]));
       }},
      {"all zero", [](const Product&, std::vector<double>& v) { std::ranges::fill(v, 0.0); }},
      {"a NaN", [](const Product&, std::vector<double>& v) { v[9] = std::numeric_limits<double>::quiet_NaN(); }},
      {"an infinity", [](const Product&, std::vector<double>& v) { v[9] = std::numeric_limits<double>::infinity(); }},
  };
  return list;
}

TEST(Judge, EveryFaultFails) {
  const Product& product = normal_product();
  for (const Fault& fault : faults()) {
    std::vector<double> values = product.actual;
    fault.apply(product, values);
    const Verdict verdict = product.verdict(values);
    EXPECT_EQ(verdict.outcome, Outcome::kFailed) << fault.name << ": " << to_text(verdict);
  }
}

TEST(Judge, PositiveDataIsJudgedByTheBound) {
  Product product{.terms = 2048, .positive = true};
  product.fill(2);
  product.compute();
  const Verdict verdict = product.verdict(product.actual);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << to_text(verdict);
  EXPECT_LT(verdict.metrics.pcc, 0.99);
  EXPECT_EQ(verdict.judged_by, JudgedBy::kBound);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("PCC means nothing here")));
  std::vector<double> scaled = product.actual;
  for (double& v : scaled) v = bf16(v * 1.2);
  EXPECT_EQ(product.verdict(scaled).outcome, Outcome::kFailed);
}

TEST(Judge, MagnitudesMayBeMissing) {
  const Product& product = normal_product();
  const HostTensor tensor = tensor_of({product.rows, product.columns}, DType::kBfloat16, product.actual);
  const ErrorBudget budget = product.budget();
  const Verdict verdict = judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = product.exact});
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << to_text(verdict);
}

ErrorBudget budget_of(ErrorBudget::Kind kind, double ulps = 1.0) {
  ErrorBudget budget;
  budget.kind = kind;
  budget.ulps = ulps;
  return budget;
}

Verdict judged(const std::vector<double>& exact, const std::vector<double>& actual, DType dtype, ErrorBudget budget,
               JudgeOptions options = {}) {
  const HostTensor tensor = tensor_of({static_cast<std::int64_t>(exact.size())}, dtype, actual);
  return judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact}, options);
}

TEST(Judge, ShapeAndDtypeMustBeThePromisedOnes) {
  const HostTensor tensor = tensor_of({2, 2}, DType::kBfloat16, {1, 2, 3, 4});
  const std::vector<double> exact{1, 2, 3, 4};
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kExact);
  const TensorSpec flat = spec_of({4}, DType::kBfloat16);
  const TensorSpec wide = spec_of({2, 2}, DType::kFloat32);
  const Verdict shape = judge({.wanted = flat, .actual = tensor, .budget = budget, .value = exact});
  EXPECT_EQ(shape.outcome, Outcome::kFailed);
  EXPECT_THAT(shape.reasons, Contains("shape [2, 2] instead of [4]"));
  const Verdict dtype = judge({.wanted = wide, .actual = tensor, .budget = budget, .value = exact});
  EXPECT_EQ(dtype.outcome, Outcome::kFailed);
  EXPECT_THAT(dtype.reasons, Contains("dtype BFLOAT16 instead of FLOAT32"));
}

TEST(Judge, AConstantByDefinitionMayBeOne) {
  const auto verdict = [](const std::vector<double>& exact, const std::vector<double>& actual) {
    const HostTensor tensor = tensor_of({static_cast<std::int64_t>(exact.size())}, DType::kBfloat16, actual);
    const ErrorBudget budget = budget_of(ErrorBudget::Kind::kExact);
    return judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact, .constant = true}).outcome;
  };
  EXPECT_EQ(verdict({0, 0, 0}, {0, 0, 0}), Outcome::kPassed);
  EXPECT_EQ(verdict({2, 2, 2}, {2, 2, 2}), Outcome::kPassed);
  EXPECT_EQ(verdict({2, 2, 2}, {2, 0, 2}), Outcome::kFailed);
  EXPECT_EQ(verdict({2, 2, 2}, {0, 0, 0}), Outcome::kFailed);
  EXPECT_EQ(verdict({}, {}), Outcome::kMistrusted);
}

TEST(Judge, DenormalOutputsAreMistrusted) {
  const ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise};
  const auto outcome = [&](double scale) {
    return judged({scale, 2 * scale, 3 * scale}, {scale, 2 * scale, 3 * scale}, DType::kFloat32, budget).outcome;
  };
  EXPECT_EQ(outcome(0x1p-140), Outcome::kMistrusted);
  EXPECT_EQ(outcome(0x1p-120), Outcome::kPassed);
}

// Each element lies within a bound of 13 %, but all of one row are 8 % too large or too small.
TEST(Judge, ARowOutOfProportionFails) {
  test::Numerals random(11);
  const std::int64_t rows = 32;
  const std::int64_t columns = 512;
  std::vector<double> exact;
  for (std::int64_t i = 0; i < rows * columns; ++i) exact.push_back(std::exp(random.normal()));
  ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise, .ulps = 2, .relative = 0.13};
  const auto outcome = [&](double common, double factor) {
    std::vector<double> actual;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const bool changed = i / static_cast<std::size_t>(columns) == 5;
      actual.push_back(bf16(exact[i] * (1 + 0.02 * (random.uniform() - 0.5)) * (changed ? factor : 1.0)));
    }
    budget.common = common;
    const HostTensor tensor = tensor_of({rows, columns}, DType::kBfloat16, actual);
    return judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact, .magnitude = {}}).outcome;
  };
  EXPECT_EQ(outcome(0.03, 1.0), Outcome::kPassed);
  EXPECT_EQ(outcome(0.03, 1.08), Outcome::kFailed);
  EXPECT_EQ(outcome(0.03, 0.92), Outcome::kFailed);
  EXPECT_EQ(outcome(-1.0, 1.08), Outcome::kPassed);  // where nobody says what a row shares
}

// A sum that may be off by 0.5, and a logistic behind it: what is far out is known to the last bit.
TEST(Judge, ABoundIsCarriedThroughAFunction) {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto each = [](const std::function<double(double)>& function) -> EachOf {
    return [=](std::span<double> values) {
      for (double& x : values) x = function(x);
    };
  };
  test::Numerals random(12);
  std::vector<double> before;
  std::vector<double> exact;
  for (int i = 0; i < 4096; ++i) {
    before.push_back(8 * random.normal());
    exact.push_back(logistic(before.back()));
  }
  const std::vector<double> ones(before.size(), 1.0);
  const ErrorBudget budget{
      .kind = ErrorBudget::Kind::kElementwise, .ulps = 1, .relative = 0.5, .after = {.ulps = 2, .floor = 0.0625}};
  const auto outcome = [&](const std::function<double(double)>& given) {
    std::vector<double> actual;
    for (const double y : before) actual.push_back(bf16(given(y)));
    const HostTensor tensor = tensor_of({64, 64}, DType::kBfloat16, actual);
    return judge({.wanted = tensor.spec,
                  .actual = tensor,
                  .budget = budget,
                  .value = exact,
                  .magnitude = ones,
                  .before = before,
                  .after = each(logistic)})
        .outcome;
  };
  EXPECT_EQ(outcome(logistic), Outcome::kPassed);
  EXPECT_EQ(outcome([&](double y) { return logistic(y + 0.45 * std::sin(37 * y)); }), Outcome::kPassed);
  EXPECT_EQ(outcome([&](double y) { return logistic(y + (y > 0 ? -0.8 : 0.8)); }), Outcome::kFailed);
  EXPECT_EQ(outcome([&](double y) { return logistic(y) * 0.97; }), Outcome::kFailed);
}

// The bound of the worst element is how far the function leads at the ends of its reach and half way, plus its own
// error: also where only the middle is far, and wherever the worst stands.
TEST(Judge, BehindAFunctionTheWorstElementHasItsWholeBound) {
  test::Numerals random(5);
  const auto turns = [](double x) { return std::max(0.0, 1 - 4 * std::abs(x - 0.5)); };
  for (const std::size_t worst_at : {0u, 700u, 4095u}) {
    std::vector<double> before, exact, actual;
    for (std::size_t i = 0; i < 4096; ++i) {
      before.push_back(i == worst_at ? 0.25 : 3 + random.normal());
      exact.push_back(turns(before.back()));
      actual.push_back(bf16(i == worst_at ? 0.5625 : exact.back()));
    }
    const HostTensor tensor = tensor_of({64, 64}, DType::kBfloat16, actual);
    const std::vector<double> ones(before.size(), 1.0);
    const ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise, .ulps = 0, .relative = 0.5, .after = {.ulps = 2}};
    const Verdict verdict = judge({.wanted = tensor.spec,
                                   .actual = tensor,
                                   .budget = budget,
                                   .value = exact,
                                   .magnitude = ones,
                                   .before = before,
                                   .after = [&](std::span<double> values) {
                                     for (double& x : values) x = turns(x);
                                   }});
    EXPECT_EQ(verdict.outcome, Outcome::kPassed);
    EXPECT_EQ(verdict.metrics.worst.index, static_cast<std::int64_t>(worst_at));
    // 0 at 0.25 and at both ends of its reach of 0.5; 1 half way up. The reach is a root to 5e-6.
    EXPECT_NEAR(verdict.metrics.worst.bound, 1.0, 1e-5);
  }
}

TEST(Judge, OutputsThatShowNothingAreMistrusted) {
  using Kind = ErrorBudget::Kind;
  for (const Kind kind : {Kind::kExact, Kind::kElementwise, Kind::kContraction, Kind::kSelection}) {
    EXPECT_EQ(judged({0, 0, 0}, {0, 0, 0}, DType::kBfloat16, budget_of(kind)).outcome, Outcome::kMistrusted);
    EXPECT_EQ(judged({2, 2, 2}, {2, 2, 2}, DType::kBfloat16, budget_of(kind)).outcome, Outcome::kMistrusted);
    EXPECT_EQ(judged({}, {}, DType::kBfloat16, budget_of(kind)).outcome, Outcome::kMistrusted);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(judged({nan, nan}, {nan, nan}, DType::kFloat32, budget_of(kind)).outcome, Outcome::kMistrusted);
  }
  EXPECT_EQ(judged({3}, {3}, DType::kBfloat16, budget_of(Kind::kExact)).outcome, Outcome::kPassed);
  // A bound so wide that zero passes does not make zero right.
  EXPECT_EQ(judged({1, 2, 3}, {0, 0, 0}, DType::kBfloat16, budget_of(Kind::kElementwise, 1000)).outcome,
            Outcome::kMistrusted);
}

TEST(Judge, ExactMeansEqualAfterRounding) {
  const ErrorBudget exact = budget_of(ErrorBudget::Kind::kExact);
  EXPECT_EQ(judged({1, 2, 3}, {1, 2, 3}, DType::kBfloat16, exact).outcome, Outcome::kPassed);
  EXPECT_EQ(judged({1, 2, 3}, {1, 2, 3.015625}, DType::kBfloat16, exact).outcome, Outcome::kFailed);
  // One step below a power of two is half an ulp of it, and still wrong.
  EXPECT_EQ(judged({1, 2, 3}, {1, 1.9921875, 3}, DType::kBfloat16, exact).outcome, Outcome::kFailed);
  // A tie may go either way, a value between may not.
  EXPECT_EQ(judged({1, 1.00390625}, {1, 1.0078125}, DType::kBfloat16, exact).outcome, Outcome::kPassed);
  EXPECT_EQ(judged({1.5, 1.00390625}, {1.5, 1}, DType::kBfloat16, exact).outcome, Outcome::kPassed);
  EXPECT_EQ(judged({1.5, 1.002}, {1.5, 1.0078125}, DType::kBfloat16, exact).outcome, Outcome::kFailed);
  EXPECT_EQ(judged({5, 1e-40}, {5, 0}, DType::kFloat32, exact).outcome, Outcome::kPassed);  // denormals may go
  EXPECT_EQ(judged({5, 1e-30}, {5, 0}, DType::kFloat32, exact).outcome, Outcome::kFailed);
  EXPECT_EQ(judged({5, 4294967295.0}, {5, 4294967295.0}, DType::kUint32, exact).outcome, Outcome::kPassed);
  EXPECT_EQ(judged({5, 7}, {5, 8}, DType::kInt32, exact).outcome, Outcome::kFailed);
}

TEST(Judge, BlockFloatsHaveTheUlpOfTheirGroup) {
  const ErrorBudget exact = budget_of(ErrorBudget::Kind::kExact);
  std::vector<double> values(32, 0.25);
  values[0] = 1.984375;  // the ulp of the first group is 2^-6, of the second 2^-8
  std::vector<double> actual = values;
  EXPECT_EQ(judged(values, actual, DType::kBfloat8B, exact).outcome, Outcome::kPassed);
  values[3] = 0.2578125;  // not on the grid of the first group: either neighbour will do
  actual[3] = 0.265625;
  EXPECT_EQ(judged(values, actual, DType::kBfloat8B, exact).outcome, Outcome::kPassed);
  values[20] = 0.25390625;  // on the grid of the second
  EXPECT_EQ(judged(values, actual, DType::kBfloat8B, exact).outcome, Outcome::kFailed);
  actual[20] = 0.25390625;
  EXPECT_EQ(judged(values, actual, DType::kBfloat8B, exact).outcome, Outcome::kPassed);
  actual[25] = 64.0;  // must not widen its neighbours' bound, and is wrong itself
  actual[26] = 0.5;
  const Verdict wrong = judged(values, actual, DType::kBfloat8B, exact);
  EXPECT_THAT(wrong.reasons, Contains(HasSubstr("2 of 32")));
}

TEST(Judge, ElementwiseCountsUlpWithAFloor) {
  ErrorBudget budget = budget_of(ErrorBudget::Kind::kElementwise, 2);
  EXPECT_EQ(judged({1, 2, 4}, {1.015625, 2, 4}, DType::kBfloat16, budget).outcome, Outcome::kPassed);
  EXPECT_EQ(judged({1, 2, 4}, {1.0234375, 2, 4}, DType::kBfloat16, budget).outcome, Outcome::kFailed);
  EXPECT_EQ(judged({1e-5, 2, 4}, {2e-5, 2, 4}, DType::kBfloat16, budget).outcome, Outcome::kFailed);
  budget.floor = 0.01;
  EXPECT_EQ(judged({1e-5, 2, 4}, {2e-5, 2, 4}, DType::kBfloat16, budget).outcome, Outcome::kPassed);
  const Verdict verdict = judged({1, 2, 4}, {1.015625, 2, 4}, DType::kBfloat16, budget);
  EXPECT_EQ(verdict.metrics.worst.index, 0);
  EXPECT_EQ(verdict.metrics.ulp_max, 2.0);
  EXPECT_EQ(verdict.metrics.max_abs, 0.015625);
  EXPECT_NEAR(verdict.metrics.exact_share, 2.0 / 3, 1e-12);
  EXPECT_NEAR(verdict.metrics.rel_rms, 0.015625 / std::sqrt(21.0), 1e-12);
}

TEST(Judge, NonFiniteValuesMustStandWhereTheyBelong) {
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kElementwise);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto outcome = [&](double exact, double actual, bool flag = false) {
    return judged({1, 2, exact}, {1, 2, actual}, DType::kBfloat16, budget, {.nan_may_be_infinity = flag}).outcome;
  };
  EXPECT_EQ(outcome(nan, nan), Outcome::kPassed);
  EXPECT_EQ(outcome(nan, inf), Outcome::kFailed);
  EXPECT_EQ(outcome(nan, inf, true), Outcome::kPassed);
  EXPECT_EQ(outcome(nan, 3, true), Outcome::kFailed);
  EXPECT_EQ(outcome(inf, inf), Outcome::kPassed);
  EXPECT_EQ(outcome(inf, -inf), Outcome::kFailed);
  EXPECT_EQ(outcome(inf, nan), Outcome::kFailed);
  EXPECT_EQ(outcome(3, inf), Outcome::kFailed);
  EXPECT_EQ(outcome(1e39, inf), Outcome::kPassed);  // beyond the format
  EXPECT_EQ(outcome(-1e39, -0x1.FEp127), Outcome::kPassed);
  EXPECT_EQ(outcome(1e39, 5), Outcome::kFailed);
  std::vector<double> exact(16, 1.0);
  std::vector<double> actual(16, 0.0);
  exact[4] = actual[4] = inf;
  exact.insert(exact.end(), {1, 2, 3});
  actual.insert(actual.end(), {1, 2, 3});
  const Verdict block = judged(exact, actual, DType::kBfloat8B, budget);
  EXPECT_EQ(block.outcome, Outcome::kPassed) << to_text(block);
  EXPECT_EQ(block.nonfinite.group_zeroed, 15);
}

TEST(Judge, SampledRowsAreFoundInTheWholeOutput) {
  std::vector<double> values(100 * 40);
  std::iota(values.begin(), values.end(), 1.0);
  HostTensor tensor = tensor_of({100, 40}, DType::kFloat32, values);
  const std::vector<std::int64_t> rows{0, 31, 99};
  std::vector<double> exact;
  for (const std::int64_t row : rows) {
    exact.insert(exact.end(), values.begin() + row * 40, values.begin() + (row + 1) * 40);
  }
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kExact);
  const auto verdict = [&] {
    return judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact, .rows = rows});
  };
  EXPECT_EQ(verdict().outcome, Outcome::kPassed);
  tensor.floats[50 * 40] = 0.0F;  // not in the sample
  EXPECT_EQ(verdict().outcome, Outcome::kPassed);
  tensor.floats[31 * 40 + 7] = 0.0F;
  EXPECT_EQ(verdict().outcome, Outcome::kFailed);
  EXPECT_EQ(verdict().metrics.worst.index, 31 * 40 + 7);
  EXPECT_THAT(to_text(verdict()), HasSubstr("3 of 100 rows"));
  const std::vector<std::int64_t> outside{0, 31, 100};
  EXPECT_EQ(judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact, .rows = outside}).outcome,
            Outcome::kMistrusted);
}

TEST(Judge, LongRowsAndOddLengths) {
  test::Numerals random(9);
  std::vector<double> exact(3 * 2500);
  for (double& v : exact) v = random.normal();
  std::vector<double> actual = exact;
  for (double& v : actual) v = bf16(v);
  HostTensor tensor = tensor_of({3, 2500}, DType::kBfloat16, actual);
  const ErrorBudget budget = budget_of(ErrorBudget::Kind::kElementwise);
  EXPECT_EQ(judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact}).outcome,
            Outcome::kPassed);
  tensor.floats[7499] += 0.5F;
  const Verdict verdict = judge({.wanted = tensor.spec, .actual = tensor, .budget = budget, .value = exact});
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.metrics.worst.index, 7499);
}

TEST(Judge, HostileShapesAreNoCrash) {
  HostTensor tensor;
  tensor.spec = spec_of({std::int64_t{1} << 40, std::int64_t{1} << 40}, DType::kFloat32);
  const ErrorBudget budget;
  EXPECT_EQ(judge({.wanted = tensor.spec, .actual = tensor, .budget = budget}).outcome, Outcome::kFailed);
  tensor.spec.shape = {-3};
  EXPECT_EQ(judge({.wanted = tensor.spec, .actual = tensor, .budget = budget}).outcome, Outcome::kFailed);
  tensor.spec.shape = {0, 5};
  EXPECT_EQ(judge({.wanted = tensor.spec, .actual = tensor, .budget = budget}).outcome, Outcome::kMistrusted);
}

TEST(Judge, WritesJson) {
  const Verdict verdict = judged({1, 2, 4}, {1, 2, 3.984375}, DType::kBfloat16,
                                 budget_of(ErrorBudget::Kind::kElementwise), {.distribution = "N(0,1)"});
  json::Document document;
  const auto root = document.parse(to_json(verdict));
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ((*root)->string_field("outcome"), "passed");
  EXPECT_EQ((*root)->string_field("distribution"), "N(0,1)");
  EXPECT_EQ((*root)->find("worst")->find("index")->items[0].text, "2");
}

TEST(SampleRows, FewRowsAreAllTaken) {
  EXPECT_TRUE(sample_rows({.rows = 100, .row_length = 10, .elements = 1000}).empty());
}

TEST(SampleRows, TakesEndsBoundariesAndEveryRegion) {
  const SamplePlan plan{.rows = 1'000'000, .row_length = 64, .rows_per_plane = 1000, .elements = 64 * 400, .seed = 5};
  const auto rows = sample_rows(plan);
  EXPECT_EQ(rows, sample_rows(plan));
  EXPECT_GT(rows.size(), 380u);
  EXPECT_LE(rows.size(), 404u);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  for (const std::int64_t row : {0, 31, 32, 999, 999'000, 999'031, 999'032, 999'999}) {
    EXPECT_THAT(rows, Contains(row));
  }
  for (std::int64_t part = 0; part < 100; ++part) {
    EXPECT_TRUE(std::ranges::any_of(rows, [&](std::int64_t row) { return row / 10'000 == part; })) << part;
  }
  SamplePlan other = plan;
  other.seed = 6;
  EXPECT_NE(rows, sample_rows(other));
}

// Means over many cancelling parts: the bound of an element is wider than the element, PCC sees no factor.
TEST(Judge, ACommonFactorOfCancellingPartsFails) {
  test::Numerals random(3);
  HostTensor actual;
  actual.spec.shape = {64, 64};
  actual.spec.has_shape = true;
  actual.spec.dtype.value = DType::kBfloat16;
  std::vector<double> exact, magnitude;
  for (int i = 0; i < 64 * 64; ++i) {
    exact.push_back(0.1 * random.normal());
    magnitude.push_back(0.8);
    actual.floats.push_back(static_cast<float>(bf16(exact.back() + 0.01 * random.normal())));
  }
  const ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise, .ulps = 2, .relative = 0.06, .pcc = 0.9};
  const auto verdict = [&] {
    return judge({.wanted = actual.spec,
                  .actual = actual,
                  .budget = budget,
                  .value = exact,
                  .magnitude = magnitude,
                  .rows = {}});
  };
  EXPECT_EQ(verdict().outcome, Outcome::kPassed) << to_text(verdict());
  for (float& value : actual.floats) value *= 0.75F;
  EXPECT_EQ(verdict().outcome, Outcome::kFailed);
  EXPECT_NE(to_text(verdict()).find("scaled by"), std::string::npos) << to_text(verdict());
}

}  // namespace
}  // namespace opwright
