#include "device/sim/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "device/sim/gemm_kernel.h"
#include "model/quantize.h"

namespace opwright::sim {
namespace {

std::vector<float> random_values(std::int64_t count, std::uint32_t seed, double spread = 1.0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = round_bfloat16(static_cast<float>(normal(random) * std::exp2(spread * normal(random))));
  }
  return values;
}

struct Problem {
  Gemm job;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;

  Problem(std::int64_t m, std::int64_t n, std::int64_t k, double spread = 1.0)
      : a(random_values(m * k, 1, spread)),
        b(random_values(k * n, 2, spread)),
        c(static_cast<std::size_t>(m * n), -1.0F) {
    job.m = m;
    job.n = n;
    job.k = k;
    job.a = a.data();
    job.lda = k;
    job.b = b.data();
    job.ldb = n;
    job.c = c.data();
    job.ldc = n;
  }
  std::vector<float> exact() const {
    std::vector<float> result(c.size(), 0.0F);
    engine::run_exact(job, 0, job.m, 0, job.n, 0, (job.k + 31) / 32, result.data(), job.n);
    return result;
  }
};

// One product: what each fidelity leaves of it.
TEST(Gemm, FidelityDropsOperandBits) {
  const std::pair<Fidelity, float> expected[] = {{Fidelity::kLoFi, 1.458984375F},
                                                 {Fidelity::kHiFi2, 1.519775390625F},
                                                 {Fidelity::kHiFi3, 1.528564453125F},
                                                 {Fidelity::kHiFi4, 1.5289306640625F}};
  for (const auto& [fidelity, value] : expected) {
    Problem problem(1, 1, 1);
    problem.a[0] = 1.3046875F;
    problem.b[0] = 1.171875F;
    problem.job.config.fidelity = fidelity;
    problem.job.config.fp32_acc = true;
    gemm(problem.job);
    EXPECT_EQ(problem.c[0], value);
  }
}

using Setup = std::tuple<Fidelity, bool, double>;
class GemmKernels : public ::testing::TestWithParam<Setup> {};

TEST_P(GemmKernels, EveryInstructionSetIsExact) {
  const auto& [fidelity, fp32, spread] = GetParam();
  Problem problem(70, 75, 100, spread);
  problem.job.config.fidelity = fidelity;
  problem.job.config.fp32_acc = fp32;
  problem.job.in0_block_w = 4;  // all of k: no spills
  const std::vector<float> expected = problem.exact();
  for (const engine::Kernel* kernel : {&engine::portable_kernel(), engine::avx2_kernel(), engine::avx512_kernel()}) {
    if (kernel == nullptr) continue;
    engine::gemm_with(problem.job, *kernel);
    EXPECT_EQ(problem.c, expected) << kernel->columns << " columns";
  }
}
INSTANTIATE_TEST_SUITE_P(All, GemmKernels,
                         ::testing::Combine(::testing::Values(Fidelity::kLoFi, Fidelity::kHiFi2, Fidelity::kHiFi3,
                                                              Fidelity::kHiFi4),
                                            ::testing::Bool(), ::testing::Values(0.0, 4.0)));

// Whole strips of zeros on both sides, as in depthwise convolutions and padded images.
TEST(Gemm, ZerosTimesZerosAreZero) {
  for (const bool fp32 : {false, true}) {
    Problem problem(16, 64, 96);
    problem.job.config.fp32_acc = fp32;
    problem.job.in0_block_w = 3;
    for (std::int64_t row = 0; row < 8; ++row) std::fill_n(problem.a.begin() + row * 96, 96, 0.0F);
    for (std::int64_t k = 0; k < 96; ++k) std::fill_n(problem.b.begin() + k * 64, 32, 0.0F);
    const std::vector<float> expected = problem.exact();
    EXPECT_EQ(expected[0], 0.0F);
    for (const engine::Kernel* kernel : {&engine::portable_kernel(), engine::avx2_kernel(), engine::avx512_kernel()}) {
      if (kernel == nullptr) continue;
      engine::gemm_with(problem.job, *kernel);
      EXPECT_EQ(problem.c, expected) << kernel->columns << " columns";
    }
  }
}

TEST(Gemm, InfinityAndHugeValuesGoTheSlowWay) {
  Problem problem(9, 40, 64);
  problem.a[70] = INFINITY;
  problem.b[5] = 3e38F;
  problem.a[200] = -1e37F;
  gemm(problem.job);
  EXPECT_EQ(problem.c, problem.exact());
}

// A sum that was once beyond what the kernels take stays so, whatever is added later.
TEST(Gemm, HugeSumsStayOnTheSlowWay) {
  for (const bool fp32 : {false, true}) {
    Problem problem(9, 70, 256);
    problem.job.config.fp32_acc = fp32;
    problem.a[3] = 1e37F;  // in the first tile of k
    problem.b[70 * 3] = 2e30F;
    const std::vector<float> expected = problem.exact();
    EXPECT_EQ(expected[0], INFINITY);
    for (const engine::Kernel* kernel : {&engine::portable_kernel(), engine::avx2_kernel(), engine::avx512_kernel()}) {
      if (kernel == nullptr) continue;
      engine::gemm_with(problem.job, *kernel);
      EXPECT_EQ(problem.c, expected) << kernel->columns << " columns";
    }
  }
}

TEST(Gemm, TransposedOperandsAreReadInPlace) {
  Problem straight(20, 30, 50);
  gemm(straight.job);
  Problem turned(20, 30, 50);
  std::vector<float> a(turned.a.size());
  std::vector<float> b(turned.b.size());
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t l = 0; l < 50; ++l) a[l * 20 + i] = turned.a[i * 50 + l];
  }
  for (std::size_t l = 0; l < 50; ++l) {
    for (std::size_t j = 0; j < 30; ++j) b[j * 50 + l] = turned.b[l * 30 + j];
  }
  turned.job.a = a.data();
  turned.job.lda = 20;
  turned.job.transpose_a = true;
  turned.job.b = b.data();
  turned.job.ldb = 50;
  turned.job.transpose_b = true;
  gemm(turned.job);
  EXPECT_EQ(turned.c, straight.c);
}

TEST(Gemm, SpillsShowWhereTheyLosePrecision) {
  Problem problem(32, 32, 256);
  gemm(problem.job);  // 16-bit partial sums through memory: nothing is lost
  const std::vector<float> plain = problem.c;
  EXPECT_EQ(plain, problem.exact());
  problem.job.config.l1_acc = true;
  gemm(problem.job);
  EXPECT_NE(problem.c, plain);
  problem.job.config.l1_acc = false;
  problem.job.out_dtype = DType::kBfloat8B;  // then partial sums are BFLOAT8_B too
  gemm(problem.job);
  EXPECT_NE(problem.c, plain);
}

// Blocks that one call of a kernel takes whole, and longer ones: each but the last is summed alone and added in memory.
TEST(Gemm, PartialSumsAreAddedInMemory) {
  for (const bool fp32 : {false, true}) {
    for (const std::int64_t block : {2, 3}) {
      Problem problem(9, 70, 320);
      problem.job.config.fp32_acc = fp32;
      problem.job.config.l1_acc = true;
      problem.job.in0_block_w = block;
      std::vector<float> expected(problem.c.size(), 0.0F);
      for (std::int64_t tile = 0; tile < 10; tile += block) {
        const std::int64_t tiles = std::min<std::int64_t>(block, 10 - tile);
        const bool last = tile + block >= 10;
        std::vector<float> sums = last ? expected : std::vector<float>(expected.size(), 0.0F);
        engine::run_exact(problem.job, 0, 9, 0, 70, tile * engine::kTile, tiles, sums.data(), 70);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const float total = last ? sums[i] : expected[i] + sums[i];
          expected[i] = fp32 || last ? total : round_bfloat16(total);
        }
      }
      for (const engine::Kernel* kernel :
           {&engine::portable_kernel(), engine::avx2_kernel(), engine::avx512_kernel()}) {
        if (kernel == nullptr) continue;
        engine::gemm_with(problem.job, *kernel);
        EXPECT_EQ(problem.c, expected) << kernel->columns << " columns, blocks of " << block;
      }
    }
  }
}

TEST(Gemm, ThreadsDoNotMatter) {
  Problem problem(300, 600, 70);
  set_threads(1);
  gemm(problem.job);
  const std::vector<float> alone = problem.c;
  set_threads(3);
  gemm(problem.job);
  set_threads(0);
  EXPECT_EQ(problem.c, alone);
}

TEST(Gemm, BiasIsAddedByTheMatrixEngine) {
  Problem problem(3, 17, 32);
  std::vector<float> bias(17, 100.0F);
  problem.job.bias = bias.data();
  gemm(problem.job);
  const std::vector<float> expected = problem.exact();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(problem.c[i], engine::add_sources(expected[i], 100.0F, false));
  }
}

TEST(Gemm, NothingToMultiplyIsZeroAndNoRowsAreNothing) {
  Problem problem(2, 3, 1);
  problem.job.k = 0;
  gemm(problem.job);
  EXPECT_EQ(problem.c, std::vector<float>(6, 0.0F));
  problem.job.m = 0;
  gemm(problem.job);
}

}  // namespace
}  // namespace opwright::sim
