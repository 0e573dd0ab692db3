#include "device/sim/tile_image.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "model/quantize.h"
#include "model/value.h"

namespace opwright::sim {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

constexpr float kRow[16] = {1,          -1,  0.5,  1.5,  1.984375, 1.9921875, -1.9921875, 0.0078125,
                            0.01171875, 0.3, -0.1, 1e-3, 0,        1.0078125, 1.0234375,  -0.75};

std::vector<float> tile_with_first_row() {
  std::vector<float> tile(32 * 32, 0.0F);
  std::copy(std::begin(kRow), std::end(kRow), tile.begin());
  return tile;
}

TEST(TileImage, BytesOfTheHostsBlockFloats) {
  const auto eight = tile_image(tile_with_first_row(), DType::kBfloat8B);
  ASSERT_EQ(eight.size(), 1088U);
  EXPECT_EQ(hex(std::span(eight).first(2)), "7f00");
  EXPECT_EQ(hex(std::span(eight).subspan(64, 16)),
            "40c020607f7fff000113860000"
            "4042b0");
  const auto four = tile_image(tile_with_first_row(), DType::kBfloat4B);
  ASSERT_EQ(four.size(), 576U);
  // 4 c 2 6 7 7 f 0 0 1 0 0 0 4 4 b, the first of two in the low half.
  EXPECT_EQ(hex(std::span(four).subspan(64, 8)),
            "c46277"
            "0f"
            "10"
            "00"
            "40"
            "b4");
}

TEST(TileImage, BytesOfTheDocumentedPackersBlockFloats) {
  const auto eight = tile_image(tile_with_first_row(), DType::kBfloat8B, {}, Encoder::kPacker);
  EXPECT_EQ(hex(std::span(eight).subspan(64, 16)),
            "40c020607f7fff01011386000040"
            "41b0");
}

TEST(TileImage, FacesLieOneAfterTheOther) {
  std::vector<std::int64_t> tile(32 * 32);
  std::iota(tile.begin(), tile.end(), 0);
  const auto image = tile_image(tile, DType::kUint16);
  const auto at = [&](std::size_t i) {
    return std::to_integer<int>(image[2 * i]) | std::to_integer<int>(image[2 * i + 1]) << 8;
  };
  EXPECT_EQ(at(0), 0);
  EXPECT_EQ(at(16), 32);        // second row of the first face
  EXPECT_EQ(at(256), 16);       // the face to the right
  EXPECT_EQ(at(512), 16 * 32);  // the face below
}

TEST(TileImage, SmallTilesPadTheirExponents) {
  const TileShape tile{4, 32};
  const std::vector<float> values(4 * 32, 1.0F);
  const auto image = tile_image(values, DType::kBfloat8B, tile);
  EXPECT_EQ(image.size(), 4U * 32 + 16);
  std::vector<float> back(values.size());
  read_tile_image(image, DType::kBfloat8B, tile, back);
  EXPECT_EQ(back, values);
}

TEST(TileImage, TensorsComeBackAsTheyWere) {
  for (const DType dtype : {DType::kBfloat16, DType::kFloat32, DType::kBfloat8B, DType::kBfloat4B, DType::kInt32,
                            DType::kUint32, DType::kUint16, DType::kUint8}) {
    for (const Layout layout : {Layout::kTile, Layout::kRowMajor}) {
      HostTensor tensor;
      tensor.spec.shape = {2, 3, 33, 50};
      tensor.spec.dtype.value = dtype;
      tensor.spec.layout.value = layout;
      for (int i = 0; i < 2 * 3 * 33 * 50; ++i) {
        if (is_integer(dtype)) {
          tensor.ints.push_back(dtype == DType::kInt32 ? 7 - i : i);
        } else {
          tensor.floats.push_back(static_cast<float>(i % 97) / 7.0F - 5.0F);
        }
      }
      quantize(tensor);
      HostTensor back;
      back.spec = tensor.spec;
      const auto image = tensor_image(tensor);
      if (layout == Layout::kTile) {
        EXPECT_EQ(image.size(), static_cast<std::size_t>(2 * 3 * 2 * 2 * tile_bytes(dtype)));
      }
      read_tensor_image(image, back);
      EXPECT_EQ(back.floats, tensor.floats) << name_of(dtype);
      EXPECT_EQ(back.ints, tensor.ints) << name_of(dtype);
    }
  }
}

}  // namespace
}  // namespace opwright::sim
