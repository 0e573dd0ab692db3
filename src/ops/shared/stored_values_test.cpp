#include "ops/shared/stored_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/quantize.h"
#include "ops/random.h"

namespace opwright {
namespace {

TEST(StoredValues, ByHand) {
  std::vector<double> row{1.0, 1.00390625, 1.01171875, -3.0, 0x1p-130};
  as_stored(row, DType::kBfloat16);
  EXPECT_EQ(row, (std::vector<double>{1.0, 1.0, 1.015625, -3.0, 0x1p-130}));  // ties go to even
  row = {4.0, 1.0, -0.3, 0.25, 7.9};
  as_stored(row, DType::kBfloat4B);  // steps of 1, up to 7
  EXPECT_EQ(row, (std::vector<double>{4.0, 1.0, 0.0, 0.0, 7.0}));
  row = {100.0, 0.4, 0.6};
  as_stored(row, DType::kFloat32);
  EXPECT_EQ(row, (std::vector<double>{100.0, 0.4, 0.6}));
}

// Two ways to the same numbers: the definition here, the bits of float32 there.
TEST(StoredValues, TheHostsConverterKeepsTheSame) {
  Random random(7);
  for (const DType dtype : {DType::kBfloat16, DType::kBfloat8B, DType::kBfloat4B})
    for (int round = 0; round < 2000; ++round) {
      std::vector<float> floats(40);
      const double spread = static_cast<double>(round % 30);
      const double centre = round % 7 == 0 ? -120 : round % 11 == 0 ? 118 : 0;
      for (float& x : floats)
        x = static_cast<float>(random.normal() * std::exp2(centre + spread * (random.normal() - 1) / 4));
      std::vector<double> row(floats.begin(), floats.end());
      if (round % 5 == 0) floats[3] = static_cast<float>(row[3] = 0.0);
      as_stored(row, dtype);
      quantize(floats, 40, dtype);
      for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_EQ(row[i], static_cast<double>(floats[i])) << "dtype " << name_of(dtype) << " round " << round;
    }
}

}  // namespace
}  // namespace opwright
