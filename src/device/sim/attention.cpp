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

inline float fast_exp(float x, float slope, bool wide) {
  const float y = x * slope + kExpBias;
  const float bounded = y > 0.0F ? std::min(y, 65535.0F) : 0.0F;
  const auto bits = static_cast<std::uint32_t>(bounded + 0.5F);
  return wide ? to_bf16(std::bit_cast<float>(bits << 15)) : std::bit_cast<float>((bits >> 1) << 16);
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
    float* const row = scores_.data() + r * count;
    const float* const hidden = bias == nullptr ? nullptr : bias + r * count;
    float most = largest[static_cast<std::size_t>(r)];
    for (std::int64_t i = 0; i < count; ++i) {
      row[i] = to_bf16(row[i]);
      if (hidden != nullptr) row[i] = hidden[i] == 0.0F ? row[i] : to_bf16(row[i] + hidden[i]);
      most = std::max(most, row[i]);
    }
    largest[static_cast<std::size_t>(r)] = most;
  }
  if (begun_) {
    rescale(largest);
  } else {
    sums_.assign(rows * kTile, 0.0F);
    result_.assign(rows * static_cast<std::size_t>(flash_.value_dim), 0.0F);
  }
  largest_ = largest;
  const float slope = kExpSlope * flash_.scale;
  std::vector<float> sums(kTile);
  for (std::int64_t r = 0; r < rows_; ++r) {
    float* const row = scores_.data() + r * count;
    const float most = largest[static_cast<std::size_t>(r)];
    // A row that has seen no key yet keeps no weight; its difference would be no number.
    if (most == kHidden) {
      std::fill(row, row + count, 0.0F);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const float below = row[i] - most;
      row[i] = fast_exp(wide ? below : to_bf16(below), slope, wide);
    }
    // The weights of a tile's columns are added up in memory, tile after tile.
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::int64_t i = 0; i < count; ++i) {
      float& sum = sums[static_cast<std::size_t>(i % kTile)];
      sum = to_bf16(sum + row[i]);
    }
    float* const kept = sums_.data() + r * kTile;
    for (std::int64_t i = 0; i < kTile; ++i) kept[i] = to_bf16(kept[i] + sums[static_cast<std::size_t>(i)]);
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
    sum = to_bf16(sum + fast_exp(to_bf16(sinks[r] - largest[r]), slope, flash_.compute.fp32_acc));
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
