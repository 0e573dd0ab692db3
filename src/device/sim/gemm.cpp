#include "device/sim/gemm.h"

#include <algorithm>
#include <vector>

#include "base/aligned_vector.h"
#include "base/parallel.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/gemm_kernel.h"
#include "model/host_tensor.h"
#include "model/quantize.h"

namespace opwright::sim {

namespace {

using engine::kTile;

// A task's share of the output and of k: so large that taking operands apart costs little, and so small that both stay
// in a core's cache.
constexpr std::int64_t kTaskRows = 512;
constexpr std::int64_t kTaskColumns = 512;
constexpr std::int64_t kTaskTiles = engine::kBlockTiles;
constexpr std::int64_t kSmallestTask = 64;  // rows or columns, where there would be too few tasks for all threads

constexpr float kTieBreak = 1.0F + 0x1p-18F;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Packed strips, each `width` rows (in0) or columns (in1) wide and `depth` of k deep.
struct Packed {
  AlignedVector<float> high;
  AlignedVector<float> low;
  AlignedVector<std::uint32_t> exponents;
  std::vector<int> largest;
  std::int64_t width = 0;
  std::int64_t depth = 0;
  std::int64_t words = 0;  // of exponents in a strip

  void resize(std::int64_t strips, std::int64_t strip_width, std::int64_t strip_depth, std::int64_t k_words,
              bool with_low) {
    width = strip_width;
    depth = strip_depth;
    words = k_words * depth;
    const auto size = static_cast<std::size_t>(strips * width * depth);
    high.resize(size);
    low.resize(with_low ? size : 0);
    exponents.resize(static_cast<std::size_t>(strips * words));
    largest.resize(static_cast<std::size_t>(strips));
  }
  // Where the parts of a strip go.
  engine::Split split(std::int64_t index) {
    const std::int64_t start = index * width * depth;
    engine::Split job;
    job.high = high.data() + start;
    job.low = low.empty() ? nullptr : low.data() + start;
    job.depth = depth;
    job.exponents = exponents.data() + index * words;
    job.largest = &largest[static_cast<std::size_t>(index)];
    return job;
  }
};

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size() const { return last - first; }
};

// An operand: element (row, column) is at base[row * row_step + column * column_step].
struct Operand {
  const float* base = nullptr;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
};
Operand operand(const float* base, std::int64_t stride, bool transposed) {
  return transposed ? Operand{base, 1, stride} : Operand{base, stride, 1};
}

// A piece of an operand, zeros beyond its ends, as dense rows.
const float* gather(const Operand& operand, Range rows, Range columns, std::int64_t height, std::int64_t width,
                    AlignedVector<float>& to) {
  to.assign(static_cast<std::size_t>(height * width), 0.0F);
  const float* from = operand.base + rows.first * operand.row_step + columns.first * operand.column_step;
  const auto copy = [&](std::int64_t i, std::int64_t j) {
    to[static_cast<std::size_t>(i * width + j)] = from[i * operand.row_step + j * operand.column_step];
  };
  if (operand.row_step == 1) {  // along what lies together
    for (std::int64_t j = 0; j < columns.size(); ++j) {
      for (std::int64_t i = 0; i < rows.size(); ++i) copy(i, j);
    }
  } else {
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      for (std::int64_t j = 0; j < columns.size(); ++j) copy(i, j);
    }
  }
  return to.data();
}

DType intermediate_dtype(const Gemm& job, bool l1_acc) {
  if (job.config.fp32_acc) return DType::kFloat32;
  return l1_acc ? DType::kBfloat16 : job.out_dtype;
}

// A thread's buffers, kept from task to task.
struct Scratch {
  Packed in0;
  Packed in1;
  AlignedVector<float> gathered;
  AlignedVector<float> dst;
  AlignedVector<float> partial;
  std::vector<char> huge;  // of each piece of the destination, by columns
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
    if (l1_acc_) partial_.assign(dst_.size(), 0.0F);
    huge_.assign(static_cast<std::size_t>(row_strips_ * column_strips_), 0);
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
    const bool whole = ends && tile == block * block_;  // of the block's tiles
    const Range k{tile * kTile, std::min(job_.k, (tile + count) * kTile)};
    const int phases = engine::phases_of(job_.config.fidelity);
    in0_.resize(row_strips_, kernel_.rows, count * kTile, kernel_.in0_words, phases > 2);
    in1_.resize(column_strips_, kernel_.columns, count * kTile, kernel_.in1_words, phases > 1);
    split_in0(k);
    split_in1(k);
    for (std::int64_t j = 0; j < column_strips_; ++j) {
      for (std::int64_t i = 0; i < row_strips_;) {
        const std::int64_t first = i;
        while (i < row_strips_ && !is_huge(i, j)) ++i;
        if (i > first) {
          engine::Block job = block_of(first, i - first, j, count, phases);
          if (whole && folds(block)) job.partial = at(partial_, first, j);
          kernel_.run(job);
        }
        if (i < row_strips_) {
          run_slowly(i, j, tile, count);
          if (whole && folds(block)) fold(i, j);
          ++i;
        }
      }
      if (!whole && ends && folds(block)) {
        for (std::int64_t i = 0; i < row_strips_; ++i) fold(i, j);
      }
    }
  }

  // Whether a strip's values are, or once were, beyond what the kernels take: then its sums may be so for good.
  bool is_huge(std::int64_t i, std::int64_t j) {
    const int largest = in0_.largest[static_cast<std::size_t>(i)] + in1_.largest[static_cast<std::size_t>(j)] - 127;
    char& huge = huge_[static_cast<std::size_t>(j * row_strips_ + i)];
    if (largest > engine::kLargestExponent) huge = 1;
    return huge != 0;
  }

  engine::Block block_of(std::int64_t first, std::int64_t strips, std::int64_t j, std::int64_t tiles, int phases) {
    const std::int64_t in0 = first * in0_.width * in0_.depth;
    engine::Block block;
    block.in0_high = in0_.high.data() + in0;
    block.in0_low = in0_.low.empty() ? nullptr : in0_.low.data() + in0;
    block.in0_exponents = in0_.exponents.data() + first * in0_.words;
    block.in0_largest = in0_.largest.data() + first;
    block.strips = strips;
    const std::int64_t in1 = j * in1_.width * in1_.depth;
    block.in1_high = in1_.high.data() + in1;
    block.in1_low = in1_.low.empty() ? nullptr : in1_.low.data() + in1;
    block.in1_exponents = in1_.exponents.data() + j * in1_.words;
    block.in1_largest = in1_.largest[static_cast<std::size_t>(j)];
    block.tiles = tiles;
    block.columns = std::min(kernel_.columns, columns_.size() - j * kernel_.columns);
    block.phases = phases;
    block.fp32 = job_.config.fp32_acc;
    block.dst = at(dst_, first, j);
    return block;
  }

  void split_in0(Range k) {
    const Operand in0 = operand(job_.a, job_.lda, job_.transpose_a);
    const bool dense = k.size() == in0_.depth && in0.column_step == 1;
    for_strips(in0_, dense, rows_, [&](engine::Split job, Range rows) {
      find(in0, rows, k, job.strips * in0_.width, in0_.depth, job);
      job.bits = engine::kIn0Bits;
      job.high_bits = engine::kIn0High;
      kernel_.split_in0(job);
    });
  }

  void split_in1(Range k) {
    const Operand in1 = operand(job_.b, job_.ldb, job_.transpose_b);
    const bool dense = k.size() == in1_.depth && in1.column_step == 1;
    for_strips(in1_, dense, columns_, [&](engine::Split job, Range columns) {
      find(in1, k, columns, in1_.depth, job.strips * in1_.width, job);
      job.bits = engine::kIn1Bits;
      job.high_bits = engine::kIn1High;
      job.scale = kTieBreak;
      kernel_.split_in1(job);
    });
  }

  // Whole strips of dense values together, the others one by one.
  template <class F>
  static void for_strips(Packed& packed, bool dense, Range range, F split) {
    const std::int64_t whole = dense ? range.size() / packed.width : 0;
    for (std::int64_t first = 0; first * packed.width < range.size();) {
      engine::Split job = packed.split(first);
      job.strips = first < whole ? whole : 1;
      const std::int64_t start = range.first + first * packed.width;
      split(job, Range{start, std::min(start + job.strips * packed.width, range.last)});
      first += job.strips;
    }
  }

  // Where the values of a strip lie: in the operand itself if it has them all in rows.
  void find(const Operand& operand, Range rows, Range columns, std::int64_t height, std::int64_t width,
            engine::Split& job) {
    if (operand.column_step == 1 && rows.size() == height && columns.size() == width) {
      job.from = operand.base + rows.first * operand.row_step + columns.first;
      job.stride = operand.row_step;
    } else {
      job.from = gather(operand, rows, columns, height, width, scratch().gathered);
      job.stride = width;
    }
  }

  // partial += sums, as the packer adds in memory. The sums start anew.
  void fold(std::int64_t i, std::int64_t j) {
    float* sums = at(dst_, i, j);
    float* partial = at(partial_, i, j);
    if (huge_[static_cast<std::size_t>(j * row_strips_ + i)] == 0) {
      kernel_.fold(partial, sums, job_.config.fp32_acc);
      return;
    }
    const std::int64_t size = kernel_.rows * kernel_.columns;  // the kernels know no NaN
    for (std::int64_t l = 0; l < size; ++l) {
      const float total = partial[l] + sums[l];
      partial[l] = job_.config.fp32_acc ? total : round_bfloat16(total);
      sums[l] = 0.0F;
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
  float* at(AlignedVector<float>& buffer, std::int64_t i, std::int64_t j) const {
    return buffer.data() + (j * row_strips_ + i) * kernel_.rows * kernel_.columns;
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
  AlignedVector<float>& dst_ = scratch().dst;
  AlignedVector<float>& partial_ = scratch().partial;
  std::vector<char>& huge_ = scratch().huge;
};

}  // namespace

std::int64_t default_block_w(std::int64_t k_tiles) { return k_tiles % 2 == 0 ? 2 : 1; }

void gemm(const Gemm& job) { engine::gemm_with(job, engine::best_kernel()); }

void engine::gemm_with(const Gemm& job, const Kernel& kernel) {
  if (job.m <= 0 || job.n <= 0) return;
  // Pieces of about the same size, so that no thread waits long for the last one.
  const auto even = [](std::int64_t size, std::int64_t most, std::int64_t multiple) {
    return ceil_div(ceil_div(size, ceil_div(size, most)), multiple) * multiple;
  };
  std::int64_t rows = even(job.m, kTaskRows, kernel.rows);
  std::int64_t columns = even(job.n, kTaskColumns, kernel.columns);
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
