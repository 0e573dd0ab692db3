#include "dialect/ttnn/matmul_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <utility>

#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"

namespace opwright {
namespace {

using Kind = MatmulProgram::Kind;

// Height and width of the block of tiles that one pass of the destination register holds, largest first.
constexpr std::pair<std::int64_t, std::int64_t> kSubblocks[] = {{4, 2}, {2, 4}, {8, 1}, {1, 8}, {7, 1}, {1, 7}, {3, 2},
                                                                {2, 3}, {6, 1}, {1, 6}, {5, 1}, {1, 5}, {2, 2}, {4, 1},
                                                                {1, 4}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}};

std::string_view full_name(MemoryLayout layout) {
  switch (layout) {
    case MemoryLayout::kHeightSharded:
      return "TensorMemoryLayout::HEIGHT_SHARDED";
    case MemoryLayout::kWidthSharded:
      return "TensorMemoryLayout::WIDTH_SHARDED";
    case MemoryLayout::kBlockSharded:
      return "TensorMemoryLayout::BLOCK_SHARDED";
    case MemoryLayout::kNdSharded:
      return "TensorMemoryLayout::ND_SHARDED";
    default:
      return "TensorMemoryLayout::INTERLEAVED";
  }
}

class Chooser {
 public:
  Chooser(const BoundCall& call, const MatmulOperands& operands, std::optional<CoreCoord> core_grid, const Board& board)
      : o_(operands),
        board_(board),
        core_grid_(core_grid),
        out_(matmul_memory(call)),
        fp32_acc_(matmul_compute(call, board).fp32_acc),
        batched_(operands.batch_b > 1) {
    a_tile_ = tile_bytes(o_.a->dtype.value);
    b_tile_ = tile_bytes(o_.b->dtype.value);
    const auto dtype = matmul_dtype(call);
    partial_tile_ = fp32_acc_ ? 4096 : std::max<std::int64_t>(2048, tile_bytes(dtype ? *dtype : DType::kBfloat16));
    if (const TensorSpec* bias = call.tensor("bias"); bias != nullptr && !bias_apart(call))
      bias_tile_ = tile_bytes(bias->dtype.value);
    if (sharded(*o_.a) && o_.a->memory->shard && o_.a->memory->shard->shape.size() == 2) shard_ = &*o_.a->memory->shard;
    room_ = board.l1_bank - in_l1(*o_.a) - in_l1(*o_.b);
  }

  Checked<MatmulProgram> choose() const {
    if (core_grid_) return by_grid(*core_grid_);
    if (!sharded(*o_.a)) return simple(board_.grid);
    if (shard_ == nullptr) return refuse("bad optional access");
    return by_shards();
  }

 private:
  std::int64_t in_l1(const TensorSpec& spec) const {
    if (!spec.memory || spec.memory->buffer.value != BufferType::kL1) return 0;
    const std::int64_t tile = tile_bytes(spec.dtype.value);
    if (spec.memory->shard && spec.memory->shard->shape.size() == 2)
      return spec.memory->shard->shape[0] * spec.memory->shard->shape[1] / 1024 * tile;
    const Shape2D physical = physical_shape(spec);
    return div_up(physical.height / 32 * (physical.width / 32), board_.cores()) * tile;
  }

  // Bytes that the buffers of a block of m x n tiles take, k tiles of the inner dimension at a time.
  std::int64_t bytes(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const std::int64_t whole_shard = shard_ == nullptr ? 0 : m * (shard_->shape[1] / 32) * a_tile_;
    const std::int64_t left = 2 * m * k * a_tile_;
    const std::int64_t turned = !o_.transpose_a ? 0 : shard_ != nullptr ? whole_shard : left;
    return left + 2 * n * k * b_tile_ + m * n * (a_tile_ + partial_tile_) + n * bias_tile_ + whole_shard + turned;
  }

  struct Block {
    std::int64_t m = 1;
    std::int64_t n = 1;
    std::int64_t k = 1;
  };
  // The largest block that divides m x n tiles and fits, the squarest of equally large ones.
  Block fit(std::int64_t m, std::int64_t n, std::int64_t k, bool shrink_k) const {
    if (bytes(m, n, k) < room_) return {m, n, k};
    const auto divisors = [](std::int64_t of) {
      std::vector<std::int64_t> out{of, 1};
      for (std::int64_t d = of / 2; d > 1; --d)
        if (of % d == 0) out.push_back(d);
      return out;
    };
    const auto ratio = [](std::int64_t h, std::int64_t w) {
      return static_cast<double>(std::max(h, w)) / static_cast<double>(std::min(h, w));
    };
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> by_size;
    for (const std::int64_t h : divisors(m))
      for (const std::int64_t w : divisors(n)) {
        const auto [at, fresh] = by_size.try_emplace(h * w, h, w);
        if (!fresh && ratio(at->second.first, at->second.second) >= ratio(h, w)) at->second = {h, w};
      }
    for (std::int64_t depth = k; depth >= (shrink_k ? 1 : k); --depth) {
      if (k % depth != 0) continue;
      for (const auto& [size, block] : std::views::reverse(by_size))
        if (bytes(block.first, block.second, depth) < room_) return {block.first, block.second, depth};
    }
    return {};
  }

  enum class Prefer : std::uint8_t { kTall, kWide, kWholeRow };  // the last: one row, as wide as the block
  void set_subblock(MatmulProgram& program, std::int64_t m, std::int64_t n, Prefer prefer) const {
    program.out_subblock_h = program.out_subblock_w = 1;
    for (const auto& [longer, shorter] : kSubblocks) {
      const std::int64_t h = prefer == Prefer::kWide ? shorter : longer;
      const std::int64_t w = prefer == Prefer::kWide ? longer : shorter;
      if (fp32_acc_ && h * w > 4) continue;
      if (prefer == Prefer::kWholeRow && (w != n || h != 1)) continue;
      if (m % h != 0 || n % w != 0) continue;
      program.out_subblock_h = h;
      program.out_subblock_w = w;
      return;
    }
  }

  void set_blocks(MatmulProgram& program, Prefer prefer, bool shrink_k = false) const {
    const Block block = fit(program.per_core_m, program.per_core_n, program.in0_block_w, shrink_k);
    program.out_block_h = block.m;
    program.out_block_w = block.n;
    if (shrink_k) program.in0_block_w = block.k;
    set_subblock(program, block.m, block.n, prefer);
  }

  MatmulProgram mcast_1d(bool fuse_batch, bool mcast_in0, CoreCoord grid, const ShardSpec* user) const {
    MatmulProgram program;
    program.kind = Kind::kMcast1D;
    program.fuse_batch = fuse_batch;
    program.mcast_in0 = mcast_in0;
    program.grid = grid;
    const std::int64_t m = o_.m_tiles * (fuse_batch ? o_.batch_a : 1);
    if (user != nullptr) {
      program.per_core_m = user->shape[0] / 32;
      program.per_core_n = user->shape[1] / 32;
      const CoreRange box = bounding_box(user->grid);
      program.grid = {box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
    } else if (mcast_in0) {
      program.per_core_m = m;
      program.per_core_n = div_up(div_up(o_.n_tiles * 32, grid.x * grid.y), 32);
    } else {
      program.per_core_m = div_up(div_up(m * 32, grid.x * grid.y), 32);
      program.per_core_n = o_.n_tiles;
    }
    program.in0_block_w = o_.k_tiles % 2 == 0 ? 2 : 1;
    set_blocks(program, Prefer::kTall);
    return program;
  }

  static bool narrow(std::int64_t height, std::int64_t width, bool all_dram) {
    const std::int64_t ratio = height > width ? height / width : width / height;
    return ratio > 8 || (all_dram && (height <= 32 || width <= 32));
  }

  // Operands that are not sharded, no grid asked for.
  Checked<MatmulProgram> simple(CoreCoord grid) const {
    const MemoryConfig a = o_.a->memory.value_or(MemoryConfig{});
    const MemoryConfig b = o_.b->memory.value_or(MemoryConfig{});
    const bool interleaved = !a.sharded() && !b.sharded() && !out_.sharded();
    const auto in_dram = [](const MemoryConfig& m) { return m.buffer.value != BufferType::kL1; };
    const bool all_dram = in_dram(a) && in_dram(b) && in_dram(out_);
    const bool dram_interleaved = all_dram && interleaved;
    // One matrix on the left stays on the cores while those on the right pass by.
    if (interleaved && o_.batch_a == 1 && o_.batch_b > 1) return mcast_1d(false, false, grid, nullptr);
    const bool is_narrow = interleaved && narrow(o_.m_tiles * 32, o_.n_tiles * 32, all_dram);
    const bool wide = is_narrow && o_.n_tiles > o_.m_tiles;
    const bool tall = is_narrow && !wide;

    std::int64_t k_block = 2;
    std::int64_t per_core = 16;
    while (per_core > 1 && bytes(per_core, per_core, k_block) >= room_) per_core /= 2;
    const std::int64_t blocks_y = div_up(o_.m_tiles, per_core);
    const std::int64_t blocks_x = div_up(o_.n_tiles, per_core);
    if ((out_.sharded() || blocks_y > 1 || blocks_x > 1) && o_.k_tiles % k_block != 0) k_block = 1;
    MatmulProgram program;
    program.in0_block_w = o_.k_tiles;
    if (!dram_interleaved && (blocks_x * blocks_y > grid.x * grid.y || o_.k_tiles % k_block != 0)) return program;

    const bool fits = (blocks_y > 1 || blocks_x > 1) && blocks_y <= grid.y && blocks_x <= grid.x;
    const std::int64_t rows = fits ? blocks_y : 0;
    const std::int64_t columns = fits ? blocks_x : 0;
    const bool to_block = out_.layout.value == MemoryLayout::kBlockSharded;
    bool one_column = false;
    bool one_row = false;
    if (to_block && out_.shard && out_.shard->shape.size() == 2) {
      const CoreRange box = bounding_box(out_.shard->grid);
      const bool one_core = box.start == box.end;
      one_column = !one_core && box.start.x == box.end.x;
      one_row = !one_core && box.start.y == box.end.y;
      if ((one_column || one_row) && o_.batch_b > 1)
        return refuse(
            "BLOCK_SHARDED output on a 1D grid (single row or column of cores) is not supported when both input "
            "tensors are batched. Either use HEIGHT_SHARDED/WIDTH_SHARDED explicitly, use a 2D core grid for "
            "BLOCK_SHARDED, or ensure the second input tensor (B) has batch size 1.");
    }
    const bool to_row = out_.layout.value == MemoryLayout::kWidthSharded || one_row;
    const bool to_column = out_.layout.value == MemoryLayout::kHeightSharded || one_column;
    if (rows == 1 || wide || (rows == 0 && out_.sharded() && to_row)) {
      const ShardSpec* user = one_row ? &*out_.shard : nullptr;
      return mcast_1d(user != nullptr && o_.batch_b == 1, true, board_.grid, user);
    }
    if (columns == 1 || tall || (rows == 0 && out_.sharded() && to_column)) {
      const ShardSpec* user = one_column ? &*out_.shard : nullptr;
      return mcast_1d(user != nullptr && o_.batch_b == 1, false, board_.grid, user);
    }
    if (rows == 0 && !dram_interleaved && !(out_.sharded() && to_block)) return program;
    program.kind = Kind::kMcast2D;
    program.grid = grid;
    program.fuse_batch = false;
    program.in0_block_w = k_block;
    program.per_core_m = program.out_block_h = per_core;
    program.per_core_n = program.out_block_w = per_core;
    program.out_subblock_w = 2;
    program.out_subblock_h = per_core == 2 ? 4 : 1;
    if (dram_interleaved) {
      program.in0_block_w = o_.k_tiles % grid.x == 0 ? o_.k_tiles / grid.x : 1;
      program.per_core_m = div_up(o_.m_tiles, grid.y);
      program.per_core_n = div_up(o_.n_tiles, grid.x);
      set_blocks(program, Prefer::kTall, true);
    }
    return program;
  }

  MatmulProgram systolic(CoreCoord grid) const {
    const std::int64_t cores = grid.x * grid.y;
    const std::int64_t m = o_.batch_a * o_.m_tiles;
    bool tall = m > o_.n_tiles;
    if (sharded(*o_.a) && o_.a->memory->layout.value == MemoryLayout::kHeightSharded) tall = true;
    if (sharded(*o_.a) && o_.a->memory->layout.value == MemoryLayout::kWidthSharded) tall = false;
    MatmulProgram program;
    program.kind = Kind::kMcast1D;
    program.grid = grid;
    program.mcast_in0 = !tall;
    program.per_core_m = tall ? div_up(m, cores) : m;
    // What lies on one core stays there.
    const bool one_core = shard_ != nullptr && core_count(shard_->grid) == 1;
    const bool stays = tall && one_core && o_.a->memory->layout.value == MemoryLayout::kHeightSharded;
    if (stays) program.per_core_m = std::max<std::int64_t>(1, shard_->shape[0] / 32);
    program.per_core_n = tall ? o_.n_tiles : div_up(o_.n_tiles, cores);
    program.in0_block_w = div_up(o_.k_tiles, cores);
    while (o_.k_tiles % program.in0_block_w != 0) --program.in0_block_w;
    set_blocks(program, stays && out_.sharded() ? Prefer::kWholeRow : Prefer::kWide);
    return program;
  }

  // A grid that the call asks for, or what the rules for sharded operands leave over.
  Checked<MatmulProgram> by_grid(CoreCoord asked) const {
    if (o_.a_shape.back() != o_.b_shape[o_.b_shape.size() - 2])
      return refuse("The k dimension does not match between tensors");
    CoreCoord grid = board_.grid;
    if (asked.x <= grid.x && asked.y <= grid.y) grid = asked;
    if (grid.x < 1 || grid.y < 1) return refuse("compute grid size must be non-zero");
    MatmulProgram program;
    program.grid = grid;
    if (o_.batch_b > 1) {
      program.kind = Kind::kReuse;
      program.per_core_m = o_.m_tiles;
      program.per_core_n = o_.n_tiles;
      program.in0_block_w = 1;
      if (shard_ != nullptr) {
        if (o_.a->memory->layout.value == MemoryLayout::kWidthSharded)
          return refuse(
              fmt::format("MatmulMultiCoreReuseProgramConfig: Input A cannot be width sharded, got layout: {}",
                          full_name(MemoryLayout::kWidthSharded)));
        program.per_core_m = shard_->shape[0] / 32;
        program.in0_block_w = shard_->shape[1] / 32;
      } else if (sharded(*o_.b)) {
        if (o_.b->memory->layout.value == MemoryLayout::kWidthSharded)
          return refuse(
              fmt::format("MatmulMultiCoreReuseProgramConfig: Input B cannot be width sharded, got layout: {}",
                          full_name(MemoryLayout::kWidthSharded)));
      } else if (bytes(program.per_core_m, program.per_core_n, 1) >= room_) {
        return simple(grid);
      }
      set_subblock(program, program.per_core_m, program.per_core_n, Prefer::kWide);
      return program;
    }
    const bool in_blocks = sharded(*o_.a) && o_.a->memory->layout.value == MemoryLayout::kBlockSharded;
    const bool small = o_.k_tiles <= 1 || o_.m_tiles <= 1 || o_.n_tiles <= 1;
    if (!in_blocks && (sharded(*o_.a) || small || narrow(o_.batch_a * o_.m_tiles, o_.n_tiles, false)))
      return systolic(grid);
    program.kind = Kind::kMcast2D;
    if (in_blocks && shard_ != nullptr) {
      program.per_core_m = shard_->shape[0] / 32;
      program.per_core_n = o_.n_tiles * (shard_->shape[1] / 32) / o_.k_tiles;
      program.in0_block_w = std::gcd(shard_->shape[1] / 32, o_.k_tiles);
      program.transpose_mcast = shard_->orientation.value == Orientation::kColMajor;
    } else {
      program.per_core_m = div_up(o_.batch_a * o_.m_tiles, grid.y);
      program.per_core_n = div_up(o_.n_tiles, grid.x);
      program.in0_block_w = 4;
      while (o_.k_tiles % program.in0_block_w != 0) --program.in0_block_w;
    }
    program.per_core_n = std::max<std::int64_t>(1, program.per_core_n);
    set_blocks(program, Prefer::kWide);
    if (program.out_subblock_w != program.per_core_n) program.out_subblock_h = 1;
    return program;
  }

  Checked<void> same_memory_as_a() const {
    if (!out_.sharded()) return {};
    OPWRIGHT_REQUIRE(o_.a->memory->buffer.value == out_.buffer.value,
                     "Input A and output buffer types must match, got input: BufferType::{} vs output: BufferType::{}",
                     name_of(o_.a->memory->buffer.value), name_of(out_.buffer.value));
    OPWRIGHT_REQUIRE(o_.a->memory->layout.value == out_.layout.value,
                     "Input A and output memory layouts must match, got input: {} vs output: {}",
                     full_name(o_.a->memory->layout.value), full_name(out_.layout.value));
    return {};
  }

  // The first operand is sharded.
  Checked<MatmulProgram> by_shards() const {
    const MemoryLayout layout = o_.a->memory->layout.value;
    const CoreRange box = bounding_box(shard_->grid);
    const CoreCoord grid{box.end.x - box.start.x + 1, box.end.y - box.start.y + 1};
    const std::int64_t shard_h = std::max<std::int64_t>(1, shard_->shape[0] / 32);
    const std::int64_t shard_w = std::max<std::int64_t>(1, shard_->shape[1] / 32);
    const std::int64_t m = o_.batch_a * o_.m_tiles;
    MatmulProgram program;
    program.grid = grid;
    if (batched_) {
      OPWRIGHT_REQUIRE(layout != MemoryLayout::kWidthSharded,
                       "Input A memory layout must not be WIDTH_SHARDED, got: {}", full_name(layout));
      OPWRIGHT_CHECK(same_memory_as_a());
      program.kind = Kind::kReuse;
      program.per_core_m = shard_h;
      program.per_core_n = o_.n_tiles;
      program.in0_block_w = shard_w;
      set_subblock(program, shard_h, o_.n_tiles, out_.sharded() ? Prefer::kWholeRow : Prefer::kTall);
      if (sharded(*o_.b)) OPWRIGHT_CHECK(same_shards());
      return program;
    }
    OPWRIGHT_REQUIRE(!sharded(*o_.b), "Input tensor B must have INTERLEAVED memory layout, got: {}",
                     full_name(o_.b->memory->layout.value));
    const bool width = layout == MemoryLayout::kWidthSharded;
    if ((width || layout == MemoryLayout::kHeightSharded) && (grid.x > 1 || grid.y > 1)) {
      OPWRIGHT_REQUIRE(shard_->orientation.value != Orientation::kColMajor,
                       "Input tensor A must have ROW_MAJOR shard orientation, got: ShardOrientation::COL_MAJOR");
      OPWRIGHT_CHECK(same_memory_as_a());
      program.kind = Kind::kMcast1D;
      program.mcast_in0 = width;
      program.per_core_m = width ? m : shard_h;
      program.per_core_n = width ? div_up(o_.n_tiles, core_count(shard_->grid)) : o_.n_tiles;
      program.in0_block_w = width ? std::gcd(shard_w, o_.k_tiles) : o_.k_tiles;
      set_blocks(program, out_.sharded() ? Prefer::kWholeRow : Prefer::kTall);
      return program;
    }
    if (layout == MemoryLayout::kBlockSharded && grid.x > 1 && grid.y > 1) {
      OPWRIGHT_CHECK(same_memory_as_a());
      program.kind = Kind::kMcast2D;
      program.transpose_mcast = shard_->orientation.value == Orientation::kColMajor;
      const std::int64_t across = program.transpose_mcast ? grid.y : grid.x;
      const std::int64_t down = program.transpose_mcast ? grid.x : grid.y;
      OPWRIGHT_REQUIRE(down == m / shard_h || down == div_up(m, shard_h),
                       "Num cores along y ({}) must match provided grid size ({}) or divided up size ({})", down,
                       m / shard_h, div_up(m, shard_h));
      OPWRIGHT_REQUIRE(across == o_.k_tiles / shard_w || across == div_up(o_.k_tiles, shard_w),
                       "Num cores along x ({}) must match provided grid size ({}) or divided up size ({})", across,
                       o_.k_tiles / shard_w, div_up(o_.k_tiles, shard_w));
      program.per_core_m = div_up(m, down);
      program.per_core_n = div_up(o_.n_tiles, across);
      program.in0_block_w = across == o_.k_tiles / shard_w ? std::gcd(shard_w, o_.k_tiles) : 1;
      set_blocks(program, out_.sharded() ? Prefer::kWholeRow : Prefer::kTall);
      return program;
    }
    return by_grid(board_.grid);
  }

  Checked<void> same_shards() const {
    const MemoryConfig& a = *o_.a->memory;
    const MemoryConfig& b = *o_.b->memory;
    OPWRIGHT_REQUIRE(a.buffer.value == b.buffer.value, "Input A and B buffer types must match, got A: {} vs B: {}",
                     name_of(a.buffer.value), name_of(b.buffer.value));
    OPWRIGHT_REQUIRE(a.layout.value == b.layout.value, "Input A and B memory layouts must match, got A: {} vs B: {}",
                     full_name(a.layout.value), full_name(b.layout.value));
    OPWRIGHT_REQUIRE(b.shard && b.shard->grid == shard_->grid, "Input A and B shard grids must match");
    OPWRIGHT_REQUIRE(b.shard->orientation.value == shard_->orientation.value, "Orientation mismatch a {} vs b {}.",
                     name_of(shard_->orientation.value), name_of(b.shard->orientation.value));
    return {};
  }

  const MatmulOperands& o_;
  const Board& board_;
  std::optional<CoreCoord> core_grid_;
  MemoryConfig out_;
  bool fp32_acc_;
  bool batched_;
  std::int64_t a_tile_ = 0;
  std::int64_t b_tile_ = 0;
  std::int64_t partial_tile_ = 0;
  std::int64_t bias_tile_ = 0;
  std::int64_t room_ = 0;
  const ShardSpec* shard_ = nullptr;
};

}  // namespace

Checked<MatmulProgram> chosen_program(const BoundCall& call, const MatmulOperands& operands,
                                      std::optional<CoreCoord> core_grid, const Board& board) {
  if (operands.m_tiles < 1 || operands.k_tiles < 1 || operands.n_tiles < 1 || operands.batch_a < 1 ||
      operands.batch_b < 1)
    return MatmulProgram{};
  return Chooser(call, operands, core_grid, board).choose();
}

}  // namespace opwright
