#include "device/sim/softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kGrain = 16;   // rows a thread takes at a time
constexpr std::int64_t kLanes = 256;  // columns that a softmax down other dimensions works on together
// Of a long row the kernel holds 80 tiles at a time: each such block is summed for itself, and its sum added to those
// of the blocks before. A 16-bit destination that takes in a whole long row tile by tile stands still at some size.
constexpr std::size_t kBlock = std::size_t{80} * 32;

// The exponent field of the result comes out of one multiply and add: off by up to 3 %, a saw-tooth.
float approximate_exp(float value) {
  constexpr float kScale = 369.329925537109375F;  // 2^8 / ln 2
  constexpr float kOffset = 32500.818359375F;     // 127 x 2^8, less what centres the error
  constexpr float kLowest = -88.5F;
  constexpr float kInteger = 8388608.0F;  // 2^23: adding it rounds to an integer
  const float field = std::min(std::max(value, kLowest) * kScale + kOffset, 65535.0F);
  const std::uint32_t rounded = std::bit_cast<std::uint32_t>(std::max(field, 0.0F) + kInteger) & 0xFFFFU;
  return std::bit_cast<float>(rounded << 15);
}

struct MaskRows {
  const HostTensor* mask = nullptr;
  bool flat = false;        // row major: the whole tensor of a batch entry is one row
  bool each_row = false;    // causal: a row of its own for every row; else the first row serves all
  std::int64_t batch = 1;   // of the mask
  std::int64_t height = 1;  // logical rows of one batch entry
  std::int64_t width = 1;

  // The mask of row `r` out of `rows_per_batch` rows of each batch entry of the input; `heights` of one matrix.
  std::span<const float> row(std::int64_t r, std::int64_t rows_per_batch, std::int64_t input_height,
                             std::int64_t columns) const {
    const std::int64_t entry = r / std::max<std::int64_t>(rows_per_batch, 1) % std::max<std::int64_t>(batch, 1);
    const std::int64_t line =
        each_row ? r % std::max<std::int64_t>(input_height, 1) % std::max<std::int64_t>(height, 1) : 0;
    const std::int64_t length = flat ? height * width : width;
    const std::int64_t start = entry * height * width + (flat ? 0 : line * width);
    return {mask->floats.data() + start, static_cast<std::size_t>(std::min(columns, length))};
  }
};

Checked<MaskRows> mask_rows(const KernelJob& job) {
  MaskRows out;
  out.mask = job.input("mask");
  if (out.mask == nullptr) return out;
  OPWRIGHT_CHECK_ASSIGN(out.each_row, job.call.flag("is_causal_mask", false));
  const Shape& shape = out.mask->spec.shape;
  out.flat = out.mask->spec.layout.value == Layout::kRowMajor;
  out.width = row_length(shape);
  out.height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  out.batch = shape.size() < 4 ? 1 : shape[0];
  return out;
}

}  // namespace

SoftmaxMode softmax_mode(const BoundCall& call, DType input, bool stable, const Board& board) {
  const bool wide = input == DType::kFloat32;
  const ComputeConfig defaults{
      .fidelity = wide && board.wormhole() ? Fidelity::kHiFi3 : Fidelity::kHiFi4, .approx = true, .fp32_acc = wide};
  const ComputeConfig config = compute_argument(call, defaults).value_or(defaults);
  return {engine_mode(config), config.approx, stable};
}

void softmax_exp(std::span<float> values, const SoftmaxMode& mode) {
  const Dst dst = mode.engine.dst;
  if (mode.approx) {
    for (float& value : values) value = truncate_to_dst(approximate_exp(value), dst);
  } else {
    for (float& value : values) value = round_to_dst(std::exp(value), dst);
  }
}

float softmax_reciprocal(float value, const SoftmaxMode& mode) {
  const Dst dst = mode.engine.dst;
  if (mode.approx && dst == Dst::kBf16 && std::isnormal(value))
    return truncate_to_dst(approximate_reciprocal(value), dst);
  return round_to_dst(1.0F / value, dst);
}

namespace {

float sum_in_blocks(std::span<const float> row, EngineMode mode) {
  float sum = fpu_row_sum(row.first(std::min(kBlock, row.size())), 1.0F, mode);
  for (std::size_t at = kBlock; at < row.size(); at += kBlock) {
    const float block = fpu_row_sum(row.subspan(at, std::min(kBlock, row.size() - at)), 1.0F, mode);
    sum = fpu_add(engine::source(sum), engine::source(block), mode.dst);
  }
  return sum;
}

}  // namespace

void softmax_row(std::span<float> row, float scale, std::span<const float> mask, const SoftmaxMode& mode) {
  const Dst dst = mode.engine.dst;
  for (float& value : row) value = engine::source(value);
  if (!mask.empty()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const float added = i < mask.size() ? engine::source(mask[i]) : 0.0F;
      row[i] = fpu_add(engine::source(fpu_mul(row[i], scale, mode.engine)), added, dst);
    }
  }
  if (mode.stable && !row.empty()) {
    const float largest = -engine::source(*std::ranges::max_element(row));
    for (float& value : row) value = fpu_add(engine::source(value), largest, dst);
  }
  softmax_exp(row, mode);
  const float factor = engine::source(softmax_reciprocal(sum_in_blocks(row, mode.engine), mode));
  for (float& value : row) value = fpu_mul(engine::source(value), factor, mode.engine);
}

namespace {

void softmax_last(const KernelJob& job, const MaskRows& mask, float scale, const SoftmaxMode& mode, HostTensor& out) {
  const Shape& shape = out.spec.shape;
  const std::int64_t width = row_length(shape);
  const std::int64_t rows = width == 0 ? 0 : out.size() / width;
  const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const std::int64_t batch = shape.size() < 4 ? 1 : shape[0];
  const std::int64_t rows_per_batch = batch == 0 ? 1 : rows / batch;
  out.floats = job.input("input_tensor")->floats;
  parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const std::span<float> row(out.floats.data() + r * width, static_cast<std::size_t>(width));
      const auto added = mask.mask == nullptr ? std::span<const float>() : mask.row(r, rows_per_batch, height, width);
      softmax_row(row, scale, added, mode);
      pack(row, width, out.spec.dtype.value, mode.engine.dst);
    }
  });
}

// Along another dimension: columns of one position in all other dimensions, a strip at a time.
void softmax_down(const KernelJob& job, std::size_t dim, const SoftmaxMode& mode, HostTensor& out) {
  const Shape& shape = out.spec.shape;
  std::int64_t inner = 1;
  for (std::size_t i = dim + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t count = shape[dim];
  const std::int64_t outer = inner == 0 || count == 0 ? 0 : out.size() / (inner * count);
  const std::int64_t strips = (inner + kLanes - 1) / kLanes;
  out.floats = job.input("input_tensor")->floats;
  const Dst dst = mode.engine.dst;
  parallel_for(0, outer * strips, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> sums(static_cast<std::size_t>(kLanes));
    for (std::int64_t job_index = first; job_index < last; ++job_index) {
      const std::int64_t column = job_index % strips * kLanes;
      const std::int64_t width = std::min(kLanes, inner - column);
      float* base = out.floats.data() + job_index / strips * count * inner + column;
      for (std::int64_t i = 0; i < width; ++i) {
        float largest = engine::source(base[i]);
        for (std::int64_t k = 1; k < count; ++k) largest = std::max(largest, engine::source(base[k * inner + i]));
        for (std::int64_t k = 0; k < count; ++k) {
          float& value = base[k * inner + i];
          value = fpu_add(engine::source(value), -largest, dst);
        }
      }
      for (std::int64_t k = 0; k < count; ++k) softmax_exp({base + k * inner, static_cast<std::size_t>(width)}, mode);
      const std::span<float> strip(sums.data(), static_cast<std::size_t>(width));
      fpu_column_sums(base, count, inner, 1.0F, mode.engine, strip);
      for (float& sum : strip) sum = engine::source(softmax_reciprocal(sum, mode));
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < width; ++i) {
          float& value = base[k * inner + i];
          value = fpu_mul(engine::source(value), strip[static_cast<std::size_t>(i)], mode.engine);
        }
    }
  });
  pack(out.floats, row_length(shape), out.spec.dtype.value, dst);
}

}  // namespace

Checked<std::vector<HostTensor>> run_softmax(const KernelJob& job, std::size_t dim, const SoftmaxMode& mode) {
  HostTensor out{job.outputs[0].spec, {}, {}};
  const std::size_t rank = out.spec.shape.size();
  if (rank == 0 || dim + 1 == rank) {
    OPWRIGHT_CHECK_ASSIGN(const MaskRows mask, mask_rows(job));
    OPWRIGHT_CHECK_ASSIGN(const double size, job.call.number("head_size", 1.0));  // attention divides by its root
    OPWRIGHT_CHECK_ASSIGN(const double scale, job.call.number("scale", std::pow(size, -0.5)));
    softmax_last(job, mask, round_to_dst(static_cast<float>(scale), Dst::kBf16), mode, out);
  } else {
    softmax_down(job, dim, mode, out);
  }
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
