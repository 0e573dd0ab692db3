#include "replay/packed_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/quantize.h"
#include "ops/random.h"
#include "replay/chain_values.h"

namespace opwright::replay {
namespace {

using Form = Packed::Form;

Values numbers(std::size_t count, DType dtype, double factor = 1) {
  Random random(7);
  Values out;
  for (std::size_t i = 0; i < count; ++i) out.floats.push_back(static_cast<float>(factor * random.normal()));
  quantize(out.floats, 64, dtype);
  return out;
}

bool same_bits(const Values& a, const Values& b) {
  return a.ints == b.ints && a.floats.size() == b.floats.size() &&
         std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)) == 0;
}

TEST(Packed, TakesWhatADeviceTakesAndLosesNothing) {
  struct Case {
    DType dtype;
    Form form;
    std::size_t bytes;  // of 640 values
  };
  for (const Case& one : {Case{DType::kFloat32, Form::kFloat32, 2560}, Case{DType::kBfloat16, Form::kBfloat16, 1280},
                          Case{DType::kBfloat8B, Form::kBlock8, 680}, Case{DType::kBfloat4B, Form::kBlock4, 360}}) {
    for (const double factor : {1.0, 1e-20, 1e20}) {
      const Values values = numbers(640, one.dtype, factor);
      const Packed packed(values, one.dtype, 64);
      EXPECT_EQ(packed.form(), one.form);
      EXPECT_EQ(packed.bytes(), one.bytes);
      EXPECT_TRUE(same_bits(packed.expanded(), values)) << name_of(one.dtype) << ' ' << factor;
      EXPECT_EQ(packed.at(100), values.floats[100]);
      std::vector<float> some(21);
      packed.expand(37, some);
      for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], values.floats[37 + i]);
    }
  }
}

TEST(Packed, WhatAFormCannotHoldIsKeptInAWiderOne) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kInfinity, -kInfinity, std::nanf(""), 1e-42F, 1.0F + 0x1p-20F, -0.0F, 1000.5F})
    for (const DType dtype : {DType::kBfloat16, DType::kBfloat8B, DType::kBfloat4B}) {
      Values values = numbers(64, dtype);
      values.floats[33] = odd;
      EXPECT_TRUE(same_bits(Packed(values, dtype, 64).expanded(), values)) << odd << ' ' << name_of(dtype);
    }
  // Rows that are no whole groups share exponents otherwise.
  const Values narrow = numbers(60, DType::kBfloat16);
  EXPECT_EQ(Packed(narrow, DType::kBfloat8B, 10).form(), Form::kBfloat16);
}

TEST(Packed, GrowsByPartsAndWidensOnTheWay) {
  const Values values = numbers(256, DType::kBfloat8B);
  Packed packed;
  packed.reserve(DType::kBfloat8B, 64, 512);
  packed.append(values.floats);
  Values odd = values;
  odd.floats[3] = 1.0F + 0x1p-20F;
  packed.append(odd.floats);
  Values all = values;
  all.floats.insert(all.floats.end(), odd.floats.begin(), odd.floats.end());
  EXPECT_EQ(packed.form(), Form::kFloat32);
  EXPECT_TRUE(same_bits(packed.expanded(), all));
}

TEST(Packed, IntegersTakeWhatTheLargestNeeds) {
  for (const auto& [most, bytes] : std::vector<std::pair<std::int64_t, std::size_t>>{
           {255, 4}, {256, 8}, {70'000, 16}, {UINT32_MAX, 16}, {std::int64_t{1} << 40, 32}, {-5, 16}}) {
    Values values;
    values.ints = {0, 1, most, 3};
    const Packed packed(values, DType::kUint32, 4);
    EXPECT_EQ(packed.bytes(), bytes) << most;
    EXPECT_EQ(packed.expanded().ints, values.ints);
    EXPECT_EQ(packed.at(2), static_cast<double>(most));
  }
  EXPECT_EQ(Packed(Values{}, DType::kUint32, 4).expanded().size(), 0U);
}

TEST(ChainValues, KeepADifferenceToAPartOfItself) {
  for (const double distance : {1e-6, 1e-2, 1.0}) {
    const Values device = numbers(1000, DType::kBfloat16);
    Values exact = device;
    Random random(3);
    double largest = 0;
    for (float& value : exact.floats) {
      const auto difference = static_cast<float>(distance * random.normal());
      largest = std::max(largest, std::abs(static_cast<double>(difference)));
      value += difference;
    }
    ChainValues chain(1000);
    for (std::size_t first = 0; first < 1000; first += 480) {
      Values part;
      part.floats.assign(exact.floats.begin() + static_cast<std::ptrdiff_t>(first),
                         exact.floats.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(1000, first + 480)));
      chain.add(device, first, part);
    }
    EXPECT_TRUE(chain.differs());
    EXPECT_LE(chain.bytes(), 1008U / 16 * 17);
    Values found = device;
    chain.put_onto(found);
    for (std::size_t i = 0; i < 1000; ++i)
      ASSERT_NEAR(found.floats[i], exact.floats[i], largest * 0x1p-7 + 2e-7) << distance << ' ' << i;
  }
}

TEST(ChainValues, EqualValuesTakeNothing) {
  const Values device = numbers(100, DType::kBfloat16);
  ChainValues chain(100);
  chain.add(device, 0, device);
  EXPECT_FALSE(chain.differs());
  EXPECT_EQ(chain.bytes(), 0U);
}

TEST(ChainValues, ValuesThatAreNoNumbersAndWholeNumbersAreKeptAsTheyAre) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Values device = numbers(40, DType::kBfloat16), exact = device;
  exact.floats[3] = kInfinity;
  device.floats[20] = std::nanf("");
  exact.floats[21] += 0.5F;
  device.floats[39] = exact.floats[39] = -kInfinity;
  ChainValues chain(40);
  chain.add(device, 0, exact);
  Values found = device;
  chain.put_onto(found);
  for (std::size_t i = 0; i < 40; ++i)
    if (std::isfinite(exact.floats[i])) {
      EXPECT_NEAR(found.floats[i], exact.floats[i], 0.005) << i;
    } else {
      EXPECT_EQ(found.floats[i], exact.floats[i]) << i;
    }
  Values ids, right;
  ids.ints = {1, 2, 3};
  right.ints = {1, 7, 3};
  ChainValues whole(3);
  whole.add(ids, 0, right);
  whole.put_onto(ids);
  EXPECT_EQ(ids.ints, right.ints);
}

}  // namespace
}  // namespace opwright::replay
