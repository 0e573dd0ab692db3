// The bytes of a tensor in device memory, tile by tile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"

namespace opwright::sim {

// Who encodes values that no block float holds yet: the host (ties to even), or a packer as the device's documentation
// describes it (6 fraction bits are kept, then ties away from zero). Results of the simulated device are rounded
// already (pack.h), and come out the same from both.
enum class Encoder : std::uint8_t { kHost, kPacker };

// One tile: `values` row by row, height x width. Faces of 16 x 16 (or the tile, where it is smaller) one after the
// other; block floats have all shared exponents first, padded to 16 bytes.
std::vector<std::byte> tile_image(std::span<const float> values, DType dtype, TileShape tile = {},
                                  Encoder encoder = Encoder::kHost);
std::vector<std::byte> tile_image(std::span<const std::int64_t> values, DType dtype, TileShape tile = {});
void read_tile_image(std::span<const std::byte> bytes, DType dtype, TileShape tile, std::span<float> values);
void read_tile_image(std::span<const std::byte> bytes, DType dtype, TileShape tile, std::span<std::int64_t> values);

// The whole tensor: tiles row by row for each matrix of the last two dimensions (TILE, padding is zero), or the
// elements in order (ROW_MAJOR).
std::vector<std::byte> tensor_image(const HostTensor& tensor, Encoder encoder = Encoder::kHost);
void read_tensor_image(std::span<const std::byte> bytes, HostTensor& tensor);

}  // namespace opwright::sim
