// The judge with the operators' own budgets on what real kernels computed: they are sound, so that each must pass; and
// what changes a row as a whole must not. The data lies outside the repository (compare/test_data.h); without it these
// tests are skipped.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "compare/judge.h"
#include "compare/test_data.h"
#include "exec/numeric_oracle.h"
#include "exec/plan_call.h"
#include "model/quantize.h"

namespace opwright {
namespace {

struct Recorded {
  OracleCase oracle;
  PlannedCall plan;
  Exact exact;
  Rows rows;

  Verdict judged(const HostTensor& actual) const {
    const ErrorBudget budget = plan.op->budget(plan.call, plan.outputs, 0);
    return judge({.wanted = plan.outputs[0].spec,
                  .actual = actual,
                  .budget = budget,
                  .value = exact.value,
                  .magnitude = exact.magnitude,
                  .before = exact.before,
                  .after = exact.after,
                  .slack = exact.slack,
                  .open = exact.open,
                  .rows = {}},
                 {.nan_may_be_infinity = true});
  }
  HostTensor actual() const {
    HostTensor out = oracle.results[0];
    out.spec = plan.outputs[0].spec;
    return out;
  }
};

void for_each_recorded(const std::string& file, const std::function<void(const Recorded&)>& use) {
  const auto read = read_numeric_oracle(
      test::real_data("oracle/numerics/" + file + ".json").string(), [&](OracleCase&& oracle) -> Status {
        auto plan = plan_call(oracle.config, oracle.board);
        if (!plan || plan->op->reference == nullptr) return {};
        const Shape& shape = plan->outputs[0].spec.shape;
        const std::int64_t length = row_length(shape);
        if (volume(shape) != oracle.results[0].size() || length == 0) return {};
        Rows rows{.total = volume(shape) / length, .length = length, .picked = {}};
        auto exact = plan->op->reference({plan->call, oracle.inputs, plan->outputs, 0, rows});
        if (!exact) return {};
        use({std::move(oracle), *std::move(plan), *std::move(exact), rows});
        return {};
      });
  EXPECT_TRUE(read) << read.error().message;
}

class RecordedVerdicts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::real_data("oracle/numerics/norm.json"))) GTEST_SKIP() << "real data not present";
  }
};

// Functions over all bfloat16 inputs go to the ends of what a format holds, where kernels give up before the function
// does: those have their own test (device/sim). Here they are looked at where networks use them.
void keep_moderate(const Recorded& of, HostTensor& actual, std::vector<double>& value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double x = of.oracle.inputs[0].at(static_cast<std::int64_t>(i));
    if (std::abs(x) <= 8 && (x == 0 || std::abs(x) > 0x1p-60)) continue;
    value[i] = 0.0;
    actual.floats[i] = 0.0F;
  }
}

TEST_F(RecordedVerdicts, SoundKernelsPass) {
  // Recorded where nothing can be told: quotients by zeros of a block float, and powers beyond 2^40, of which the
  // kernel keeps a few bits.
  const std::set<std::string> beside{"binary_divide_bf8", "binary_pow_bf16"};
  int seen = 0;
  for (const char* file : {"norm", "binary", "more", "attn", "matmul"})
    for_each_recorded(file, [&](const Recorded& of) {
      if (beside.contains(of.oracle.id)) return;
      const Verdict verdict = of.judged(of.actual());
      EXPECT_EQ(verdict.outcome, Outcome::kPassed) << of.oracle.id << ": " << to_text(verdict);
      ++seen;
    });
  EXPECT_GE(seen, 120);
}

TEST_F(RecordedVerdicts, FastVariantsPassAndOtherFunctionsDoNot) {
  int seen = 0;
  for_each_recorded("unary", [&](const Recorded& of) {
    if (!of.oracle.id.ends_with("_fast")) return;
    Recorded moderate = of;
    HostTensor actual = of.actual();
    keep_moderate(of, actual, moderate.exact.value);
    const Verdict verdict = moderate.judged(actual);
    EXPECT_EQ(verdict.outcome, Outcome::kPassed) << of.oracle.id << ": " << to_text(verdict);
    // A hard variant: x / 6 + 1/2 between 0 and 1, times x; for exp its first terms.
    for (std::size_t i = 0; i < actual.floats.size(); ++i) {
      const double x = of.oracle.inputs[0].at(static_cast<std::int64_t>(i));
      if (actual.floats[i] == 0.0F) continue;
      const double hard =
          of.oracle.id == "unary_gelu_fast" ? x * std::clamp(x / 6 + 0.5, 0.0, 1.0) : 1 + x + x * x / 2 + x * x * x / 6;
      actual.floats[i] = static_cast<float>(test::bf16(hard));
    }
    EXPECT_EQ(moderate.judged(actual).outcome, Outcome::kFailed) << of.oracle.id;
    ++seen;
  });
  EXPECT_EQ(seen, 2);
}

// A row that is scaled or shifted as a whole, by less than the bound of any of its elements.
TEST_F(RecordedVerdicts, RowsOutOfProportionFail) {
  const std::set<std::string> rows_share{"softmax_stable", "softmax_w1024",  "layer_norm",    "layer_norm_plain",
                                         "rms_norm",       "rms_norm_w1024", "layer_norm_bf8"};
  int seen = 0;
  for (const char* file : {"norm", "more"})
    for_each_recorded(file, [&](const Recorded& of) {
      if (!rows_share.contains(of.oracle.id)) return;
      ++seen;
      const std::int64_t length = of.rows.length;
      const auto changed = [&](std::int64_t first, std::int64_t last, double factor, double offset) {
        HostTensor wrong = of.actual();
        for (std::int64_t i = first * length; i < last * length; ++i) {
          float& value = wrong.floats[static_cast<std::size_t>(i)];
          value = static_cast<float>(static_cast<double>(value) * factor + offset);
        }
        quantize(wrong);
        return of.judged(wrong).outcome;
      };
      EXPECT_EQ(changed(0, of.rows.total, 1.10, 0.0), Outcome::kFailed) << of.oracle.id << ": all x 1.10";
      EXPECT_EQ(changed(7, 8, 1.12, 0.0), Outcome::kFailed) << of.oracle.id << ": row 7 x 1.12";
      EXPECT_EQ(changed(7, 8, 0.88, 0.0), Outcome::kFailed) << of.oracle.id << ": row 7 x 0.88";
      if (of.oracle.id.find("norm") == std::string::npos) return;
      EXPECT_EQ(changed(9, 10, 1.0, 0.1), Outcome::kFailed) << of.oracle.id << ": row 9 + 0.1";
    });
  EXPECT_EQ(seen, static_cast<int>(rows_share.size()));
}

}  // namespace
}  // namespace opwright
