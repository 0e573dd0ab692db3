#include <fmt/format.h>

#include "dialect/ttnn/matmul_operands.h"
#include "ops/shared/matmul_rules.h"

namespace opwright {
namespace {

using Kind = MatmulProgram::Kind;

// What a rule looks at.
struct Case {
  const MatmulProgram& p;
  const MatmulOperands& o;
  const MemoryConfig& out;
  const Board& board;
  MemoryConfig a;
  MemoryConfig b;
  Shape a_shard;  // height and width in elements; {0, 0} when there is none
  Shape b_shard;
  std::string_view name;  // of the configuration
};

bool col_major(const MemoryConfig& memory) {
  return memory.shard && memory.shard->orientation.value == Orientation::kColMajor;
}
std::string orientation_text(const MemoryConfig& memory) {
  return col_major(memory) ? "ShardOrientation::COL_MAJOR" : "ShardOrientation::ROW_MAJOR";
}
MemoryLayout layout_of(const MemoryConfig& memory) { return memory.layout.value; }

Checked<void> same_as_a(const Case& c) {
  OPWRIGHT_REQUIRE(c.a.buffer.value == c.out.buffer.value,
                   "{}: Input A and output buffer types must match, got input: {} vs output: {}", c.name,
                   buffer_text(c.a), buffer_text(c.out));
  OPWRIGHT_REQUIRE(layout_of(c.a) == layout_of(c.out),
                   "{}: Input A and output memory layouts must match, got input: {} vs output: {}", c.name,
                   layout_text(c.a), layout_text(c.out));
  return {};
}

Checked<void> blocks(const Case& c, const ComputeConfig& compute) {
  const MatmulProgram& p = c.p;
  OPWRIGHT_REQUIRE(p.in0_block_w != 0, "{}: in0_block_w is 0, which is not valid", c.name);
  OPWRIGHT_REQUIRE(p.per_core_m != 0, "{}: per_core_M is 0, which is not valid", c.name);
  OPWRIGHT_REQUIRE(p.per_core_n != 0, "{}: per_core_N is 0, which is not valid", c.name);
  OPWRIGHT_REQUIRE(c.o.k_tiles % p.in0_block_w == 0, "{}: Kt ({}) must be divisible by in0_block_w ({})", c.name,
                   c.o.k_tiles, p.in0_block_w);
  if (p.kind == Kind::kDramSharded || p.kind == Kind::kBatchedDram) return {};
  OPWRIGHT_REQUIRE(p.out_subblock_h != 0, "{}: out_subblock_h is 0, which is not valid", c.name);
  OPWRIGHT_REQUIRE(p.out_subblock_w != 0, "{}: out_subblock_w is 0, which is not valid", c.name);
  if (p.kind == Kind::kReuse) {
    OPWRIGHT_REQUIRE(p.per_core_m % p.out_subblock_h == 0,
                     "{}: per_core_M ({}) must be divisible by out_subblock_h ({})", c.name, p.per_core_m,
                     p.out_subblock_h);
    OPWRIGHT_REQUIRE(p.per_core_n % p.out_subblock_w == 0,
                     "{}: per_core_N ({}) must be divisible by out_subblock_w ({})", c.name, p.per_core_n,
                     p.out_subblock_w);
  } else {
    OPWRIGHT_REQUIRE(p.out_block_h != 0, "{}: out_block_h is 0, which is not valid", c.name);
    OPWRIGHT_REQUIRE(p.out_block_w != 0, "{}: out_block_w is 0, which is not valid", c.name);
    OPWRIGHT_REQUIRE(p.out_block_h % p.out_subblock_h == 0,
                     "{}: out_block_h ({}) must be divisible by out_subblock_h ({})", c.name, p.out_block_h,
                     p.out_subblock_h);
    OPWRIGHT_REQUIRE(p.out_block_w % p.out_subblock_w == 0,
                     "{}: out_block_w ({}) must be divisible by out_subblock_w ({})", c.name, p.out_block_w,
                     p.out_subblock_w);
    OPWRIGHT_REQUIRE(p.per_core_m % p.out_block_h == 0, "{}: per_core_M ({}) must be divisible by out_block_h ({})",
                     c.name, p.per_core_m, p.out_block_h);
    OPWRIGHT_REQUIRE(p.per_core_n % p.out_block_w == 0, "{}: per_core_N ({}) must be divisible by out_block_w ({})",
                     c.name, p.per_core_n, p.out_block_w);
  }
  const std::int64_t registers = (compute.fp32_acc ? 4 : 8) * (compute.dst_full_sync ? 2 : 1);
  OPWRIGHT_REQUIRE(p.out_subblock_h * p.out_subblock_w <= registers,
                   "{}: out_subblock_w {} times out_subblock_h {} needs to be at most {} to fit in hardware", c.name,
                   p.out_subblock_w, p.out_subblock_h, registers);
  if (p.gather_in0) return {};
  const CoreCoord grid = p.grid;
  OPWRIGHT_REQUIRE(grid.x > 0 && grid.y > 0, "{}: compute_with_storage_grid_size must be non-zero, got ({}, {})",
                   c.name, grid.x, grid.y);
  OPWRIGHT_REQUIRE(grid.x <= c.board.grid.x && grid.y <= c.board.grid.y,
                   "{}: compute_with_storage_grid_size ({}, {}) must fit within device grid ({}, {})", c.name, grid.x,
                   grid.y, c.board.grid.x, c.board.grid.y);
  return {};
}

// Output shards in L1 that the call names must lie on cores of the program's grid.
Checked<void> output_in_grid(const Case& c, CoreCoord extent) {
  if (!c.out.sharded() || c.out.buffer.value == BufferType::kDram || !c.out.shard) return {};
  const CoreRange box = bounding_box(c.out.shard->grid);
  OPWRIGHT_REQUIRE(box.end.x < extent.x && box.end.y < extent.y,
                   "{}: output shard grid {} must lie within extent ({}, {})", c.name, grid_text(c.out.shard->grid),
                   extent.x, extent.y);
  return {};
}

Checked<void> row_wise_output(const Case& c) {
  OPWRIGHT_REQUIRE(c.p.out_subblock_w == c.p.per_core_n || c.p.out_subblock_h == 1,
                   "{}: out_subblock_w ({}) must equal per_core_N ({}) or out_subblock_h ({}) must be 1", c.name,
                   c.p.out_subblock_w, c.p.per_core_n, c.p.out_subblock_h);
  OPWRIGHT_REQUIRE(c.p.out_block_w == c.p.per_core_n || c.p.out_block_h == 1,
                   "{}: out_block_w ({}) must equal per_core_N ({}) or out_block_h ({}) must be 1", c.name,
                   c.p.out_block_w, c.p.per_core_n, c.p.out_block_h);
  return {};
}

Checked<void> check_mcast_1d(const Case& c) {
  const MatmulProgram& p = c.p;
  const std::int64_t m = c.o.m_tiles * (p.fuse_batch ? c.o.batch_a : 1);
  const std::int64_t shard_h = c.a_shard[0] / 32;
  const std::int64_t shard_w = c.a_shard[1] / 32;
  if (p.gather_in0) {
    OPWRIGHT_REQUIRE(c.a.sharded(), "{}: gather_in0 requires input A to be sharded", c.name);
    OPWRIGHT_REQUIRE(!p.mcast_in0, "{}: mcast_in0 and gather_in0 cannot both be set", c.name);
    OPWRIGHT_REQUIRE(c.out.sharded() && c.out.shard,
                     "{}: output must be sharded with a shard spec when gather_in0 is set", c.name);
  } else {
    const std::int64_t rows = div_up(m, p.per_core_m);
    const std::int64_t columns = div_up(c.o.n_tiles, p.per_core_n);
    OPWRIGHT_REQUIRE(rows * columns <= p.grid.x * p.grid.y,
                     "{}: Number of blocks exceeds number of cores: {} blocks > {} cores", c.name, rows * columns,
                     p.grid.x * p.grid.y);
    OPWRIGHT_REQUIRE(!p.mcast_in0 || rows == 1,
                     "{}: mcast_in0 requires M ({}) to fit within a single per_core_M block ({}), got num_blocks_y={}",
                     c.name, m, p.per_core_m, rows);
    OPWRIGHT_CHECK(output_in_grid(c, p.grid));
  }
  const bool along = p.mcast_in0 || p.gather_in0;
  if (c.a.sharded()) {
    const MemoryLayout wanted = along ? MemoryLayout::kWidthSharded : MemoryLayout::kHeightSharded;
    OPWRIGHT_REQUIRE(p.fuse_batch, "{}: fuse_batch must be enabled when input A is sharded", c.name);
    OPWRIGHT_REQUIRE(layout_of(c.a) == wanted, "{}: input A must be {} when mcast_in0 {}, got: {}", c.name,
                     along ? "WIDTH_SHARDED" : "HEIGHT_SHARDED", along ? "or gather_in0 is set" : "is not set",
                     layout_text(c.a));
    if (c.out.sharded()) OPWRIGHT_CHECK(same_as_a(c));
    OPWRIGHT_REQUIRE(!col_major(c.a), "{}: input A shard orientation must be ROW_MAJOR, got: {}", c.name,
                     orientation_text(c.a));
    OPWRIGHT_REQUIRE(!along || m == p.per_core_m, "{}: M ({}) must equal per_core_M ({})", c.name, m, p.per_core_m);
    OPWRIGHT_REQUIRE(along || !p.named || !c.a.shard || div_up(m, p.per_core_m) <= core_count(c.a.shard->grid),
                     "{}: M ({}) / per_core_M ({}) must not exceed the cores of input A", c.name, m, p.per_core_m);
    OPWRIGHT_REQUIRE(!p.named || p.per_core_m == shard_h,
                     "{}: per_core_M ({}) must equal shard_shape[0] ({}) / in0_tile height (32)", c.name, p.per_core_m,
                     c.a_shard[0]);
    OPWRIGHT_REQUIRE(!along || p.gather_in0 || shard_w % p.in0_block_w == 0,
                     "{}: shard_shape[1] ({}) / in0_tile width (32) must be divisible by in0_block_w ({})", c.name,
                     c.a_shard[1], p.in0_block_w);
    OPWRIGHT_REQUIRE(along || c.o.k_tiles == shard_w, "{}: K ({}) must equal shard_shape[1] ({}) / in0_tile width (32)",
                     c.name, c.o.k_tiles, c.a_shard[1]);
  }
  if (c.out.sharded()) {
    bool one_line = false;
    if (layout_of(c.out) == MemoryLayout::kBlockSharded && c.out.shard) {
      const CoreRange box = bounding_box(c.out.shard->grid);
      one_line = along ? box.start.y == box.end.y : box.start.x == box.end.x;
    }
    const MemoryLayout wanted = along ? MemoryLayout::kWidthSharded : MemoryLayout::kHeightSharded;
    OPWRIGHT_REQUIRE(layout_of(c.out) == wanted || one_line,
                     "{}: output memory layout must be {} or BLOCK_SHARDED on one {} of cores, got: {}", c.name,
                     along ? "WIDTH_SHARDED" : "HEIGHT_SHARDED", along ? "row" : "column", layout_text(c.out));
    OPWRIGHT_REQUIRE(!along || m == p.per_core_m, "{}: M ({}) must equal per_core_M ({})", c.name, m, p.per_core_m);
    OPWRIGHT_REQUIRE(along || c.o.n_tiles == p.per_core_n, "{}: N ({}) must equal per_core_N ({})", c.name, c.o.n_tiles,
                     p.per_core_n);
    OPWRIGHT_CHECK(row_wise_output(c));
  }
  if (along && c.b.sharded() && c.b.buffer.value == BufferType::kL1) {
    OPWRIGHT_REQUIRE(layout_of(c.b) == MemoryLayout::kWidthSharded, "{}: input B in L1 must be WIDTH_SHARDED, got: {}",
                     c.name, layout_text(c.b));
    OPWRIGHT_REQUIRE(p.per_core_n == c.b_shard[1] / 32,
                     "{}: input B shard width in tiles ({}) must equal per_core_N ({})", c.name, c.b_shard[1] / 32,
                     p.per_core_n);
  }
  OPWRIGHT_REQUIRE(along || !c.b.sharded(), "{}: input B must be INTERLEAVED, got: {}", c.name, layout_text(c.b));
  return {};
}

Checked<void> check_mcast_2d(const Case& c) {
  const MatmulProgram& p = c.p;
  const std::int64_t m = c.o.m_tiles * (p.fuse_batch ? c.o.batch_a : 1);
  std::int64_t rows = div_up(m, p.per_core_m);
  std::int64_t columns = div_up(c.o.n_tiles, p.per_core_n);
  if (p.transpose_mcast) std::swap(rows, columns);
  OPWRIGHT_REQUIRE(
      columns <= p.grid.x,
      "{}: Num output blocks along x ({}) must be smaller than or equal to the number of columns in compute "
      "grid ({})!",
      c.name, columns, p.grid.x);
  OPWRIGHT_REQUIRE(
      rows <= p.grid.y,
      "{}: Num output blocks along y ({}) must be smaller than or equal to the number of rows in compute grid "
      "({})!",
      c.name, rows, p.grid.y);
  OPWRIGHT_CHECK(output_in_grid(c, p.grid));
  if (c.a.sharded()) {
    const bool in_blocks = layout_of(c.a) == MemoryLayout::kBlockSharded;
    OPWRIGHT_REQUIRE(p.fuse_batch, "{}: Batch fusion is required when input A is sharded", c.name);
    OPWRIGHT_REQUIRE(in_blocks || layout_of(c.a) == MemoryLayout::kHeightSharded, "{}: Unsupported memory layout {}.",
                     c.name, layout_text(c.a));
    if (in_blocks) {
      OPWRIGHT_REQUIRE(p.transpose_mcast == col_major(c.a),
                       "{}: Input tensor A must have {} shard orientation for {} MCAST, got: {}", c.name,
                       p.transpose_mcast ? "COL_MAJOR" : "ROW_MAJOR", p.transpose_mcast ? "transpose" : "non-transpose",
                       orientation_text(c.a));
      if (c.out.sharded()) OPWRIGHT_CHECK(same_as_a(c));
    } else {
      OPWRIGHT_REQUIRE(!p.transpose_mcast, "{}: Transpose MCAST not supported with HEIGHT_SHARDED layout", c.name);
      OPWRIGHT_REQUIRE(c.o.k_tiles == p.in0_block_w, "{}: K ({}) must equal in0_block_w ({})", c.name, c.o.k_tiles,
                       p.in0_block_w);
      const CoreRange box = c.a.shard ? bounding_box(c.a.shard->grid) : CoreRange{};
      OPWRIGHT_REQUIRE(box.start.x == box.end.x,
                       "{}: Grid bounding box x coordinates must match, got start: {} vs end: {}", c.name, box.start.x,
                       box.end.x);
    }
    OPWRIGHT_REQUIRE(p.per_core_m == c.a_shard[0] / 32,
                     "{}: per_core_M ({}) must equal shard_shape[0] ({}) / in0_tile height (32)", c.name, p.per_core_m,
                     c.a_shard[0]);
    OPWRIGHT_REQUIRE(c.a_shard[1] / 32 % p.in0_block_w == 0,
                     "{}: shard_shape[1] ({}) / in0_tile width (32) must be divisible by in0_block_w ({})", c.name,
                     c.a_shard[1], p.in0_block_w);
  }
  if (c.b.sharded()) {
    const bool dram = c.b.buffer.value == BufferType::kDram;
    OPWRIGHT_REQUIRE(!p.transpose_mcast, "{}: Transpose MCAST not supported when input B is sharded", c.name);
    const MemoryLayout layout = layout_of(c.b);
    OPWRIGHT_REQUIRE(layout == MemoryLayout::kWidthSharded || layout == MemoryLayout::kHeightSharded ||
                         (layout == MemoryLayout::kNdSharded && dram),
                     "{}: Input B memory layout must be WIDTH_SHARDED, HEIGHT_SHARDED, or DRAM ND_SHARDED, got: {}",
                     c.name, layout_text(c.b));
    if (layout == MemoryLayout::kHeightSharded) {
      OPWRIGHT_REQUIRE(dram, "{}: HEIGHT_SHARDED input B is only supported in DRAM, got: {}", c.name, buffer_text(c.b));
      OPWRIGHT_REQUIRE(!p.fuse_batch, "{}: HEIGHT_SHARDED input B requires fuse_batch=false for batched matmul",
                       c.name);
      const std::int64_t tall = c.b_shard[0] / 32;
      OPWRIGHT_REQUIRE(c.b_shard[1] / 32 == c.o.n_tiles,
                       "{}: HEIGHT_SHARDED input B shard width ({} tiles) must equal N ({} tiles)", c.name,
                       c.b_shard[1] / 32, c.o.n_tiles);
      OPWRIGHT_REQUIRE(tall >= c.o.k_tiles && tall % c.o.k_tiles == 0,
                       "{}: HEIGHT_SHARDED input B shard height ({} tiles) must be divisible by K ({} tiles)", c.name,
                       tall, c.o.k_tiles);
    }
    if (!dram) {
      OPWRIGHT_REQUIRE(
          !c.a.sharded() || layout_of(c.a) == MemoryLayout::kHeightSharded,
          "{}: non-DRAM width sharded input B requires input A to be interleaved or height sharded, rather "
          "than {}",
          c.name, layout_text(c.a));
      OPWRIGHT_REQUIRE(p.per_core_n == c.b_shard[1] / 32,
                       "{}: per_core_N ({}) must equal input B shard width in tiles ({})", c.name, p.per_core_n,
                       c.b_shard[1] / 32);
    }
    if (layout == MemoryLayout::kWidthSharded && c.b.shard) {
      const CoreRange box = bounding_box(c.b.shard->grid);
      OPWRIGHT_REQUIRE(
          box.start.y == box.end.y,
          "{}: Width-sharded input tensor B grid bounding box must have equal start and end y coordinates, got "
          "start: {} vs end: {}",
          c.name, box.start.y, box.end.y);
    }
  }
  if (c.out.sharded()) {
    OPWRIGHT_REQUIRE(layout_of(c.out) == MemoryLayout::kBlockSharded,
                     "{}: Output memory layout must be BLOCK_SHARDED, got: {}", c.name, layout_text(c.out));
    OPWRIGHT_CHECK(row_wise_output(c));
  }
  return {};
}

Checked<void> check_dram_sharded(const Case& c) {
  const MatmulProgram& p = c.p;
  OPWRIGHT_REQUIRE(c.a.sharded(), "{}: Input tensor A must be sharded for DRAM sharded program config", c.name);
  OPWRIGHT_REQUIRE(c.out.sharded(), "{}: Output memory config must be sharded for DRAM sharded program config", c.name);
  const bool batched = p.kind == Kind::kBatchedDram;
  OPWRIGHT_REQUIRE(layout_of(c.a) == (batched ? MemoryLayout::kHeightSharded : MemoryLayout::kWidthSharded),
                   "{}: Input A memory layout must be {}, got: {}", c.name,
                   batched ? "HEIGHT_SHARDED" : "WIDTH_SHARDED", layout_text(c.a));
  OPWRIGHT_CHECK(same_as_a(c));
  OPWRIGHT_REQUIRE(!col_major(c.a), "{}: Input A shard orientation must be ROW_MAJOR, got: {}", c.name,
                   orientation_text(c.a));
  if (!batched) {
    OPWRIGHT_REQUIRE(c.o.m_tiles == p.per_core_m, "{}: M ({}) must equal per_core_M ({})", c.name, c.o.m_tiles,
                     p.per_core_m);
    OPWRIGHT_REQUIRE(c.o.m_tiles == 1, "{}: currently only support in0 tensor height of tile height", c.name);
    OPWRIGHT_REQUIRE(p.per_core_m == c.a_shard[0] / 32,
                     "{}: per_core_M ({}) must equal shard_shape[0] ({}) / in0_tile height (32)", c.name, p.per_core_m,
                     c.a_shard[0]);
    OPWRIGHT_REQUIRE(c.a_shard[1] / 32 % p.in0_block_w == 0,
                     "{}: shard_shape[1] ({}) / in0_tile width (32) must be divisible by in0_block_w ({})", c.name,
                     c.a_shard[1], p.in0_block_w);
  }
  OPWRIGHT_REQUIRE(layout_of(c.b) == (batched ? MemoryLayout::kHeightSharded : MemoryLayout::kWidthSharded),
                   "{}: Input B memory layout must be {}, got: {}", c.name,
                   batched ? "HEIGHT_SHARDED" : "WIDTH_SHARDED", layout_text(c.b));
  return {};
}

Checked<void> check_reuse(const Case& c) {
  const MatmulProgram& p = c.p;
  const std::int64_t m = c.o.m_tiles;
  if (p.per_core_m > m) {
    OPWRIGHT_REQUIRE(p.per_core_m % m == 0, "{}: per_core_M, {}, must be a multiple of M, {} if per_core_M > M!",
                     c.name, p.per_core_m, m);
    OPWRIGHT_REQUIRE(m * c.o.batch_a % p.per_core_m == 0,
                     "{}: input a total height, {}, must be divisible by per_core_M, {}!", c.name, m * c.o.batch_a,
                     p.per_core_m);
  } else {
    OPWRIGHT_REQUIRE(m % p.per_core_m == 0, "{}: per_core_M, {}, must divide M, {}, if per_core_M < M!", c.name,
                     p.per_core_m, m);
  }
  OPWRIGHT_REQUIRE(c.o.n_tiles == p.per_core_n, "{}: N ({}) must equal per_core_N ({})", c.name, c.o.n_tiles,
                   p.per_core_n);
  if (c.a.sharded()) {
    OPWRIGHT_REQUIRE(layout_of(c.a) != MemoryLayout::kWidthSharded, "{}: input A must not be WIDTH_SHARDED", c.name);
    OPWRIGHT_REQUIRE(c.o.k_tiles * 32 == c.a_shard[1], "{}: K ({}) must equal shard_shape[1] ({})", c.name,
                     c.o.k_tiles * 32, c.a_shard[1]);
    OPWRIGHT_REQUIRE(c.a_shard[1] == p.in0_block_w * 32, "{}: shard_shape[1] ({}) must equal in0_block_w ({}) * 32",
                     c.name, c.a_shard[1], p.in0_block_w);
    OPWRIGHT_REQUIRE(p.per_core_m * 32 == c.a_shard[0], "{}: per_core_M ({}) * 32 must equal shard_shape[0] ({})",
                     c.name, p.per_core_m, c.a_shard[0]);
    if (c.b.sharded()) {
      OPWRIGHT_REQUIRE(c.a.buffer.value == c.b.buffer.value && layout_of(c.a) == layout_of(c.b) && c.a.shard &&
                           c.b.shard && c.a.shard->grid == c.b.shard->grid && col_major(c.a) == col_major(c.b),
                       "{}: Input tensors A and B must have matching buffer types, memory layouts, shard grids and "
                       "orientations",
                       c.name);
    }
    if (c.out.sharded()) OPWRIGHT_CHECK(same_as_a(c));
  }
  OPWRIGHT_REQUIRE(c.o.batch_a == 1 || c.o.batch_b > 1,
                   "{}: Batch broadcasting is not supported for the chosen program config", c.name);
  OPWRIGHT_REQUIRE(
      c.o.batch_a == 1 || m % p.out_subblock_h == 0,
      "{}: out_subblock_h ({}) needs to divide M ({}) evenly and does not. Please update your program config.", c.name,
      p.out_subblock_h, m);
  if (c.b.sharded()) {
    OPWRIGHT_REQUIRE(p.per_core_m % m == 0, "{}: per_core_M must be a multiple of M if input b is sharded!", c.name);
    OPWRIGHT_REQUIRE(layout_of(c.b) != MemoryLayout::kWidthSharded,
                     "{}: Input B memory layout must not be WIDTH_SHARDED, got: {}", c.name, layout_text(c.b));
    OPWRIGHT_REQUIRE(c.b_shard[1] == c.o.n_tiles * 32,
                     "{}: Input B shard shape[1] ({}) must equal padded shape[-1] ({})", c.name, c.b_shard[1],
                     c.o.n_tiles * 32);
    OPWRIGHT_REQUIRE(c.b_shard[0] % (c.o.k_tiles * 32) == 0,
                     "{}: Input B shard shape[0] ({}) must be divisible by K ({})", c.name, c.b_shard[0],
                     c.o.k_tiles * 32);
  }
  if (c.out.sharded()) {
    OPWRIGHT_REQUIRE(layout_of(c.out) != MemoryLayout::kWidthSharded,
                     "{}: Output memory layout must not be WIDTH_SHARDED, got: {}", c.name, layout_text(c.out));
    OPWRIGHT_REQUIRE(p.out_subblock_w == p.per_core_n || p.out_subblock_h == 1,
                     "{}: Either out_subblock_w ({}) must equal per_core_N ({}) or out_subblock_h ({}) must be 1",
                     c.name, p.out_subblock_w, p.per_core_n, p.out_subblock_h);
  }
  return {};
}

}  // namespace

Checked<void> check_program(const MatmulProgram& program, const MatmulOperands& operands, const MemoryConfig& out,
                            const ComputeConfig& compute, const Board& board) {
  Case c{program,
         operands,
         out,
         board,
         operands.a->memory.value_or(MemoryConfig{}),
         operands.b->memory.value_or(MemoryConfig{}),
         {0, 0},
         {0, 0},
         name_of(program.kind)};
  if (c.a.shard && c.a.shard->shape.size() == 2) c.a_shard = c.a.shard->shape;
  if (c.b.shard && c.b.shard->shape.size() == 2) c.b_shard = c.b.shard->shape;
  if (program.kind == Kind::kUnknown) return {};
  if (program.kind == Kind::kMultiCore) {
    OPWRIGHT_REQUIRE(!c.a.sharded(), "Input A memory layout must be INTERLEAVED, got: {}", layout_text(c.a));
    OPWRIGHT_REQUIRE(!c.b.sharded(), "Input B memory layout must be INTERLEAVED, got: {}", layout_text(c.b));
    OPWRIGHT_REQUIRE(!out.sharded(), "Output memory layout must be INTERLEAVED, got: {}", layout_text(out));
    return {};
  }
  OPWRIGHT_CHECK(blocks(c, compute));
  if (program.fuse_batch && (program.kind == Kind::kMcast1D || program.kind == Kind::kMcast2D))
    OPWRIGHT_REQUIRE(
        operands.batch_b == 1,
        "{}: Matmul with fused batch requires input tensors of shapes BCMK*11KN=BCMN or equivalent. Please "
        "change the second input tensor or adjust the program config.",
        c.name);
  switch (program.kind) {
    case Kind::kMcast1D:
      return check_mcast_1d(c);
    case Kind::kMcast2D:
      return check_mcast_2d(c);
    case Kind::kDramSharded:
    case Kind::kBatchedDram:
      return check_dram_sharded(c);
    default:
      return check_reuse(c);
  }
}

}  // namespace opwright
