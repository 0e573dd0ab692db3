#include "device/sim/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/gemm_kernel.h"
#include "model/host_tensor.h"

namespace opwright::sim {

namespace {

using engine::kTile;

// A task's share of the output and of k: sized so that both packed operands and the destination stay in a core's cache.
constexpr std::int64_t kTaskRows = 256;
constexpr std::int64_t kTaskColumns = 512;
constexpr std::int64_t kTaskTiles = 2;
constexpr std::int64_t kSmallestTask = 64;  // rows or columns, where there would be too few tasks for all threads

constexpr std::int64_t kQuad = 4;
constexpr float kTieBreak = 1.0F + 0x1p-18F;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Packed strips, each `width` rows (in0) or columns (in1) wide and `depth` of k deep.
struct Packed {
  std::vector<float> high;
  std::vector<float> low;
  std::vector<std::int8_t> exponents;
  std::vector<int> largest;
  std::vector<std::int8_t> copies;  // in0: each exponent four times
  std::int64_t width = 0;
  std::int64_t depth = 0;

  void resize(std::int64_t strips, std::int64_t strip_width, std::int64_t strip_depth, bool with_low) {
    width = strip_width;
    depth = strip_depth;
    const auto size = static_cast<std::size_t>(strips * width * depth);
    high.resize(size);
    low.resize(with_low ? size : 0);
    exponents.resize(size);
    largest.assign(static_cast<std::size_t>(strips), 0);
  }
  // Takes a strip apart. Its values lie in `high`, or at `from` in rows `stride` apart.
  void split(std::int64_t index, const engine::Kernel& kernel, const float* from, std::int64_t stride,
             std::uint32_t bits, std::uint32_t high_bits, float scale) {
    const std::int64_t start = index * width * depth;
    engine::Split job{from,
                      stride,
                      width,
                      depth,
                      high.data() + start,
                      low.empty() ? nullptr : low.data() + start,
                      exponents.data() + start,
                      &largest[static_cast<std::size_t>(index)],
                      bits,
                      high_bits,
                      scale};
    if (from == nullptr) {
      job.from = job.high;
      job.width = width * depth;
      job.rows = 1;
    }
    kernel.split(job);
  }
  void copy_exponents() {
    copies.resize(exponents.size() * engine::kIn0Copies);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      std::memset(copies.data() + i * engine::kIn0Copies, exponents[i], engine::kIn0Copies);
    }
  }
  engine::Strip strip(std::int64_t index) const {
    const std::int64_t start = index * width * depth;
    return {high.data() + start, low.empty() ? nullptr : low.data() + start,
            copies.empty() ? exponents.data() + start : copies.data() + start * engine::kIn0Copies,
            largest[static_cast<std::size_t>(index)]};
  }
};

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size() const { return last - first; }
};

// An operand: element (k, across) is at base[k * k_step + across * across_step].
struct Source {
  const float* base = nullptr;
  std::int64_t k_step = 0;
  std::int64_t across_step = 0;
};

// Puts a strip's values, zeros beyond the operand's ends, into their places.
void gather_strip(const Source& source, Range across, Range k, Packed& packed, std::int64_t strip) {
  float* to = packed.high.data() + strip * packed.width * packed.depth;
  const std::int64_t count = across.size();
  if (count < packed.width || k.size() < packed.depth) std::fill(to, to + packed.width * packed.depth, 0.0F);
  const float* from = source.base + k.first * source.k_step + across.first * source.across_step;
  if (source.across_step == 1) {
    for (std::int64_t l = 0; l < k.size(); ++l) {
      std::memcpy(to + l * packed.width, from + l * source.k_step, static_cast<std::size_t>(count) * sizeof(float));
    }
  } else if (count == kQuad && packed.width == kQuad) {  // rows of in0: four at a time
    for (std::int64_t l = 0; l < k.size(); ++l) {
      for (std::int64_t i = 0; i < kQuad; ++i) {
        to[l * kQuad + i] = from[l * source.k_step + i * source.across_step];
      }
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t l = 0; l < k.size(); ++l) {
        to[l * packed.width + i] = from[l * source.k_step + i * source.across_step];
      }
    }
  }
}

DType intermediate_dtype(const Gemm& job, bool l1_acc) {
  if (job.config.fp32_acc) return DType::kFloat32;
  return l1_acc ? DType::kBfloat16 : job.out_dtype;
}

// A thread's buffers, kept from task to task.
struct Scratch {
  Packed in0;
  Packed in1;
  std::vector<float> dst;
  std::vector<float> partial;
};
Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

// The share of one task: its piece of the output through all of k.
class Task {
 public:
  Task(const Gemm& job, const engine::Kernel& kernel, Range rows, Range columns)
      : job_(job),
        kernel_(kernel),
        rows_(rows),
        columns_(columns),
        row_strips_(ceil_div(rows.size(), kernel.rows)),
        column_strips_(ceil_div(columns.size(), kernel.columns)),
        tiles_(ceil_div(job.k, kTile)),
        block_(job.in0_block_w > 0 ? job.in0_block_w : default_block_w(tiles_)),
        blocks_(ceil_div(tiles_, block_)),
        l1_acc_(job.config.l1_acc && blocks_ > (job.bias != nullptr ? 1 : 2)) {
    dst_.assign(static_cast<std::size_t>(row_strips_ * column_strips_ * kernel_.rows * kernel_.columns), 0.0F);
    if (l1_acc_) partial_.resize(dst_.size());
  }

  void run() {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      begin_block(block);
      const std::int64_t end = std::min((block + 1) * block_, tiles_);
      for (std::int64_t tile = block * block_; tile < end; tile += kTaskTiles) {
        multiply(tile, std::min(kTaskTiles, end - tile), block, tile + kTaskTiles >= end);
      }
      end_block(block);
    }
    write();
  }

 private:
  bool last(std::int64_t block) const { return block == blocks_ - 1; }

  // What the destination holds when a block of k begins: nothing, or the partial sum read back as it was written.
  void begin_block(std::int64_t block) {
    if (block > 0 && l1_acc_ && last(block) && job_.bias == nullptr) std::swap(dst_, partial_);
  }

  // Whether a block's sums are added to those in memory when it ends.
  bool folds(std::int64_t block) const { return l1_acc_ && (!last(block) || job_.bias != nullptr); }

  void end_block(std::int64_t block) {
    if (folds(block)) {
      if (last(block)) std::swap(dst_, partial_);
    } else if (!last(block) || job_.bias != nullptr) {
      const DType dtype = intermediate_dtype(job_, l1_acc_);
      // The other formats hold what the destination holds.
      if (is_block_float(dtype)) pack(dst_, kernel_.columns, dtype, dst_of(job_.config.fp32_acc));
    }
  }

  void multiply(std::int64_t tile, std::int64_t count, std::int64_t block, bool ends) {
    const Range k{tile * kTile, std::min(job_.k, (tile + count) * kTile)};
    const int phases = engine::phases_of(job_.config.fidelity);
    in0_.resize(row_strips_, kernel_.rows, count * kTile, phases > 2);
    in1_.resize(column_strips_, kernel_.columns, count * kTile, phases > 1);
    split_in0(k);
    for (std::int64_t j = 0; j < column_strips_; ++j) {
      split_in1(k, j);
      const std::int64_t columns = std::min(kernel_.columns, columns_.size() - j * kernel_.columns);
      for (std::int64_t i = 0; i < row_strips_; ++i) {
        const engine::Block job{in0_.strip(i), in1_.strip(j),        count,         columns,
                                phases,        job_.config.fp32_acc, at(dst_, i, j)};
        if (job.in0.largest + job.in1.largest - 127 <= engine::kLargestExponent) {
          kernel_.run(job);
        } else {
          run_slowly(i, j, tile, count);
        }
        if (ends && folds(block)) fold(i, j, block);
      }
    }
  }

  void split_in0(Range k) {
    const Source source{job_.a, job_.transpose_a ? job_.lda : 1, job_.transpose_a ? 1 : job_.lda};
    for (std::int64_t i = 0; i < row_strips_; ++i) {
      const std::int64_t row = rows_.first + i * kernel_.rows;
      gather_strip(source, {row, std::min(row + kernel_.rows, rows_.last)}, k, in0_, i);
      in0_.split(i, kernel_, nullptr, 0, engine::kIn0Bits, engine::kIn0High, 1.0F);
    }
    in0_.copy_exponents();
  }

  void split_in1(Range k, std::int64_t j) {
    const Source source{job_.b, job_.transpose_b ? 1 : job_.ldb, job_.transpose_b ? job_.ldb : 1};
    const std::int64_t column = columns_.first + j * kernel_.columns;
    const Range across{column, std::min(column + kernel_.columns, columns_.last)};
    const float* in_place = nullptr;
    if (source.across_step == 1 && across.size() == in1_.width && k.size() == in1_.depth) {
      in_place = source.base + k.first * source.k_step + column;
    } else {
      gather_strip(source, across, k, in1_, j);
    }
    in1_.split(j, kernel_, in_place, source.k_step, engine::kIn1Bits, engine::kIn1High, kTieBreak);
  }

  void fold(std::int64_t i, std::int64_t j, std::int64_t block) {
    float* sums = at(dst_, i, j);
    float* partial = at(partial_, i, j);
    const std::int64_t size = kernel_.rows * kernel_.columns;
    if (block == 0) {
      std::copy_n(sums, size, partial);
      std::fill_n(sums, size, 0.0F);
    } else if (job_.config.fp32_acc) {
      for (std::int64_t l = 0; l < size; ++l) partial[l] += sums[l];
      std::fill_n(sums, size, 0.0F);
    } else {
      kernel_.accumulate(partial, sums, size);
    }
  }

  void run_slowly(std::int64_t i, std::int64_t j, std::int64_t tile, std::int64_t count) {
    const std::int64_t row = rows_.first + i * kernel_.rows;
    const std::int64_t column = columns_.first + j * kernel_.columns;
    engine::run_exact(job_, row, std::min(kernel_.rows, rows_.last - row), column,
                      std::min(kernel_.columns, columns_.last - column), tile * kTile, count, at(dst_, i, j),
                      kernel_.columns);
  }

  // The piece of a buffer that belongs to a strip of rows and one of columns.
  float* at(std::vector<float>& buffer, std::int64_t i, std::int64_t j) const {
    return buffer.data() + (i * column_strips_ + j) * kernel_.rows * kernel_.columns;
  }

  void write() {
    const Dst kind = dst_of(job_.config.fp32_acc);
    for (std::int64_t row = rows_.first; row < rows_.last; ++row) {
      for (std::int64_t j = 0; j < column_strips_; ++j) {
        const std::int64_t column = columns_.first + j * kernel_.columns;
        const auto count = static_cast<std::size_t>(std::min(kernel_.columns, columns_.last - column));
        const std::int64_t inside = row - rows_.first;
        float* from = at(dst_, inside / kernel_.rows, j) + inside % kernel_.rows * kernel_.columns;
        const std::span<float> to{job_.c + row * job_.ldc + column, count};
        if (job_.bias != nullptr) {
          binary(Binary::kAdd, Engine::kMatrix, kind, {from, count}, {job_.bias + column, count}, to);
        } else {
          std::copy_n(from, count, to.begin());
        }
      }
    }
  }

  const Gemm& job_;
  const engine::Kernel& kernel_;
  Range rows_;
  Range columns_;
  std::int64_t row_strips_;
  std::int64_t column_strips_;
  std::int64_t tiles_;
  std::int64_t block_;
  std::int64_t blocks_;
  bool l1_acc_;
  Packed& in0_ = scratch().in0;
  Packed& in1_ = scratch().in1;
  std::vector<float>& dst_ = scratch().dst;
  std::vector<float>& partial_ = scratch().partial;
};

}  // namespace

std::int64_t default_block_w(std::int64_t k_tiles) { return k_tiles % 2 == 0 ? 2 : 1; }

void gemm(const Gemm& job) { engine::gemm_with(job, engine::best_kernel()); }

void engine::gemm_with(const Gemm& job, const Kernel& kernel) {
  if (job.m <= 0 || job.n <= 0) return;
  std::int64_t rows = std::min(kTaskRows, job.m);
  std::int64_t columns = std::min(kTaskColumns, job.n);
  const auto tasks = [&] { return ceil_div(job.m, rows) * ceil_div(job.n, columns); };
  while (tasks() < 2 * threads() && std::max(rows, columns) > kSmallestTask) {
    std::int64_t& larger = rows > columns ? rows : columns;
    larger = std::max(kSmallestTask, ceil_div(larger / 2, kSmallestTask) * kSmallestTask);
  }
  const std::int64_t across = ceil_div(job.n, columns);
  parallel_for(0, tasks(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t task = first; task < last; ++task) {
      const std::int64_t row = task / across * rows;
      const std::int64_t column = task % across * columns;
      Task(job, kernel, {row, std::min(row + rows, job.m)}, {column, std::min(column + columns, job.n)}).run();
    }
  });
}

}  // namespace opwright::sim
