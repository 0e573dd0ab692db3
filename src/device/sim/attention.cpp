#include "device/sim/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "device/sim/gemm.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

// The vector unit's fast exp builds the float's exponent and fraction in one multiply-add: e^x ~ bits(x A + B) << 15.
constexpr float kExpSlope = 369.329925537109375F;
constexpr float kExpBias = 32500.818359375F;

// What the matrix engine and the packer do to values on their way to 16 bits: to the nearest, ties away from zero.
inline float to_bf16(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x8000U) & 0xFFFF0000U);
}

// Products at HiFi2 and below drop the last bit of the second factor.
inline float factor(float value, bool all_bits) {
  return all_bits ? value : std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFE0000U);
}

// A 32-bit destination keeps the lowest bit until the packer rounds it; a 16-bit one has no room for it.
template <bool kWide>
inline float fast_exp(float x, float slope) {
  const float y = x * slope + kExpBias;
  const float above = y > 0.0F ? y : 0.0F;
  const float bounded = above < 65535.0F ? above : 65535.0F;
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(bounded + 0.5F));
  if constexpr (kWide) return to_bf16(std::bit_cast<float>(bits << 15));
  return std::bit_cast<float>((bits >> 1) << 16);
}

// Rounds scores to 16 bits, adds what hides keys from the row, and returns the largest.
float settle_scores(float* row, const float* bias, std::int64_t count, float largest) {
  float lanes[kTile];
  std::fill(std::begin(lanes), std::end(lanes), largest);
  for (std::int64_t i = 0; i < count; i += kTile) {
    const std::int64_t width = std::min(kTile, count - i);
    float* const tile = row + i;
    for (std::int64_t l = 0; l < width; ++l) tile[l] = to_bf16(tile[l]);
    if (bias != nullptr)
      for (std::int64_t l = 0; l < width; ++l) tile[l] = to_bf16(tile[l] + bias[i + l]);
    for (std::int64_t l = 0; l < width; ++l) lanes[l] = tile[l] > lanes[l] ? tile[l] : lanes[l];
  }
  return *std::max_element(std::begin(lanes), std::end(lanes));
}

// Scores become weights; the weights of a tile's columns are added up in memory, tile after tile.
template <bool kWide>
void weigh(float* row, std::int64_t count, float largest, float slope, float* kept) {
  float sums[kTile] = {};
  for (std::int64_t i = 0; i < count; i += kTile) {
    const std::int64_t width = std::min(kTile, count - i);
    float* const tile = row + i;
    for (std::int64_t l = 0; l < width; ++l) {
      const float below = tile[l] - largest;
      tile[l] = fast_exp<kWide>(kWide ? below : to_bf16(below), slope);
    }
    for (std::int64_t l = 0; l < width; ++l) sums[l] = to_bf16(sums[l] + tile[l]);
  }
  for (std::int64_t l = 0; l < kTile; ++l) kept[l] = to_bf16(kept[l] + sums[l]);
}

}  // namespace

FlashRows::FlashRows(const Flash& flash, const float* queries, std::int64_t rows)
    : flash_(flash), queries_(queries), rows_(rows) {}

void FlashRows::rescale(const std::vector<float>& largest) {
  const bool all_bits = flash_.compute.fidelity > Fidelity::kHiFi2;
  for (std::int64_t r = 0; r < rows_; ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (largest_[at] == largest[at]) continue;
    const float moved = to_bf16(largest_[at] - largest[at]);
    const float by = factor(to_bf16(std::exp(moved * flash_.scale)), all_bits);
    float* const sums = sums_.data() + r * kTile;
    for (std::int64_t i = 0; i < kTile; ++i) sums[i] = to_bf16(sums[i] * by);
    float* const result = result_.data() + r * flash_.value_dim;
    for (std::int64_t i = 0; i < flash_.value_dim; ++i) result[i] = to_bf16(result[i] * by);
  }
}

void FlashRows::add(const float* keys, const float* values, std::int64_t count, const float* bias) {
  const bool wide = flash_.compute.fp32_acc;
  const auto rows = static_cast<std::size_t>(rows_);
  scores_.resize(rows * static_cast<std::size_t>(count));
  product_.resize(rows * static_cast<std::size_t>(flash_.value_dim));
  Gemm scores{.m = rows_,
              .n = count,
              .k = flash_.dim,
              .a = queries_,
              .lda = flash_.dim,
              .b = keys,
              .ldb = flash_.dim,
              .c = scores_.data(),
              .ldc = count,
              .transpose_b = true,
              .config = flash_.compute,
              .a_dtype = flash_.q,
              .b_dtype = flash_.k,
              .out_dtype = DType::kBfloat16,
              .in0_block_w = (flash_.dim + kTile - 1) / kTile};
  scores.config.l1_acc = false;
  gemm(scores);

  std::vector<float> largest(rows, kHidden);
  if (begun_) largest = largest_;
  for (std::int64_t r = 0; r < rows_; ++r) {
    float& most = largest[static_cast<std::size_t>(r)];
    most = settle_scores(scores_.data() + r * count, bias == nullptr ? nullptr : bias + r * count, count, most);
  }
  if (begun_) {
    rescale(largest);
  } else {
    sums_.assign(rows * kTile, 0.0F);
    result_.assign(rows * static_cast<std::size_t>(flash_.value_dim), 0.0F);
  }
  largest_ = largest;
  const float slope = kExpSlope * flash_.scale;
  for (std::int64_t r = 0; r < rows_; ++r) {
    float* const row = scores_.data() + r * count;
    float* const kept = sums_.data() + r * kTile;
    const float most = largest[static_cast<std::size_t>(r)];
    // A row that has seen no key yet keeps no weight; its difference would be no number.
    if (most == kHidden)
      std::fill(row, row + count, 0.0F);
    else if (wide)
      weigh<true>(row, count, most, slope, kept);
    else
      weigh<false>(row, count, most, slope, kept);
  }
  Gemm weighted{.m = rows_,
                .n = flash_.value_dim,
                .k = count,
                .a = scores_.data(),
                .lda = count,
                .b = values,
                .ldb = flash_.value_dim,
                .c = product_.data(),
                .ldc = flash_.value_dim,
                .config = scores.config,
                .a_dtype = DType::kBfloat16,
                .b_dtype = flash_.v,
                .out_dtype = DType::kBfloat16,
                .in0_block_w = (count + kTile - 1) / kTile};
  gemm(weighted);
  for (std::size_t i = 0; i < product_.size(); ++i) result_[i] = to_bf16(result_[i] + to_bf16(product_[i]));
  begun_ = true;
}

void FlashRows::add_sink(const float* sinks) {
  if (!begun_) return;
  std::vector<float> largest = largest_;
  for (std::size_t r = 0; r < largest.size(); ++r) largest[r] = std::max(largest[r], sinks[r]);
  rescale(largest);
  largest_ = largest;
  const float slope = kExpSlope * flash_.scale;
  for (std::size_t r = 0; r < largest.size(); ++r) {
    float& sum = sums_[r * kTile];
    const float below = to_bf16(sinks[r] - largest[r]);
    sum = to_bf16(sum + (flash_.compute.fp32_acc ? fast_exp<true>(below, slope) : fast_exp<false>(below, slope)));
  }
}

void FlashRows::finish(float* out) {
  if (!begun_) {
    std::fill(out, out + rows_ * flash_.value_dim, 0.0F);
    return;
  }
  const bool all_bits = flash_.compute.fidelity > Fidelity::kHiFi2;
  // A product with a column of ones adds up the columns, at the kernel's fidelity.
  std::vector<float> ones(kTile, 1.0F);
  std::vector<float> totals(static_cast<std::size_t>(rows_));
  gemm({.m = rows_,
        .n = 1,
        .k = kTile,
        .a = sums_.data(),
        .lda = kTile,
        .b = ones.data(),
        .ldb = 1,
        .c = totals.data(),
        .ldc = 1,
        .config = {.fidelity = flash_.compute.fidelity, .fp32_acc = flash_.compute.fp32_acc},
        .in0_block_w = 1});
  for (std::int64_t r = 0; r < rows_; ++r) {
    const float total = to_bf16(totals[static_cast<std::size_t>(r)]);
    const float share = total > 0.0F ? factor(to_bf16(1.0F / total), all_bits) : 0.0F;
    for (std::int64_t i = 0; i < flash_.value_dim; ++i)
      out[r * flash_.value_dim + i] = to_bf16(result_[static_cast<std::size_t>(r * flash_.value_dim + i)] * share);
  }
}

std::int64_t KeyBlocks::length() const {
  const std::int64_t positions = keys->spec.shape[2];
  return pages == nullptr ? positions : positions * pages->spec.shape.back();
}

const float* KeyBlocks::rows(const HostTensor& tensor, std::int64_t user, std::int64_t head, std::int64_t begin,
                             std::int64_t count, std::vector<float>& buffer) const {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t block = shape[2];
  const std::int64_t width = shape[3];
  if (pages == nullptr && begin + count <= block)
    return tensor.floats.data() + ((user * shape[1] + head) * block + begin) * width;
  buffer.assign(static_cast<std::size_t>(count * width), 0.0F);
  const std::int64_t columns = pages == nullptr ? 1 : pages->spec.shape.back();
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t position = begin + done;
    const std::int64_t page = position / block;
    const std::int64_t part = std::min(block - position % block, count - done);
    std::int64_t number = pages == nullptr ? user : -1;
    if (pages != nullptr && page < columns) number = pages->ints[static_cast<std::size_t>(user * columns + page)];
    if (pages == nullptr && page > 0) number = -1;
    if (number >= 0 && number < shape[0]) {
      const float* const from = tensor.floats.data() + ((number * shape[1] + head) * block + position % block) * width;
      std::copy(from, from + part * width, buffer.begin() + done * width);
    }
    done += part;
  }
  return buffer.data();
}

}  // namespace opwright::sim
