// The judge, which works on chunks in wide registers, beside loops over single elements: odd values, every length of
// tail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "compare/bound.h"
#include "compare/judge.h"
#include "compare/measure.h"
#include "compare/test_data.h"
#include "model/value.h"

namespace opwright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = 0x1p-126;
constexpr std::size_t kGroup = 16;
constexpr DType kDTypes[] = {DType::kFloat32, DType::kBfloat16, DType::kBfloat8B, DType::kInt32};
using Kind = ErrorBudget::Kind;

struct Data {
  std::vector<double> exact;
  std::vector<double> magnitude;
  std::vector<double> actual;
};

// `odd`: NaN, infinities and numbers beyond the format too, on either side.
Data data_of(std::size_t n, DType dtype, std::uint64_t seed, bool odd) {
  test::Numerals random(seed);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const bool whole = is_integer(dtype);
    const double plain[] = {0.0, -0.0, 0x1p-140, -0x1p-126, 0x1p-149, 3e38, 1.0, -1.5};
    const double none[] = {kNan, kInf, -kInf, 4e38, -1e60};
    const double kind = random.uniform();
    double e = whole ? std::floor(random.normal() * 1e6) : test::bf16(random.normal());
    if (!whole && kind < 0.3) e = plain[static_cast<std::size_t>(random.uniform() * 8)];
    double a = whole ? e : static_cast<double>(static_cast<float>(e));
    if (random.uniform() < 0.3) a = whole ? e + 1 : static_cast<double>(static_cast<float>(e * (1 + 0x1p-6)));
    if (!whole && random.uniform() < 0.1) e += 1e-3;
    if (odd && !whole && random.uniform() < 0.15) e = none[static_cast<std::size_t>(random.uniform() * 5)];
    if (odd && !whole && random.uniform() < 0.5 && !(std::abs(e) < 3.9e38)) a = e;
    if (odd && !whole && random.uniform() < 0.05) a = none[static_cast<std::size_t>(random.uniform() * 3)];
    data.exact.push_back(e);
    data.magnitude.push_back(std::abs(e) + 1);
    data.actual.push_back(whole ? a : static_cast<double>(static_cast<float>(a)));
  }
  return data;
}

ErrorBudget budget_of(Kind kind) {
  ErrorBudget budget;
  budget.kind = kind;
  budget.ulps = 1.5;
  budget.floor = 0.01;
  budget.relative = 0.001;
  budget.terms = 64;
  budget.accumulator_bits = 8;
  return budget;
}

HostTensor tensor_of(Shape shape, DType dtype, const std::vector<double>& values) {
  HostTensor tensor;
  tensor.spec.shape = std::move(shape);
  tensor.spec.has_shape = true;
  tensor.spec.dtype.value = dtype;
  for (const double value : values) {
    if (is_integer(dtype))
      tensor.ints.push_back(static_cast<std::int64_t>(value));
    else
      tensor.floats.push_back(static_cast<float>(value));
  }
  return tensor;
}

double power_at(double size) { return std::exp2(std::floor(std::log2(std::max(size, kSmallestNormal)))); }

// Bounds by the formulas of bound.h, an element at a time.
struct Bounded {
  double unit;
  double bound;
};
Bounded bounded(const Data& data, const std::vector<bool>& out, std::size_t i, std::size_t row_length, DType dtype,
                const ErrorBudget& budget) {
  const auto value = [&](const std::vector<double>& of, std::size_t j) { return out[j] ? 0.0 : std::abs(of[j]); };
  double unit = 1.0;
  const double factor = std::exp2(1 - (is_integer(dtype) ? 8 : info(dtype).significand));
  if (is_block_float(dtype)) {
    const std::size_t row = i / row_length * row_length;
    const std::size_t group = row + (i - row) / kGroup * kGroup;
    const std::size_t end = std::min(group + kGroup, row + row_length);
    double e = kSmallestNormal;
    double a = 0.0;
    for (std::size_t j = group; j < end; ++j) {
      e = std::max(e, value(data.exact, j));
      a = std::max(a, value(data.actual, j));
    }
    unit = power_at(std::max(e, std::min(a, 2 * e))) * factor;
  } else if (!is_integer(dtype)) {
    unit = power_at(value(data.exact, i)) * factor;
  }
  const double tiny = is_integer(dtype) ? 0.0 : kSmallestNormal;
  const double e = data.exact[i];
  if (budget.kind == Kind::kElementwise) {
    const double floor_unit = is_integer(dtype) ? 0.0 : power_at(budget.floor) * factor;
    return {unit, budget.ulps * std::max(unit, floor_unit) + budget.relative * data.magnitude[i] + tiny};
  }
  const double half = is_integer(dtype) || is_block_float(dtype) ? 1.0 : 0.5;
  const double inexact = std::nearbyint(e / unit) == e / unit ? 0.0 : half * unit;
  return {unit, std::max(inexact, std::abs(e) < kSmallestNormal ? tiny : 0.0)};
}

struct Counted {
  std::int64_t compared = 0;
  std::int64_t exact = 0;
  std::int64_t within = 0;
  double max_abs = 0.0;
  double max_rel = 0.0;
  double ulp_max = 0.0;
  double worst_ratio = -1.0;
  std::int64_t worst = -1;
  Nonfinite nonfinite;
};

Counted counted(const Data& data, std::size_t row_length, DType dtype, const ErrorBudget& budget) {
  Counted c;
  const std::size_t n = data.exact.size();
  const double largest = is_integer(dtype) ? kInf : dtype == DType::kFloat32 ? 0x1.FFFFFEp127 : 0x1.FEp127;
  std::vector<bool> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double e = data.exact[i];
    const double a = data.actual[i];
    if (std::abs(e) <= largest && std::abs(a) <= largest) continue;
    out[i] = true;
    bool agrees = false;
    if (!(std::abs(e) <= largest)) {
      ++c.nonfinite.expected;
      agrees = std::isnan(e) ? std::isnan(a)
                             : std::signbit(e) == std::signbit(a) &&
                                   (std::isinf(a) || (std::isfinite(e) && std::abs(a) == largest));
    }
    if (agrees) ++c.nonfinite.agreed;
    if (!agrees && c.nonfinite.disagreed++ == 0) c.nonfinite.first = static_cast<std::int64_t>(i);
  }
  std::vector<bool> left = out;
  if (is_block_float(dtype)) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = i / row_length * row_length;
      const std::size_t group = row + (i - row) / kGroup * kGroup;
      const std::size_t end = std::min(group + kGroup, row + row_length);
      bool odd = false;
      for (std::size_t j = group; j < end; ++j) odd = odd || !(std::abs(data.exact[j]) <= largest);
      if (!odd || out[i] || data.actual[i] != 0.0) continue;
      left[i] = true;
      ++c.nonfinite.group_zeroed;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (left[i]) continue;
    const Bounded at = bounded(data, left, i, row_length, dtype, budget);
    const double e = data.exact[i];
    const double error = std::abs(data.actual[i] - e);
    const double steps = error / at.unit;
    const bool on_grid = std::nearbyint(e / at.unit) == e / at.unit;
    ++c.compared;
    if (on_grid ? error == 0.0 : steps <= 0.5) ++c.exact;
    if (error * error <= at.bound * at.bound) ++c.within;
    c.max_abs = std::max(c.max_abs, error);
    c.ulp_max = std::max(c.ulp_max, steps);
    if (e != 0.0) c.max_rel = std::max(c.max_rel, error / std::abs(e));
    const double least = at.unit * 1e-6;
    const double ratio = error * error / std::max(at.bound * at.bound, least * least);
    if (ratio > c.worst_ratio) {
      c.worst_ratio = ratio;
      c.worst = static_cast<std::int64_t>(i);
    }
  }
  return c;
}

void compare(std::size_t rows, std::size_t length, DType dtype, Kind kind, bool odd) {
  const std::size_t n = rows * length;
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(length) + " " + std::string(name_of(dtype)) + " kind " +
               std::to_string(static_cast<int>(kind)));
  const Data data = data_of(n, dtype, n * 8 + static_cast<std::size_t>(kind), odd);
  const ErrorBudget budget = budget_of(kind);
  const HostTensor actual =
      tensor_of({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(length)}, dtype, data.actual);
  const Verdict verdict = judge(
      {.wanted = actual.spec, .actual = actual, .budget = budget, .value = data.exact, .magnitude = data.magnitude});
  if (n == 0) {
    EXPECT_EQ(verdict.outcome, Outcome::kMistrusted);
    return;
  }
  const Counted wanted = counted(data, length, dtype, budget);
  const Metrics& m = verdict.metrics;
  EXPECT_EQ(m.compared, wanted.compared);
  EXPECT_EQ(verdict.nonfinite.expected, wanted.nonfinite.expected);
  EXPECT_EQ(verdict.nonfinite.agreed, wanted.nonfinite.agreed);
  EXPECT_EQ(verdict.nonfinite.disagreed, wanted.nonfinite.disagreed);
  EXPECT_EQ(verdict.nonfinite.first, wanted.nonfinite.first);
  EXPECT_EQ(verdict.nonfinite.group_zeroed, wanted.nonfinite.group_zeroed);
  if (wanted.compared == 0) return;
  EXPECT_EQ(m.exact_share, static_cast<double>(wanted.exact) / static_cast<double>(wanted.compared));
  EXPECT_EQ(m.within_share, static_cast<double>(wanted.within) / static_cast<double>(wanted.compared));
  EXPECT_EQ(m.max_abs, wanted.max_abs);
  EXPECT_EQ(m.ulp_max, wanted.ulp_max);
  EXPECT_EQ(m.max_rel, wanted.max_rel);
  EXPECT_EQ(m.worst.index, wanted.worst);
}

TEST(JudgePlain, EveryTail) {
  for (const DType dtype : kDTypes)
    for (const Kind kind : {Kind::kExact, Kind::kElementwise, Kind::kSelection})
      for (std::size_t n = 0; n <= 70; ++n)
        for (const bool odd : {false, true}) compare(1, n, dtype, kind, odd);
}

TEST(JudgePlain, RowsOfEveryLength) {
  for (const DType dtype : kDTypes)
    for (const Kind kind : {Kind::kExact, Kind::kElementwise})
      for (std::size_t length = 1; length <= 70; length += 3)
        for (const bool odd : {false, true}) compare(kChunk / length * 2 + 1, length, dtype, kind, odd);
}

TEST(JudgePlain, RowsLongerThanAChunk) {
  for (const DType dtype : kDTypes)
    for (const std::size_t length : {kChunk - 1, kChunk, kChunk + 1, 3 * kChunk + 17})
      for (const bool odd : {false, true}) compare(3, length, dtype, Kind::kElementwise, odd);
}

// Bounds of many elements at once are those of each alone: of its group, where a group shares a unit.
TEST(JudgePlain, BoundsOfEveryTail) {
  const auto chunk_of = [](const Data& data, std::size_t from, std::size_t n) {
    auto chunk = std::make_unique<Chunk>();
    chunk->n = chunk->row_length = n;
    chunk->exact = data.exact.data() + from;
    chunk->actual = data.actual.data() + from;
    chunk->magnitude = data.magnitude.data() + from;
    return chunk;
  };
  for (const DType dtype : kDTypes) {
    const std::size_t alone = is_block_float(dtype) ? kGroup : 1;
    for (const Kind kind : {Kind::kExact, Kind::kElementwise, Kind::kContraction, Kind::kSelection}) {
      const BoundModel model(budget_of(kind), dtype, 70);
      for (std::size_t n = 1; n <= 70; ++n) {
        const Data data = data_of(n, dtype, n, false);
        const auto all = chunk_of(data, 0, n);
        model.fill(*all);
        for (std::size_t from = 0; from < n; from += alone) {
          const auto part = chunk_of(data, from, std::min(alone, n - from));
          model.fill(*part);
          for (std::size_t i = 0; i < part->n; ++i) {
            ASSERT_EQ(all->unit[from + i], part->unit[i]) << name_of(dtype) << " " << n << " " << from + i;
            ASSERT_EQ(all->bound_squared[from + i], part->bound_squared[i]) << name_of(dtype) << " " << n;
            ASSERT_EQ(all->variance[from + i], part->variance[i]) << name_of(dtype) << " " << n;
          }
        }
      }
    }
  }
}

// How far a column leans depends on the rows that it has: elements that were taken out, and whole chunks of them, are
// none.
TEST(JudgePlain, RowsOfAColumnAreThoseThatWereTaken) {
  constexpr std::size_t kRows = 12;
  constexpr std::size_t kColumns = 5;
  const auto taken_out = [](std::size_t row, std::size_t column) { return row >= 8 || (column == 2 && row % 3 == 1); };
  test::Numerals random(8);
  Measure measure(0.0, true, kColumns, kRows);
  double z[kColumns] = {};
  double e_sum[kColumns] = {};
  double ee[kColumns] = {};
  double rows[kColumns] = {};
  for (std::size_t first = 0; first < kRows; first += 4) {
    auto chunk = std::make_unique<Chunk>();
    std::vector<std::int64_t> starts;
    chunk->row_length = kColumns;
    chunk->compacted = true;
    chunk->places = 4 * kColumns;
    chunk->exact = chunk->own_exact;
    chunk->actual = chunk->own_actual;
    chunk->magnitude = chunk->own_magnitude;
    chunk->upcoming = reinterpret_cast<const char*>(chunk->own_actual);
    for (std::size_t place = 0; place < chunk->places; ++place) {
      const std::size_t column = place % kColumns;
      if (column == 0) starts.push_back(static_cast<std::int64_t>((first + place / kColumns) * kColumns));
      if (taken_out(first + place / kColumns, column)) continue;
      const std::size_t i = chunk->n++;
      const double e = random.normal();
      const double d = column == 2 ? 3.0 : random.normal() * 0.1;
      chunk->place[i] = static_cast<std::uint32_t>(place);
      chunk->own_exact[i] = e;
      chunk->own_actual[i] = e + d;
      chunk->unit[i] = 0x1p-8;
      chunk->bound_squared[i] = 100;
      chunk->variance[i] = 1;
      z[column] += (e + d) - e;
      e_sum[column] += e;
      ee[column] += e * e;
      rows[column] += 1;
    }
    measure.add(*chunk, 0, starts.data());
  }
  const double all = std::accumulate(std::begin(rows), std::end(rows), 0.0);
  const double common = std::clamp(std::accumulate(std::begin(z), std::end(z), 0.0) / all, -0.3, 0.3);
  const double coherent = e_sum[2] * e_sum[2] / (rows[2] * ee[2]);
  const double leaning =
      (std::abs(z[2] - common * rows[2]) - 0.15 * rows[2]) / std::sqrt(rows[2] * (1 + coherent * rows[2]));
  const Measure::Leaning found = measure.most_leaning_column(0.0);
  EXPECT_EQ(found.column, 2);
  EXPECT_NEAR(found.deviations, leaning, 1e-12);
}

// Columns that lost elements to NaN are looked at.
TEST(JudgePlain, ColumnsWithHolesStillLean) {
  constexpr std::size_t kRows = 64;
  constexpr std::size_t kColumns = 48;
  test::Numerals random(3);
  Data data;
  for (std::size_t i = 0; i < kRows * kColumns; ++i) {
    const double e = random.normal();
    const bool hole = i % 11 == 0;
    data.exact.push_back(hole ? kNan : e);
    data.magnitude.push_back(6);
    data.actual.push_back(hole ? kNan : i % kColumns == 17 ? test::bf16(e + 0.35) : test::bf16(e));
  }
  const HostTensor actual = tensor_of({kRows, kColumns}, DType::kBfloat16, data.actual);
  ErrorBudget budget = budget_of(Kind::kContraction);
  budget.relative = 0.0;
  const Verdict verdict = judge(
      {.wanted = actual.spec, .actual = actual, .budget = budget, .value = data.exact, .magnitude = data.magnitude});
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_TRUE(std::ranges::any_of(verdict.reasons, [](const std::string& reason) {
    return reason.find("column 17 is off to one side") != std::string::npos;
  })) << to_text(verdict);
}

}  // namespace
}  // namespace opwright
