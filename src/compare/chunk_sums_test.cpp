#include "compare/chunk_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "compare/test_data.h"

namespace opwright {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kLongestTail = 70;

// A number of an odd kind every other time.
double odd_number(test::Numerals& random, int kind) {
  switch (kind % 12) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return 0x1p-140 * random.normal();  // denormal in float32
    case 3:
      return 3e38 * random.uniform();
    case 4:
      return -0x1p-126;
    case 5:
      return 0x1p-1074;
    default:
      return random.normal();
  }
}

std::unique_ptr<Chunk> chunk_of(std::size_t n, std::uint64_t seed, bool carried) {
  auto chunk = std::make_unique<Chunk>();
  test::Numerals random(seed);
  chunk->n = n;
  chunk->row_length = std::max<std::size_t>(n, 1);
  chunk->carried = carried;
  for (std::size_t i = 0; i < n; ++i) {
    const int kind = static_cast<int>(random.uniform() * 24);
    const double e = odd_number(random, kind);
    const double off[] = {0.0, 1e-3, 0.5, 1.0, -3.0, 1e6};
    const double unit = std::exp2(std::floor(std::log2(std::max(std::abs(e), 0x1p-126)))) * 0x1p-7;
    chunk->own_exact[i] = e;
    chunk->own_actual[i] = e + unit * off[static_cast<std::size_t>(random.uniform() * 6)];
    chunk->own_magnitude[i] = std::abs(e);
    chunk->own_before[i] = random.normal();
    chunk->slope[i] = kind == 7 ? 0.0 : random.normal();
    chunk->unit[i] = unit;
    chunk->bound_squared[i] = kind == 8 ? 0.0 : unit * unit * random.uniform() * 4;
    chunk->variance[i] = unit * unit * (0.1 + random.uniform());
  }
  chunk->exact = chunk->own_exact;
  chunk->actual = chunk->own_actual;
  chunk->magnitude = chunk->own_magnitude;
  chunk->before = chunk->own_before;
  chunk->upcoming = reinterpret_cast<const char*>(chunk->own_actual);
  chunk->upcoming_bytes = sizeof(double);
  return chunk;
}

// Sums in the lanes that chunk_sums.h promises: one number after the other.
class InLanes {
 public:
  explicit InLanes(std::size_t n) : whole_(n / kLanes * kLanes) {}
  void add(std::size_t i, double v) {
    if (i < whole_)
      lanes_[i % kLanes] += v;
    else
      tail_[i % kLanes] = v;
  }
  double onto(double sum, double divisor = 1.0) const {
    for (const double lane : lanes_) sum += divisor == 1.0 ? lane : lane / divisor;
    double tail = 0.0;
    for (const double v : tail_) tail += v;
    return sum + (divisor == 1.0 ? tail : tail / divisor);
  }

 private:
  std::size_t whole_;
  double lanes_[kLanes] = {};
  double tail_[kLanes] = {};
};

struct Plain {
  Sums sums;
  Found found;
  std::vector<std::uint64_t> buckets;
  std::vector<double> weight;
};

// The same figures by a loop without lanes, branches and all.
Plain plain_sums(const Chunk& c, bool weighted, double shift, Sums sums) {
  Plain out;
  InLanes e_sum(c.n), a_sum(c.n), ee(c.n), aa(c.n), ea(c.n), squared(c.n), ulp(c.n), rounding(c.n), variance(c.n);
  InLanes z(c.n), weighted_ee(c.n), weighted_ed(c.n), weighted_unit(c.n), before(c.n), before_squared(c.n);
  for (std::size_t i = 0; i < c.n; ++i) {
    const double e = c.exact[i], a = c.actual[i], unit = c.unit[i], bound = c.bound_squared[i];
    const double d = a - e;
    const double steps = std::abs(d) * (1 / unit);
    e_sum.add(i, e - shift);
    a_sum.add(i, a - shift);
    ee.add(i, (e - shift) * (e - shift));
    aa.add(i, (a - shift) * (a - shift));
    ea.add(i, (e - shift) * (a - shift));
    squared.add(i, d * d);
    ulp.add(i, steps);
    rounding.add(i, unit * unit);
    variance.add(i, c.variance[i]);
    if (weighted && c.carried) {
      const double y = c.before[i];
      const double certainty = 1 / c.variance[i];
      const double shown = c.slope[i] * certainty;
      out.weight.push_back(c.slope[i] * shown);
      z.add(i, d * d * certainty);
      weighted_ee.add(i, y * y * out.weight.back());
      weighted_ed.add(i, y * d * shown);
      weighted_unit.add(i, std::abs(y) * unit * std::abs(shown));
      before.add(i, y);
      before_squared.add(i, y * y);
    } else if (weighted) {
      const double weight = 1 / c.variance[i];
      out.weight.push_back(weight);
      z.add(i, d * d * weight);
      weighted_ee.add(i, e * e * weight);
      weighted_ed.add(i, e * d * weight);
      weighted_unit.add(i, std::abs(e) * unit * weight);
    }
    const bool on_grid = std::nearbyint(e / unit) == e / unit;
    if (on_grid ? d == 0.0 : steps <= 0.5) ++sums.exact;
    if (d * d <= bound) ++sums.within;
    if (d * d <= 4 * bound) ++sums.near;
    const double least = unit * unit * (kLeastBound * kLeastBound);
    if (d * d > sums.max_ratio * (1 + 0x1p-50) * std::max(bound, least)) out.found.larger_ratio = true;
    if (e != 0.0 && std::abs(d) > sums.max_rel * (1 + 0x1p-50) * std::abs(e)) out.found.larger_rel = true;
    sums.max_abs = std::max(sums.max_abs, std::abs(d));
    sums.max_ulp = std::max(sums.max_ulp, steps);
    const std::int64_t bucket =
        static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(steps) >> 47) - static_cast<std::int64_t>(kFirstBucket);
    const auto kept = static_cast<std::uint64_t>(std::clamp<std::int64_t>(bucket, 0, kBuckets - 1));
    if (kept > 0) out.found.off = true;
    out.buckets.push_back(kept);
  }
  sums.e = e_sum.onto(sums.e);
  sums.a = a_sum.onto(sums.a);
  sums.ee = ee.onto(sums.ee);
  sums.aa = aa.onto(sums.aa);
  sums.ea = ea.onto(sums.ea);
  sums.squared_error = squared.onto(sums.squared_error);
  sums.ulp = ulp.onto(sums.ulp);
  sums.rounding = rounding.onto(sums.rounding, 12);
  sums.variance = variance.onto(sums.variance);
  sums.z_squared = z.onto(sums.z_squared);
  sums.weighted_ee = weighted_ee.onto(sums.weighted_ee);
  sums.weighted_ed = weighted_ed.onto(sums.weighted_ed);
  sums.weighted_unit = weighted_unit.onto(sums.weighted_unit);
  sums.before = before.onto(sums.before);
  sums.before_squared = before_squared.onto(sums.before_squared);
  out.sums = sums;
  return out;
}

std::vector<double> numbers_of(const Sums& s) {
  return {s.e,
          s.a,
          s.ee,
          s.aa,
          s.ea,
          s.squared_error,
          s.ulp,
          s.rounding,
          s.variance,
          s.z_squared,
          s.weighted_ee,
          s.weighted_ed,
          s.weighted_unit,
          s.before,
          s.before_squared,
          static_cast<double>(s.within),
          static_cast<double>(s.near),
          static_cast<double>(s.exact),
          s.max_abs,
          s.max_rel,
          s.max_ulp,
          s.max_ratio};
}

// Every length of tail, on every width of registers that is here, against the plain loop: to the last bit.
TEST(ChunkSums, EveryTailIsThePlainLoop) {
  for (const ChunkLoops& loops : chunk_loops()) {
    for (std::size_t n = 0; n <= kLongestTail; ++n) {
      for (const bool weighted : {false, true}) {
        for (const bool carried : {false, true}) {
          SCOPED_TRACE(std::string(loops.name) + ", " + std::to_string(n) + (weighted ? " weighted" : "") +
                       (carried ? " carried" : ""));
          const auto chunk = chunk_of(n, n * 4 + 1, carried);
          Sums sums;
          sums.e = 0.25;
          sums.max_ratio = n % 2 == 0 ? 0.0 : 1e9;
          sums.max_rel = n % 3 == 0 ? 0.0 : 1e9;
          const Plain wanted = plain_sums(*chunk, weighted, 0.125, sums);
          std::uint32_t places[kChunk] = {};
          const Found found = loops.add_chunk(chunk.get(), weighted, 0.125, &sums, places);
          EXPECT_EQ(numbers_of(sums), numbers_of(wanted.sums));
          EXPECT_EQ(found.larger_rel, wanted.found.larger_rel);
          EXPECT_EQ(found.larger_ratio, wanted.found.larger_ratio);
          EXPECT_EQ(found.off, wanted.found.off);
          for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(places[i] / kHistograms, wanted.buckets[i]) << i;
          if (weighted) {
            EXPECT_EQ(std::vector<double>(chunk->weight, chunk->weight + n), wanted.weight);
          }
        }
      }
    }
  }
}

TEST(ChunkSums, AWholeChunkIsTheSameOnEveryWidth) {
  for (const bool carried : {false, true}) {
    const auto chunk = chunk_of(kChunk, 77, carried);
    const Plain wanted = plain_sums(*chunk, true, 0.5, {});
    for (const ChunkLoops& loops : chunk_loops()) {
      Sums sums;
      std::uint32_t places[kChunk];
      loops.add_chunk(chunk.get(), true, 0.5, &sums, places);
      EXPECT_EQ(numbers_of(sums), numbers_of(wanted.sums)) << loops.name;
    }
  }
}

TEST(ChunkSums, ErrorsBelowTheFirstBucketAreNotOff) {
  const auto chunk = chunk_of(16, 3, false);
  for (std::size_t i = 0; i < 16; ++i) chunk->own_actual[i] = chunk->own_exact[i];
  for (const ChunkLoops& loops : chunk_loops()) {
    Sums sums;
    std::uint32_t places[kChunk];
    EXPECT_FALSE(loops.add_chunk(chunk.get(), false, 0.0, &sums, places).off) << loops.name;
    EXPECT_EQ(sums.within, 16);
    EXPECT_EQ(sums.exact, 16);
  }
}

TEST(ChunkSums, MomentsLeaveOutWhatIsNoNumber) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 1e300, -1e300};
  for (const ChunkLoops& loops : chunk_loops()) {
    for (std::size_t n = 0; n <= kLongestTail; ++n) {
      test::Numerals random(n + 1);
      std::vector<double> values;
      InLanes sum(n), squares(n);
      std::int64_t count = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool is_odd = random.uniform() < 0.3;
        values.push_back(is_odd ? odd[static_cast<std::size_t>(random.uniform() * 5)] : random.normal());
        sum.add(i, is_odd ? 0.0 : values.back());
        squares.add(i, is_odd ? 0.0 : values.back() * values.back());
        count += is_odd ? 0 : 1;
      }
      const Moments found = loops.moments(values.data(), n, 3.5e38);
      EXPECT_EQ(found.sum, sum.onto(0.0)) << loops.name << ", " << n;
      EXPECT_EQ(found.squares, squares.onto(0.0)) << loops.name << ", " << n;
      EXPECT_EQ(found.count, count) << loops.name << ", " << n;
    }
  }
}

TEST(ChunkSums, PartsOfRowsAreThePlainLoop) {
  const auto chunk = chunk_of(kChunk, 5, false);
  for (const ChunkLoops& loops : chunk_loops()) {
    for (std::size_t n = 0; n <= kLongestTail; ++n) {
      const std::size_t from = n % 5;
      InLanes square(n), d_sum(n), dd(n), ed(n), ee(n), eedd(n), eeed(n), eeee(n), unit(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double e = chunk->exact[from + i];
        const double d = chunk->actual[from + i] - e;
        const double weighted = e / chunk->variance[from + i];
        square.add(i, e * e);
        d_sum.add(i, d);
        dd.add(i, d * d);
        ed.add(i, d * weighted);
        ee.add(i, e * weighted);
        eedd.add(i, (d * weighted) * (d * weighted));
        eeed.add(i, (e * weighted) * (d * weighted));
        eeee.add(i, (e * weighted) * (e * weighted));
        unit.add(i, chunk->unit[from + i]);
      }
      const RowPart found = loops.row_part(chunk.get(), from, n);
      const std::vector<double> got{found.square, found.d,    found.dd,   found.ed,  found.ee,
                                    found.eedd,   found.eeed, found.eeee, found.unit};
      const std::vector<double> wanted{square.onto(0.0), d_sum.onto(0.0), dd.onto(0.0),   ed.onto(0.0),  ee.onto(0.0),
                                       eedd.onto(0.0),   eeed.onto(0.0),  eeee.onto(0.0), unit.onto(0.0)};
      EXPECT_EQ(got, wanted) << loops.name << ", " << n;
    }
  }
}

TEST(ChunkSums, ColumnsOfRows) {
  for (std::size_t length = 1; length <= kLongestTail; ++length) {
    for (const bool carried : {false, true}) {
      constexpr std::size_t kFrom = 3;
      constexpr std::size_t kRows = 3;
      const auto chunk = chunk_of(kFrom + kRows * length, length + 9, carried);
      for (std::size_t i = 0; i < chunk->n; ++i) {
        chunk->weight[i] = i % 4 == 1 ? 0.0 : 1 / chunk->variance[i];
        chunk->shown[i] = chunk->slope[i] / chunk->variance[i];
      }
      std::vector<std::vector<double>> found(5, std::vector<double>(length + 1, 0.5));
      std::vector<std::vector<double>> wanted = found;
      add_columns(*chunk, kFrom, kRows, length, {found[0].data(), found[1].data(), found[2].data(), found[3].data()},
                  found[4].data());
      for (std::size_t at = kFrom; at < chunk->n; ++at) {
        const std::size_t i = (at - kFrom) % length;
        const double weight = chunk->weight[at];
        const double d = chunk->actual[at] - chunk->exact[at];
        if (carried && !(weight > 0.0)) {
          wanted[4][i] += 1;
          continue;
        }
        const double e = carried ? chunk->before[at] : chunk->exact[at];
        wanted[0][i] += carried ? d * chunk->shown[at] : d * weight;
        wanted[1][i] += e * weight;
        wanted[2][i] += carried ? e * e * weight : e * weight * e;
        wanted[3][i] += weight;
      }
      EXPECT_EQ(found, wanted) << length << (carried ? " carried" : "");
    }
  }
}

}  // namespace
}  // namespace opwright
