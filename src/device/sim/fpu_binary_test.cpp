#include "device/sim/fpu_binary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "device/sim/gemm_kernel.h"
#include "model/quantize.h"

namespace opwright::sim {
namespace {

float one(Binary op, Engine engine, Dst dst, float a, float b) {
  float out = 0;
  binary(op, engine, dst, {&a, 1}, {&b, 1}, {&out, 1});
  return out;
}

TEST(Binary, NamesAreThoseOfTheOperators) {
  EXPECT_EQ(find_binary("subtract"), Binary::kSub);
  EXPECT_EQ(find_binary("mul"), Binary::kMul);
  EXPECT_EQ(name_of(Binary::kSquaredDifference), "squared_difference");
  EXPECT_FALSE(find_binary("frobnicate"));
}

TEST(Binary, EngineFollowsTheDtypes) {
  EXPECT_EQ(engine_of(Binary::kAdd, DType::kBfloat16, DType::kBfloat16), Engine::kMatrix);
  EXPECT_EQ(engine_of(Binary::kAdd, DType::kFloat32, DType::kFloat32), Engine::kVector);
  EXPECT_EQ(engine_of(Binary::kMul, DType::kBfloat16, DType::kBfloat16), Engine::kVector);
  EXPECT_EQ(engine_of(Binary::kMul, DType::kBfloat16, DType::kBfloat8B), Engine::kMatrix);
  EXPECT_EQ(engine_of(Binary::kMul, DType::kBfloat16, DType::kBfloat16, true), Engine::kMatrix);
}

TEST(Binary, MatrixAddTakesTiesAwayFromZero) {
  // 1 + 2^-8 lies half way between two 16-bit numbers; to even it would be 1.
  EXPECT_EQ(one(Binary::kAdd, Engine::kMatrix, Dst::kBf16, 1.0F, 0x1p-8F), 1.0078125F);
  EXPECT_EQ(one(Binary::kAdd, Engine::kVector, Dst::kBf16, 1.0F, 0x1p-8F), 1.0F);
}

TEST(Binary, VectorMultiplicationByZeroIsZero) {
  EXPECT_EQ(one(Binary::kMul, Engine::kVector, Dst::kBf16, 0.0F, INFINITY), 0.0F);
  EXPECT_EQ(one(Binary::kDiv, Engine::kVector, Dst::kBf16, -1.0F, 0.0F), -INFINITY);
}

TEST(Binary, OneRightValueIsLikeAnArrayOfThem) {
  const std::vector<float> a{1.5F, -2.0F, 0.0F, 7.0F};
  const std::vector<float> b(a.size(), 1.703125F);
  std::vector<float> by_array(a.size());
  std::vector<float> by_value(a.size());
  for (const Engine engine : {Engine::kMatrix, Engine::kVector}) {
    for (const Binary op : {Binary::kAdd, Binary::kMul, Binary::kDiv, Binary::kPow}) {
      binary(op, engine, Dst::kBf16, a, b, by_array);
      binary(op, engine, Dst::kBf16, a, b[0], by_value);
      EXPECT_EQ(by_array, by_value) << name_of(op);
    }
  }
}

// The vector code against the model of the engine, which takes one element at a time.
TEST(Binary, QuickPathsAgreeWithTheEngine) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::uint32_t> words(0, 0xFFFF);
  constexpr std::size_t kCount = 20000;
  std::vector<float> a(kCount);
  std::vector<float> b(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    // Half of them near each other, where roundings meet; the rest anything at all but NaN and Inf.
    const auto word = [&] {
      const std::uint32_t bits = words(random);
      const std::uint32_t near = 0x3F00 + (bits & 0x80FF) + (bits >> 8 & 7) * 0x80;
      const std::uint32_t any = (bits & 0x7F80) == 0x7F80 ? bits & 0x807F : bits;
      return from_bfloat16_bits(static_cast<std::uint16_t>(i % 2 == 0 ? near : any));
    };
    a[i] = word();
    b[i] = word();
  }
  std::vector<float> sums(kCount);
  std::vector<float> products(kCount);
  for (const Dst dst : {Dst::kBf16, Dst::kFp32}) {
    const bool fp32 = dst == Dst::kFp32;
    binary(Binary::kAdd, Engine::kMatrix, dst, a, b, sums);
    binary(Binary::kMul, Engine::kMatrix, dst, a, b, products);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(sums[i], engine::add_sources(a[i], b[i], fp32)) << a[i] << " + " << b[i];
      float product = 0;
      for (int phase = 0; phase < 4; ++phase) product = engine::multiply_accumulate(a[i], b[i], product, phase, fp32);
      ASSERT_EQ(products[i], product) << a[i] << " x " << b[i];
    }
  }
}

}  // namespace
}  // namespace opwright::sim
