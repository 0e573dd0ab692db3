#include "ops/shared/norm_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

std::string dtype_text(const TensorSpec& spec) { return fmt::format("DataType::{}", name_of(spec.dtype.value)); }
std::string memory_text(const MemoryConfig& memory) {
  return fmt::format("TensorMemoryLayout::{}", name_of(memory.layout.value));
}
std::string place_text(const MemoryConfig& memory) {
  return fmt::format("BufferType::{}", name_of(memory.buffer.value));
}

std::int64_t integer_in(const Value& value, std::int64_t otherwise) {
  if (const std::int64_t* i = value.as_int()) return *i;
  if (const bool* b = value.as_bool()) return *b ? 1 : 0;
  return otherwise;
}

CoreCoord grid_in(const Value& value) {
  const Fields* fields = value.as_struct() != nullptr ? &value.as_struct()->fields : value.as_dict();
  CoreCoord out{0, 0};
  if (fields != nullptr) {
    for (const auto& [name, field] : *fields) {
      if (name == "x") out.x = integer_in(field, 0);
      if (name == "y") out.y = integer_in(field, 0);
    }
    if (fields->size() == 1 && fields->front().second.as_list() != nullptr) return grid_in(fields->front().second);
  } else if (const List* list = value.as_list(); list != nullptr && list->size() == 2) {
    out = {integer_in((*list)[0], 0), integer_in((*list)[1], 0)};
  }
  return out;
}

struct Bounds {
  CoreCoord start;
  CoreCoord end;
  std::int64_t columns() const { return end.x - start.x + 1; }
  std::int64_t rows() const { return end.y - start.y + 1; }
};

Bounds bounding_box(const std::vector<CoreRange>& grid) {
  Bounds out{grid.front().start, grid.front().end};
  for (const CoreRange& range : grid) {
    out.start = {std::min(out.start.x, range.start.x), std::min(out.start.y, range.start.y)};
    out.end = {std::max(out.end.x, range.end.x), std::max(out.end.y, range.end.y)};
  }
  return out;
}

// One of weight and bias; `name` as the messages call it.
Checked<void> check_weight(const TensorSpec& input, const TensorSpec& weight, std::string_view name,
                           std::string_view what) {
  const Shape padded = padded_shape(input);
  const Shape other = padded_shape(weight);
  const std::int64_t width = last(padded);
  const std::string lower = name == "Gamma" ? "gamma" : "beta";
  if (tiled(weight)) {
    OPWRIGHT_REQUIRE(width == last(other) && last(weight.shape) >= last(input.shape),
                     "Input and {} padded widths must match and {} logical width must be >= input logical width "
                     "(otherwise valid input columns would be {} by {} padding). Got input: logical[-1]={} "
                     "padded[-1]={} vs {}: logical[-1]={} padded[-1]={}",
                     lower, lower, what, lower, last(input.shape), width, lower, last(weight.shape), last(other));
    OPWRIGHT_REQUIRE(last(other, 2) == kTile, "{} tensor height must equal tile height ({}), got: {}", name, kTile,
                     last(other, 2));
    return {};
  }
  const std::int64_t count = volume(other);
  if (name == "Gamma") {
    OPWRIGHT_REQUIRE(last(other) == kTile && count / kTile == width / kTile,
                     "Gamma's last padded dim needs to equal tile width and gamma's volume needs to align with last "
                     "padded dim of input. Error with gamma.value().padded_shape(): {}, tile_width: {}, "
                     "gamma.value().physical_volume(): {}, a.padded_shape(): {}",
                     shape_text(other), kTile, count, shape_text(padded));
  } else {
    OPWRIGHT_REQUIRE(last(other) == kTile && count / kTile == width / kTile,
                     "Beta tensor dimensions must align with input tensor. Got beta padded shape: {}, physical volume: "
                     "{}, input padded shape: {}, tile_width: {}",
                     last(other), count, width, kTile);
  }
  OPWRIGHT_REQUIRE(weight.dtype.value == DType::kFloat32 || weight.dtype.value == DType::kBfloat16,
                   "{} tensor must be FLOAT32 or BFLOAT16, got: {}", name, dtype_text(weight));
  return {};
}

Checked<void> check_residual(const TensorSpec& input, const TensorSpec& residual) {
  OPWRIGHT_REQUIRE(tiled(residual), "Residual tensor must have TILE layout, got: Layout::{}",
                   name_of(residual.layout.value));
  OPWRIGHT_REQUIRE(input.shape == residual.shape && padded_shape(input) == padded_shape(residual),
                   "Input and residual logical and padded shapes must match, got input: logical={} padded={} vs "
                   "residual: logical={} padded={}",
                   shape_text(input.shape), shape_text(padded_shape(input)), shape_text(residual.shape),
                   shape_text(padded_shape(residual)));
  return {};
}

// Blocks of the program configuration against tensor and shards.
Checked<void> check_blocks(const TensorSpec& input, const ShardedProgram& program, const ComputeConfig& config) {
  const Shape2D physical = physical_shape(input);
  const std::int64_t height = physical.height / kTile;
  const std::int64_t width = physical.width / kTile;
  const ShardSpec& shard = *shard_of(input);
  const Bounds box = bounding_box(shard.grid);
  OPWRIGHT_REQUIRE(program.subblock_w > 0, "subblock_w must be greater than 0.");
  OPWRIGHT_REQUIRE(program.block_w % program.subblock_w == 0, "block_w must be divisible by subblock_w.");
  if (physical.height == program.block_h * kTile) {
    const std::int64_t wanted = div_up(width, core_count(shard.grid));
    OPWRIGHT_REQUIRE(wanted == program.block_w, "block_w ({}) must equal to K (in tiles) / num_cores ({})",
                     program.block_w, wanted);
  } else {
    const bool row_wise = shard.orientation.value != Orientation::kColMajor;
    const std::int64_t columns = row_wise ? box.columns() : box.rows();
    const std::int64_t rows = row_wise ? box.rows() : box.columns();
    OPWRIGHT_REQUIRE(div_up(width, columns) == program.block_w,
                     "block_w ({}) must equal to K (in tiles) / num_cores_c ({})", program.block_w,
                     div_up(width, columns));
    OPWRIGHT_REQUIRE(div_up(height, rows) == program.block_h,
                     "block_h ({}) must equal ceil(Mt / num_cores_r) ({}); Mt={}, num_cores_r={}", program.block_h,
                     div_up(height, rows), height, rows);
  }
  const std::int64_t room = (config.fp32_acc ? 4 : 8) * (config.dst_full_sync ? 2 : 1);
  OPWRIGHT_REQUIRE(program.subblock_w <= room,
                   "subblock_wt={}, but subblock width must less than {} tiles in {} mode when dst_full_sync_en is {}",
                   program.subblock_w, room, config.fp32_acc ? "fp32" : "fp16", config.dst_full_sync);
  return {};
}

// A sharded input: cut by the program configuration that is named, or by one made from its shards.
Checked<void> check_sharded_norm(const TensorSpec& input, const MemoryConfig& out, const NormProgram& program,
                                 const ComputeConfig& config, const Board& board) {
  const MemoryConfig memory = memory_of(input);
  OPWRIGHT_REQUIRE(program.choice != ProgramChoice::kDefault, "std::get: wrong index for variant");
  OPWRIGHT_REQUIRE(memory.buffer == out.buffer, "Input and output buffer types must match, got input: {} vs output: {}",
                   place_text(memory), place_text(out));
  OPWRIGHT_REQUIRE(memory.layout == out.layout,
                   "Input and output memory layouts must match, got input: {} vs output: {}", memory_text(memory),
                   memory_text(out));
  OPWRIGHT_REQUIRE(shard_of(input) != nullptr && !shard_of(input)->grid.empty(), "bad optional access");
  const Bounds box = bounding_box(shard_of(input)->grid);
  const CoreCoord grid =
      program.choice == ProgramChoice::kSharded ? program.sharded.grid : CoreCoord{box.columns(), box.rows()};
  OPWRIGHT_CHECK(check_sharded_input(input, grid, board));
  if (program.choice == ProgramChoice::kSharded) OPWRIGHT_CHECK(check_blocks(input, program.sharded, config));
  OPWRIGHT_REQUIRE(
      in_l1(memory),
      "DFB 'in0' borrows memory from TensorParameter 'input', but its TensorSpec is not L1-resident (L1 is "
      "required). Both L1 and L1_SMALL are accepted.");
  return {};
}

}  // namespace

Checked<NormProgram> norm_program(const BoundCall& call) {
  NormProgram out;
  if (!call.passed("program_config")) return out;
  const Value& value = *call.find("program_config");
  const Struct* config = value.as_struct();
  if (config == nullptr || config->type.find("ProgramConfig") == std::string::npos)
    return type_error(call.op, "program_config", value);
  const bool sharded_config = config->type.find("Sharded") != std::string::npos;
  out.choice = sharded_config ? ProgramChoice::kSharded : ProgramChoice::kDefault;
  for (const auto& [name, field] : config->fields) {
    if (name == "compute_with_storage_grid_size") out.sharded.grid = grid_in(field);
    if (name == "subblock_w") out.sharded.subblock_w = integer_in(field, 1);
    if (name == "block_h") out.sharded.block_h = integer_in(field, 0);
    if (name == "block_w") out.sharded.block_w = integer_in(field, 0);
    if (name == "inplace") out.sharded.inplace = integer_in(field, 0) != 0;
    if (name == "use_welford") out.welford = integer_in(field, 0) != 0;
  }
  return out;
}

bool legacy_rsqrt(const BoundCall& call) {
  const Value* program = call.find("program_config");
  const Struct* config = program == nullptr ? nullptr : program->as_struct();
  if (config == nullptr) return false;
  return std::ranges::any_of(config->fields, [](const auto& field) {
    return field.first == "legacy_rsqrt" && integer_in(field.second, 0) != 0;
  });
}

Checked<void> check_sharded_input(const TensorSpec& input, CoreCoord program_grid, const Board& board) {
  const ShardSpec* shard = shard_of(input);
  OPWRIGHT_REQUIRE(shard != nullptr && !shard->grid.empty() && shard->shape.size() == 2, "bad optional access");
  OPWRIGHT_REQUIRE(
      program_grid.x > 0 && program_grid.y > 0 && program_grid.x <= board.grid.x && program_grid.y <= board.grid.y,
      "program_config grid ({}x{}) must be contained within device grid ({}x{})", program_grid.x, program_grid.y,
      board.grid.x, board.grid.y);
  const Bounds box = bounding_box(shard->grid);
  OPWRIGHT_REQUIRE(box.columns() <= program_grid.x && box.rows() <= program_grid.y,
                   "shard_spec.grid size {}x{} does not fit within program_config grid {}x{}", box.columns(),
                   box.rows(), program_grid.x, program_grid.y);
  const std::int64_t shard_h = shard->shape[0];
  const std::int64_t shard_w = shard->shape[1];
  OPWRIGHT_REQUIRE(shard_h > 0 && shard_w > 0, "shard shape must be non-zero, got H={} W={}", shard_h, shard_w);
  OPWRIGHT_REQUIRE(shard_h % kTile == 0, "shard height {} must be divisible by tile height {}", shard_h, kTile);
  const Shape2D physical = physical_shape(input);
  const std::int64_t cores = core_count(shard->grid);
  const MemoryLayout layout = memory_of(input).layout.value;
  std::int64_t down = div_up(physical.height, shard_h);
  std::int64_t across = div_up(physical.width, shard_w);
  if (layout == MemoryLayout::kHeightSharded) {
    down = cores;
    across = 1;
  } else if (layout == MemoryLayout::kWidthSharded) {
    down = 1;
    across = cores;
  }
  OPWRIGHT_REQUIRE(down * across == cores, "Shard layout requires {}x{} = {} shards but shard grid has {} cores", down,
                   across, down * across, cores);
  OPWRIGHT_REQUIRE(
      down * shard_h >= physical.height && down * shard_h - physical.height < shard_h,
      "Shard-padded height ({}x{} = {}) does not align with tensor height {}: trailing pad {} must be less "
      "than one shard height ({})",
      down, shard_h, down * shard_h, physical.height, down * shard_h - physical.height, shard_h);
  OPWRIGHT_REQUIRE(across * shard_w >= physical.width && across * shard_w - physical.width < shard_w,
                   "Shard-padded width ({}x{} = {}) does not align with tensor width {}: trailing pad {} must be less "
                   "than one shard width ({})",
                   across, shard_w, across * shard_w, physical.width, across * shard_w - physical.width, shard_w);
  return {};
}

Checked<void> check_norm_weights(const BoundCall& call, const TensorSpec& input) {
  const TensorSpec* gamma = call.tensor("weight");
  const TensorSpec* beta = call.tensor("bias");
  for (const std::string_view param : {"weight", "bias"})
    if (call.passed(param) && call.tensor(param) == nullptr) return type_error(call.op, param, *call.find(param));
  if (gamma != nullptr) {
    OPWRIGHT_CHECK(check_weight(input, *gamma, "Gamma", "multiplied"));
    if (beta != nullptr) OPWRIGHT_REQUIRE(gamma->layout == beta->layout, "Gamma and beta must have the same layout!");
  }
  if (beta != nullptr) OPWRIGHT_CHECK(check_weight(input, *beta, "Beta", "offset"));
  return {};
}

Checked<void> check_distributed_shards(const BoundCall& call, const TensorSpec& input, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(NormProgram program, norm_program(call));
  const bool forgotten = std::ranges::find(call.assumed, "program_config") != call.assumed.end();
  OPWRIGHT_REQUIRE(program.choice == ProgramChoice::kSharded || forgotten, "std::get: wrong index for variant");
  const MemoryConfig memory = memory_of(input);
  OPWRIGHT_REQUIRE(memory.layout.value != MemoryLayout::kHeightSharded, "Height sharded inputs are not supported.");
  OPWRIGHT_REQUIRE(last(padded_shape(input), 2) == kTile, "Only activations with batch size = 32 are supported");
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(call, {}));
  return check_sharded_norm(input, memory, program, config, board);
}

Checked<std::vector<OutputSpec>> infer_row_norm(const BoundCall& call, const Board& board, NormKind kind) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK(call.number("epsilon", 1e-12));
  if (call.find("epsilon") != nullptr && call.find("epsilon")->is_null() && call.convention == Convention::kPython)
    return type_error(call.op, "epsilon", *call.find("epsilon"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const NormProgram program, norm_program(call));
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(call, {.fp32_acc = kind == NormKind::kLayer}));
  const TensorSpec* residual = call.tensor("residual_input_tensor");
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  const MemoryConfig memory = memory_of(*input);
  const bool cut = memory.sharded();
  if (kind == NormKind::kRms)
    OPWRIGHT_REQUIRE(tiled(*input), "ttnn::rms_norm does not support ROW_MAJOR input tensors. Use TILE layout.");
  else
    OPWRIGHT_REQUIRE(!input->shape.empty(), "LayerNorm operation not supported for 0D tensors. (rank=0)");
  MemoryConfig out = asked == nullptr ? memory : *asked;
  // Nothing to normalise: the library gives back as much.
  if (volume(input->shape) == 0) return made(moved(*input, input->shape, std::move(out)), board);
  OPWRIGHT_REQUIRE(tiled(*input) || !cut,
                   "Input tensor must have TILE layout (ROW_MAJOR is only supported for non-sharded tensors), got: "
                   "Layout::{}",
                   name_of(input->layout.value));
  OPWRIGHT_REQUIRE(tiled(*input) || last(input->shape) % kTile == 0,
                   "ROW_MAJOR input requires W ({}) to be a multiple of tile width ({})", last(input->shape), kTile);
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: {}", dtype_text(*input));
  if (residual != nullptr) OPWRIGHT_CHECK(check_residual(*input, *residual));
  OPWRIGHT_CHECK(check_norm_weights(call, *input));
  if (cut) {
    OPWRIGHT_REQUIRE(memory.layout.value != MemoryLayout::kHeightSharded, "Height sharded inputs are not supported.");
    OPWRIGHT_REQUIRE(out.sharded() && out.layout.value != MemoryLayout::kHeightSharded,
                     "Sharded inputs require sharded outputs.");
    if (residual != nullptr) {
      OPWRIGHT_REQUIRE(sharded(*residual), "residual tensor b should be sharded if input a is sharded");
      OPWRIGHT_REQUIRE(same_memory(memory, memory_of(*residual)), "Both a and b should have the same shard spec");
    }
  }
  OPWRIGHT_REQUIRE(!program.welford || tiled(*input),
                   "LayerNorm with use_welford=True requires TILE input; the SFPU two-pass kernels do not implement "
                   "ROW_MAJOR input tilization.");
  OPWRIGHT_REQUIRE(!program.welford || kind != NormKind::kRms, "Welford's algorithm is not supported for RMSNorm");
  if (cut) {
    OPWRIGHT_CHECK(check_sharded_norm(*input, out, program, config, board));
    if (!out.shard || program.sharded.inplace) out = memory;
  } else if (program.choice == ProgramChoice::kSharded) {
    OPWRIGHT_REQUIRE(memory.buffer == out.buffer,
                     "Input and output buffer types must match, got input: {} vs output: {}", place_text(memory),
                     place_text(out));
    return refuse("bad optional access");
  }
  OPWRIGHT_REQUIRE(!out.sharded() || out.shard || out.nd_shard, "bad optional access");
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(moved(*input, input->shape, std::move(out)), board));
  if (program.sharded.inplace) outputs[0].alias = "input_tensor";
  return outputs;
}

}  // namespace opwright
