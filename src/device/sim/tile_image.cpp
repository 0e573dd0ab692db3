#include "device/sim/tile_image.h"

#include <algorithm>
#include <bit>

#include "model/quantize.h"

namespace opwright::sim {

namespace {

constexpr std::int64_t kFace = 16;
constexpr std::int64_t kExponentAlignment = 16;

// The tile's elements in memory order: calls f(position in memory, position in the row-major tile).
template <class F>
void for_each_position(TileShape tile, F f) {
  const std::int64_t face_height = std::min(tile.height, kFace);
  const std::int64_t face_width = std::min(tile.width, kFace);
  std::size_t position = 0;
  for (std::int64_t top = 0; top < tile.height; top += face_height) {
    for (std::int64_t left = 0; left < tile.width; left += face_width) {
      for (std::int64_t row = top; row < top + face_height; ++row) {
        for (std::int64_t column = left; column < left + face_width; ++column) {
          f(position++, static_cast<std::size_t>(row * tile.width + column));
        }
      }
    }
  }
}

void put(std::vector<std::byte>& bytes, std::size_t position, std::uint32_t word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[position * size + i] = static_cast<std::byte>(word >> (8 * i));
}

std::uint32_t get(std::span<const std::byte> bytes, std::size_t position, std::size_t size) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < size; ++i) word |= std::to_integer<std::uint32_t>(bytes[position * size + i]) << (8 * i);
  return word;
}

std::size_t exponent_bytes(TileShape tile) {
  const std::int64_t groups = tile.height * div_up(tile.width, kFace);
  return static_cast<std::size_t>(round_up(groups, kExponentAlignment));
}

std::uint32_t float_word(float value, DType dtype) {
  return dtype == DType::kFloat32 ? std::bit_cast<std::uint32_t>(value) : bfloat16_bits(value);
}

std::int64_t integer_of(std::uint32_t word, DType dtype) {
  return dtype == DType::kInt32 ? static_cast<std::int32_t>(word) : static_cast<std::int64_t>(word);
}

BlockFloatGroup encode_as_packer(std::span<const float> values, DType dtype) {
  BlockFloatGroup group;
  std::uint32_t shared = 0;
  for (float value : values) shared = std::max(shared, std::bit_cast<std::uint32_t>(value) >> 23 & 0xFF);
  group.exponent = static_cast<std::uint8_t>(shared);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const std::uint32_t exponent = bits >> 23 & 0xFF;
    const std::uint32_t distance = shared - exponent;
    if (exponent == 0 || distance > 7) continue;
    const std::uint32_t significand = (bits >> 17 & 0x3F) | 0x40;
    std::uint32_t magnitude = significand >> distance;
    if (distance > 0) magnitude += significand >> (distance - 1) & 1;
    const int bits_kept = magnitude_bits(dtype);
    magnitude >>= 7 - bits_kept;
    const std::uint32_t sign = magnitude == 0 ? 0 : bits >> 31;
    group.data[i] = static_cast<std::uint8_t>(sign << bits_kept | magnitude);
  }
  return group;
}

}  // namespace

std::vector<std::byte> tile_image(std::span<const float> values, DType dtype, TileShape tile, Encoder encoder) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tile_bytes(dtype, tile)));
  if (!is_block_float(dtype)) {
    const auto size = static_cast<std::size_t>(element_bytes(dtype));
    for_each_position(tile,
                      [&](std::size_t to, std::size_t from) { put(bytes, to, float_word(values[from], dtype), size); });
    return bytes;
  }
  std::vector<float> ordered(values.size());
  for_each_position(tile, [&](std::size_t to, std::size_t from) { ordered[to] = values[from]; });
  const auto width = static_cast<std::size_t>(std::min(tile.width, kFace));
  const std::size_t header = exponent_bytes(tile);
  for (std::size_t group = 0; group * width < ordered.size(); ++group) {
    const std::span<const float> row{ordered.data() + group * width, width};
    const BlockFloatGroup encoded =
        encoder == Encoder::kHost ? encode_block_float(row, dtype) : encode_as_packer(row, dtype);
    bytes[group] = static_cast<std::byte>(encoded.exponent);
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t position = group * width + i;
      if (dtype == DType::kBfloat8B) {
        bytes[header + position] = static_cast<std::byte>(encoded.data[i]);
      } else {
        bytes[header + position / 2] |= static_cast<std::byte>(encoded.data[i] << (position % 2 * 4));
      }
    }
  }
  return bytes;
}

std::vector<std::byte> tile_image(std::span<const std::int64_t> values, DType dtype, TileShape tile) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tile_bytes(dtype, tile)));
  const auto size = static_cast<std::size_t>(element_bytes(dtype));
  for_each_position(
      tile, [&](std::size_t to, std::size_t from) { put(bytes, to, static_cast<std::uint32_t>(values[from]), size); });
  return bytes;
}

void read_tile_image(std::span<const std::byte> bytes, DType dtype, TileShape tile, std::span<float> values) {
  if (!is_block_float(dtype)) {
    const auto size = static_cast<std::size_t>(element_bytes(dtype));
    for_each_position(tile, [&](std::size_t from, std::size_t to) {
      const std::uint32_t word = get(bytes, from, size);
      values[to] =
          dtype == DType::kFloat32 ? std::bit_cast<float>(word) : from_bfloat16_bits(static_cast<std::uint16_t>(word));
    });
    return;
  }
  const auto width = static_cast<std::size_t>(std::min(tile.width, kFace));
  const std::size_t header = exponent_bytes(tile);
  std::vector<float> ordered(values.size());
  for (std::size_t group = 0; group * width < ordered.size(); ++group) {
    BlockFloatGroup encoded;
    encoded.exponent = std::to_integer<std::uint8_t>(bytes[group]);
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t position = group * width + i;
      const auto byte =
          std::to_integer<std::uint32_t>(bytes[header + (dtype == DType::kBfloat8B ? position : position / 2)]);
      encoded.data[i] = static_cast<std::uint8_t>(dtype == DType::kBfloat8B ? byte : byte >> (position % 2 * 4) & 0xF);
    }
    decode_block_float(encoded, dtype, {ordered.data() + group * width, width});
  }
  for_each_position(tile, [&](std::size_t from, std::size_t to) { values[to] = ordered[from]; });
}

void read_tile_image(std::span<const std::byte> bytes, DType dtype, TileShape tile, std::span<std::int64_t> values) {
  const auto size = static_cast<std::size_t>(element_bytes(dtype));
  for_each_position(tile,
                    [&](std::size_t from, std::size_t to) { values[to] = integer_of(get(bytes, from, size), dtype); });
}

namespace {

struct Matrices {
  std::int64_t count = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
Matrices matrices_of(const Shape& shape) {
  Matrices matrices;
  if (!shape.empty()) matrices.columns = shape.back();
  if (shape.size() > 1) matrices.rows = shape[shape.size() - 2];
  const std::int64_t area = matrices.rows * matrices.columns;
  matrices.count = area == 0 ? 0 : volume(shape) / area;
  return matrices;
}

// Calls f(tile number, matrix, top row, left column) in memory order.
template <class F>
void for_each_tile(const Matrices& matrices, TileShape tile, F f) {
  std::size_t number = 0;
  for (std::int64_t matrix = 0; matrix < matrices.count; ++matrix) {
    for (std::int64_t top = 0; top < matrices.rows; top += tile.height) {
      for (std::int64_t left = 0; left < matrices.columns; left += tile.width) f(number++, matrix, top, left);
    }
  }
}

// Copies between a tile and its place in the tensor; what lies outside the tensor is left alone.
template <class F>
void for_each_inside(const Matrices& matrices, TileShape tile, std::int64_t matrix, std::int64_t top, std::int64_t left,
                     F f) {
  for (std::int64_t row = 0; row < std::min(tile.height, matrices.rows - top); ++row) {
    for (std::int64_t column = 0; column < std::min(tile.width, matrices.columns - left); ++column) {
      f(static_cast<std::size_t>(row * tile.width + column),
        static_cast<std::size_t>((matrix * matrices.rows + top + row) * matrices.columns + left + column));
    }
  }
}

}  // namespace

std::vector<std::byte> tensor_image(const HostTensor& tensor, Encoder encoder) {
  const DType dtype = tensor.spec.dtype.value;
  std::vector<std::byte> image;
  if (tensor.spec.layout.value != Layout::kTile) {
    const auto size = static_cast<std::size_t>(element_bytes(dtype));
    const auto count = static_cast<std::size_t>(tensor.size());
    image.resize(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t word = tensor.integer()            ? static_cast<std::uint32_t>(tensor.ints[i])
                                 : dtype == DType::kBfloat16 ? bfloat16_bits(tensor.floats[i])
                                                             : std::bit_cast<std::uint32_t>(tensor.floats[i]);
      put(image, i, word, size);
    }
    return image;
  }
  const TileShape tile = tile_of(tensor.spec);
  const Matrices matrices = matrices_of(tensor.spec.shape);
  const auto area = static_cast<std::size_t>(tile.height * tile.width);
  for_each_tile(matrices, tile, [&](std::size_t, std::int64_t matrix, std::int64_t top, std::int64_t left) {
    std::vector<std::byte> bytes;
    if (tensor.integer()) {
      std::vector<std::int64_t> values(area);
      for_each_inside(matrices, tile, matrix, top, left,
                      [&](std::size_t in_tile, std::size_t in_tensor) { values[in_tile] = tensor.ints[in_tensor]; });
      bytes = tile_image(values, dtype, tile);
    } else {
      std::vector<float> values(area);
      for_each_inside(matrices, tile, matrix, top, left,
                      [&](std::size_t in_tile, std::size_t in_tensor) { values[in_tile] = tensor.floats[in_tensor]; });
      bytes = tile_image(values, dtype, tile, encoder);
    }
    image.insert(image.end(), bytes.begin(), bytes.end());
  });
  return image;
}

void read_tensor_image(std::span<const std::byte> bytes, HostTensor& tensor) {
  const DType dtype = tensor.spec.dtype.value;
  const auto count = static_cast<std::size_t>(tensor.size());
  if (tensor.integer()) {
    tensor.ints.assign(count, 0);
  } else {
    tensor.floats.assign(count, 0.0F);
  }
  if (tensor.spec.layout.value != Layout::kTile) {
    const auto size = static_cast<std::size_t>(element_bytes(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t word = get(bytes, i, size);
      if (tensor.integer()) {
        tensor.ints[i] = integer_of(word, dtype);
      } else {
        tensor.floats[i] = dtype == DType::kBfloat16 ? from_bfloat16_bits(static_cast<std::uint16_t>(word))
                                                     : std::bit_cast<float>(word);
      }
    }
    return;
  }
  const TileShape tile = tile_of(tensor.spec);
  const Matrices matrices = matrices_of(tensor.spec.shape);
  const auto area = static_cast<std::size_t>(tile.height * tile.width);
  const auto size = static_cast<std::size_t>(tile_bytes(dtype, tile));
  for_each_tile(matrices, tile, [&](std::size_t number, std::int64_t matrix, std::int64_t top, std::int64_t left) {
    const std::span<const std::byte> part = bytes.subspan(number * size, size);
    if (tensor.integer()) {
      std::vector<std::int64_t> values(area);
      read_tile_image(part, dtype, tile, values);
      for_each_inside(matrices, tile, matrix, top, left,
                      [&](std::size_t in_tile, std::size_t in_tensor) { tensor.ints[in_tensor] = values[in_tile]; });
    } else {
      std::vector<float> values(area);
      read_tile_image(part, dtype, tile, values);
      for_each_inside(matrices, tile, matrix, top, left,
                      [&](std::size_t in_tile, std::size_t in_tensor) { tensor.floats[in_tensor] = values[in_tile]; });
    }
  });
}

}  // namespace opwright::sim
