#include "base/npy.h"

#include <gtest/gtest.h>

#include <array>

namespace opwright {
namespace {

std::string text_of(std::string_view header) { return std::string(header.substr(10, header.find("}") - 9)); }

TEST(Npy, TheHeaderIsWhatNumpyReads) {
  const std::array<std::int64_t, 2> shape{32, 96};
  const std::string header = npy_header("<f4", shape);
  EXPECT_EQ(header.size() % 64, 0U);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]), header.size() - 10);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(text_of(header), "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 96), }");
}

TEST(Npy, ShapesOfOneDimensionAndOfNone) {
  const std::array<std::int64_t, 1> one{7};
  EXPECT_EQ(text_of(npy_header("<i8", one)), "{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }");
  EXPECT_EQ(text_of(npy_header("<i8", {})), "{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
}

}  // namespace
}  // namespace opwright
