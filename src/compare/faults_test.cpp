#include "compare/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/test_data.h"
#include "model/value.h"

namespace opwright {
namespace {

using test::bf16;

struct Output {
  HostTensor actual;
  std::vector<double> exact;
  ErrorBudget budget{.kind = ErrorBudget::Kind::kElementwise, .ulps = 1, .why = "rounded once"};

  FaultReport faults(std::span<const HostTensor> inputs = {}, std::span<const std::int64_t> rows = {},
                     const FaultOptions& options = {}) const {
    return try_faults(
        {.wanted = actual.spec, .actual = actual, .budget = budget, .value = exact, .magnitude = {}, .rows = rows}, {},
        inputs, options);
  }
};

Output noise(std::int64_t rows, std::int64_t columns, DType dtype = DType::kBfloat16) {
  Output out;
  out.actual.spec.shape = {rows, columns};
  out.actual.spec.has_shape = true;
  out.actual.spec.dtype.value = dtype;
  test::Numerals random(7);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    out.exact.push_back(random.normal());
    out.actual.floats.push_back(static_cast<float>(bf16(out.exact.back())));
  }
  return out;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

TEST(Faults, EveryOneIsNoticedInNoise) {
  const FaultReport report = noise(64, 96).faults();
  EXPECT_GE(report.tried, 18);
  EXPECT_EQ(report.noticed, report.tried);
  EXPECT_TRUE(report.unnoticed.empty()) << report.unnoticed.front();
  EXPECT_FALSE(report.vacuous());
  EXPECT_TRUE(report.tolerated.empty()) << report.tolerated.front();
}

// A judge that accepts anything of the right size notices almost nothing.
TEST(Faults, AWideBoundIsVacuous) {
  Output wide = noise(64, 96);
  wide.budget.relative = 10;
  wide.budget.floor = 1000;
  wide.budget.ulps = 1000;
  wide.budget.pcc = 0.0;
  const FaultReport report = wide.faults();
  EXPECT_TRUE(report.vacuous());
  EXPECT_TRUE(has(report.unnoticed, "rows shifted by one"));
  EXPECT_TRUE(has(report.unnoticed, "scale 2"));
  EXPECT_LT(report.noticed, report.tried);
}

// PCC alone cannot tell X from 2X.
TEST(Faults, WhatChangesNothingIsNotCounted) {
  Output rows = noise(1, 96);
  for (std::int64_t r = 1; r < 64; ++r) {
    rows.exact.insert(rows.exact.end(), rows.exact.begin(), rows.exact.begin() + 96);
    rows.actual.floats.insert(rows.actual.floats.end(), rows.actual.floats.begin(), rows.actual.floats.begin() + 96);
  }
  rows.actual.spec.shape = {64, 96};
  const FaultReport report = rows.faults();
  EXPECT_TRUE(has(report.idle, "rows shifted by one"));
  EXPECT_TRUE(has(report.idle, "first row everywhere"));
  EXPECT_TRUE(has(report.idle, "never written (an input)"));
  EXPECT_FALSE(report.vacuous());
}

TEST(Faults, AnOutputThatWasNeverWrittenIsNoticed) {
  const Output cache = noise(64, 96);
  HostTensor before = cache.actual;
  for (std::size_t i = 0; i < 96; ++i) before.floats[17 * 96 + i] = 0.25F;
  const FaultReport report = cache.faults({&before, 1});
  EXPECT_FALSE(has(report.idle, "never written (an input)"));
  EXPECT_FALSE(report.vacuous());
  // An input that is as good as the output is none.
  EXPECT_TRUE(has(cache.faults({&cache.actual, 1}).idle, "never written (an input)"));
}

TEST(Faults, OnlyJudgedRowsCount) {
  Output out = noise(64, 96);
  const std::vector<std::int64_t> rows{3, 17, 40};
  std::vector<double> exact;
  for (const std::int64_t r : rows)
    exact.insert(exact.end(), out.exact.begin() + r * 96, out.exact.begin() + (r + 1) * 96);
  out.exact = exact;
  for (std::size_t i = 0; i < out.actual.floats.size(); ++i)
    if (std::ranges::find(rows, static_cast<std::int64_t>(i / 96)) == rows.end()) out.actual.floats[i] = 1e30F;
  const FaultReport report = out.faults({}, rows);
  EXPECT_TRUE(report.why_none.empty()) << report.why_none;
  EXPECT_GE(report.tried, 10);
  EXPECT_FALSE(report.vacuous());
}

TEST(Faults, APartOfAHugeOutputKeepsWhatWasWritten) {
  const Output cache = noise(4096, 64);
  HostTensor before = cache.actual;
  for (std::size_t i = 0; i < 64; ++i) before.floats[2001 * 64 + i] = 0.25F;
  const FaultReport report = cache.faults({&before, 1}, {}, {.most_elements = 64 * 128});
  EXPECT_FALSE(has(report.idle, "never written (an input)"));
  EXPECT_FALSE(report.vacuous());
}

// An element of which nothing is promised does not stop the others from being asked.
TEST(Faults, OpenElementsAreLeftOut) {
  Output some = noise(64, 96);
  const std::vector<std::size_t> open{5, 32 * 96, 40 * 96 + 7};
  for (const std::size_t place : open) some.exact[place] = std::nan("");
  const FaultReport report = try_faults({.wanted = some.actual.spec,
                                         .actual = some.actual,
                                         .budget = some.budget,
                                         .value = some.exact,
                                         .magnitude = {},
                                         .open = open,
                                         .rows = {}},
                                        {}, {}, {});
  EXPECT_EQ(report.why_none, "");
  EXPECT_GE(report.tried, 18);
  EXPECT_EQ(report.noticed, report.tried);
}

TEST(Faults, NothingIsTriedOnAnOutputThatFails) {
  Output wrong = noise(64, 96);
  wrong.actual.floats[5] = 100;
  const FaultReport report = wrong.faults();
  EXPECT_EQ(report.tried, 0);
  EXPECT_NE(report.why_none.find("does not pass"), std::string::npos);
}

TEST(Faults, IndicesOffByOne) {
  Output index;
  index.actual.spec.shape = {32, 8};
  index.actual.spec.has_shape = true;
  index.actual.spec.dtype.value = DType::kUint16;
  index.budget.kind = ErrorBudget::Kind::kSelection;
  for (int i = 0; i < 256; ++i) {
    index.actual.ints.push_back(i * 37 % 251);
    index.exact.push_back(i * 37 % 251);
  }
  const FaultReport report = index.faults();
  EXPECT_FALSE(report.vacuous());
  EXPECT_TRUE(has(report.idle, "one NaN"));
  EXPECT_FALSE(has(report.idle, "index off by one"));
}

}  // namespace
}  // namespace opwright
