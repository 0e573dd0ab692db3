#include "compare/alike_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/test_data.h"
#include "model/value.h"

namespace opwright {
namespace {

HostTensor rows_of(std::int64_t rows, std::int64_t length) {
  test::Numerals random(3);
  HostTensor tensor;
  tensor.spec.shape = {rows, length};
  tensor.spec.dtype.value = DType::kBfloat16;
  for (std::int64_t i = 0; i < rows * length; ++i)
    tensor.floats.push_back(static_cast<float>(test::bf16(random.normal())));
  return tensor;
}

void copy_row(HostTensor& tensor, std::int64_t length, std::int64_t from, std::int64_t to) {
  std::copy_n(tensor.floats.begin() + from * length, length, tensor.floats.begin() + to * length);
}

TEST(AlikeRows, ADuplicatedRowIsFoundWithItsOriginal) {
  HostTensor tensor = rows_of(1000, 64);
  EXPECT_TRUE(alike_rows(tensor, 64, 100).empty());
  copy_row(tensor, 64, 700, 31);
  EXPECT_EQ(alike_rows(tensor, 64, 100), (std::vector<std::int64_t>{31, 700}));
}

TEST(AlikeRows, PairsComeBeforeCrowdsAndRowsOfOneValueNotAtAll) {
  HostTensor tensor = rows_of(1000, 64);
  for (std::int64_t row = 100; row < 400; ++row) copy_row(tensor, 64, 0, row);
  copy_row(tensor, 64, 700, 31);
  std::fill_n(tensor.floats.begin() + 800 * 64, 64 * 100, 0.0F);
  EXPECT_EQ(alike_rows(tensor, 64, 2), (std::vector<std::int64_t>{31, 700}));
  EXPECT_EQ(alike_rows(tensor, 64, 10).size(), 10U);
  EXPECT_EQ(alike_rows(tensor, 64, 1000).size(), 303U);
}

TEST(AlikeRows, NothingToCompareIsNothingAlike) {
  EXPECT_TRUE(alike_rows(rows_of(0, 64), 64, 10).empty());
  EXPECT_TRUE(alike_rows(rows_of(50, 1), 1, 10).empty());
}

}  // namespace
}  // namespace opwright
