#include "ops/shared/matmul_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dialect/ttnn/matmul_operands.h"
#include "model/host_tensor.h"
#include "ops/shared/activation.h"
#include "ops/shared/matmul_exact.h"

namespace opwright {
namespace {

using Kind = MatmulProgram::Kind;

bool deallocated(const TensorSpec& spec) {
  return std::ranges::any_of(spec.more, [](const auto& field) {
    const bool* flag = field.second.as_bool();
    return field.first == "deallocated" && flag != nullptr && *flag;
  });
}

Checked<void> check_operands(const MatmulOperands& o) {
  OPWRIGHT_REQUIRE(o.a->storage.value != StorageType::kHost && !deallocated(*o.a),
                   "Operand to matmul must be on device");
  OPWRIGHT_REQUIRE(o.b->storage.value != StorageType::kHost, "Operands to matmul need to be on device!");
  OPWRIGHT_REQUIRE(!deallocated(*o.b), "Input Tensor is not allocated");
  return {};
}

Checked<void> check_matrices(const MatmulOperands& o) {
  OPWRIGHT_REQUIRE(o.a->layout.value != Layout::kRowMajor && o.b->layout.value != Layout::kRowMajor,
                   "Inputs to matmul must be tilized");
  OPWRIGHT_REQUIRE(!is_integer(o.a->dtype.value), "Unsupported data format for input A: DataType::{}",
                   name_of(o.a->dtype.value));
  OPWRIGHT_REQUIRE(!is_integer(o.b->dtype.value), "Unsupported data format for input B: DataType::{}",
                   name_of(o.b->dtype.value));
  OPWRIGHT_REQUIRE(o.a_shape.back() == o.b_shape[o.b_shape.size() - 2],
                   "The width of the first tensor must be equal to the height of the second tensor. Mismatch: width={} "
                   "height={}",
                   o.a_shape.back(), o.b_shape[o.b_shape.size() - 2]);
  return {};
}

Checked<Shape> output_shape(const MatmulOperands& o) {
  const Shape& a = o.a_shape;
  const Shape& b = o.b_shape;
  Shape out = b.size() > a.size() ? b : a;
  const std::size_t ahead = out.size() - a.size();
  for (std::size_t i = 0; i < ahead; ++i)
    OPWRIGHT_REQUIRE(b[i] == 1, "When in1 rank greater than in0 rank front dimensions need to be 1");
  for (std::size_t i = 0; i + 1 < a.size(); ++i) out[ahead + i] = a[i];
  out.back() = b.back();
  if (a.size() == b.size() && o.batch_a == 1)
    for (std::size_t i = 0; i + 2 < a.size(); ++i) out[i] = b[i];
  // A vector is a matrix of one row or column that the result does not show.
  if (o.a->shape.size() == 1) out.erase(out.end() - 2);
  if (o.b->shape.size() == 1) out.pop_back();
  return out;
}

Checked<void> check_batches(const MatmulOperands& o, const MatmulProgram& program, bool activation) {
  const bool broadcast = o.batch_b == 1 && (program.kind != Kind::kReuse || o.batch_a > 1);
  if (broadcast) return {};
  const Shape& a = o.a_shape;
  const Shape& b = o.b_shape;
  OPWRIGHT_REQUIRE(
      a.size() == b.size(),
      "Batched (non-bcast) matmul requires inputs of the same rank, got a_shape rank: {} vs b_shape rank: {}", a.size(),
      b.size());
  const bool reuse = program.kind == Kind::kMcast1D && !program.fuse_batch && !activation && !program.mcast_in0 &&
                     o.batch_a == 1 && !sharded(*o.a) && !sharded(*o.b);
  for (std::size_t i = 0; i + 2 < a.size(); ++i)
    OPWRIGHT_REQUIRE(
        a[i] == b[i] || (a[i] == 1 && reuse),
        "bmm (non-bcast matmul) expects input tensors of shapes BCMK*BCKN=BCMN or batch dimension {} mismatch: "
        "a={} vs b={} (dimension mismatch only allowed when all batch dimensions of a are size 1 and using "
        "MatmulMultiCoreReuseMultiCast1DProgramConfig with fuse_batch=false, fused_activation=none, "
        "mcast_in0=false, and non-sharded inputs for in0 reuse optimization)",
        i, a[i], b[i]);
  return {};
}

// A sharded output lies as the program leaves it; only what the call says of layout and buffer counts.
Checked<MemoryConfig> output_memory(const MatmulProgram& p, const MatmulOperands& o, const MemoryConfig& wanted,
                                    const Board& board) {
  if (!wanted.sharded()) return wanted;
  MemoryConfig out = wanted;
  out.nd_shard.reset();
  const std::int64_t m = o.m_tiles * o.batch_a;
  ShardSpec shard;
  shard.shape = {p.per_core_m * 32, p.per_core_n * 32};
  shard.orientation.value = Orientation::kRowMajor;
  switch (p.kind) {
    case Kind::kMultiCore:
      return refuse("Unsupported op for output sharding");
    case Kind::kUnknown:
      if (!out.shard)
        return unsupported("program_config", "the trace lost its type, so the output's shards are unknown");
      return out;
    case Kind::kBatchedDram:
      OPWRIGHT_REQUIRE(wanted.shard, "Output memory config must have a shard spec for batched DRAM sharded matmul");
      return wanted;
    case Kind::kMcast1D: {
      if (p.gather_in0) return wanted;
      if (wanted.layout.value == MemoryLayout::kBlockSharded && wanted.shard) {
        const CoreRange box = bounding_box(wanted.shard->grid);
        const bool column = box.start.x == box.end.x;
        if (column || box.start.y == box.end.y) {
          out.layout.value = column ? MemoryLayout::kHeightSharded : MemoryLayout::kWidthSharded;
          return out;
        }
      }
      const std::int64_t rows = div_up(p.fuse_batch ? m : o.m_tiles, p.per_core_m);
      shard.grid = first_cores(rows * div_up(o.n_tiles, p.per_core_n), p.grid, true);
      break;
    }
    case Kind::kDramSharded: {
      const std::int64_t per_core_k =
          o.a->memory && o.a->memory->shard ? o.a->memory->shard->shape[1] / 32 : std::int64_t{0};
      OPWRIGHT_REQUIRE(per_core_k > 0, "bad optional access");
      OPWRIGHT_REQUIRE(
          o.k_tiles % per_core_k == 0,
          "in DRAM sharded Matmul we don't have support for un-even sharding currently. K: {}, per_core_K: {}.",
          o.k_tiles, per_core_k);
      shard.grid = first_cores(div_up(m, p.per_core_m) * div_up(o.n_tiles, p.per_core_n), board.grid, true);
      break;
    }
    case Kind::kMcast2D: {
      const std::int64_t down = div_up(m, p.per_core_m);
      const std::int64_t across = div_up(o.n_tiles, p.per_core_n);
      // A block that is larger than the result ends with it.
      shard.shape = {std::min(p.per_core_m, m) * 32, std::min(p.per_core_n, o.n_tiles) * 32};
      const CoreCoord end = p.transpose_mcast ? CoreCoord{down - 1, across - 1} : CoreCoord{across - 1, down - 1};
      shard.grid = {{{0, 0}, end}};
      if (p.transpose_mcast) shard.orientation.value = Orientation::kColMajor;
      break;
    }
    case Kind::kReuse: {
      shard.orientation.value = Orientation::kColMajor;
      for (const TensorSpec* operand : {o.b, o.a})
        if (sharded(*operand) && operand->memory->shard)
          shard.orientation.value = operand->memory->shard->orientation.value == Orientation::kColMajor
                                        ? Orientation::kColMajor
                                        : Orientation::kRowMajor;
      const std::int64_t cores = div_up(m, p.per_core_m) * div_up(o.n_tiles, p.per_core_n);
      shard.grid = first_cores(cores, p.grid, shard.orientation.value == Orientation::kRowMajor);
      break;
    }
  }
  out.shard = std::move(shard);
  return out;
}

// A bias that is added apart follows the rules of an addition, one inside the product those of a row.
Checked<void> add_bias_shape(const TensorSpec& bias, bool apart, Shape& shape) {
  OPWRIGHT_REQUIRE(bias.storage.value != StorageType::kHost, "Operands to matmul need to be on device!");
  OPWRIGHT_REQUIRE(!deallocated(bias), "Input Tensor B is not allocated");
  Shape out = shape;
  while (out.size() < bias.shape.size()) out.insert(out.begin(), 1);
  for (std::size_t i = 0; i < bias.shape.size(); ++i) {
    std::int64_t& have = out[out.size() - 1 - i];
    const std::int64_t more = bias.shape[bias.shape.size() - 1 - i];
    if (!apart) OPWRIGHT_REQUIRE(have == more || have == 1 || more == 1, "Broadcast error: Invalid dimension");
    OPWRIGHT_REQUIRE(have == more || have == 1 || more == 1,
                     "Broadcasting rule violation at dimension index -{} (output rank {}), dim a: {}, dim b: {}", i + 1,
                     out.size(), have, more);
    have = have == 1 ? more : have;
  }
  shape = std::move(out);
  return {};
}

Checked<void> check_bias(const BoundCall& call, const TensorSpec& bias, bool apart, DType dtype, Shape& shape) {
  OPWRIGHT_CHECK(add_bias_shape(bias, apart, shape));
  if (apart && is_integer(dtype) != is_integer(bias.dtype.value))
    return refuse(
        fmt::format("Mixed dtype is not supported for binary operation BinaryOpType::ADD, dtype A: DataType::{}, "
                    "dtype B: DataType::{}",
                    name_of(dtype), name_of(bias.dtype.value)),
        "bias");
  if (!apart && is_integer(bias.dtype.value) && call.convention == Convention::kPython)
    return unsupported("bias", fmt::format("a bias of {}", name_of(bias.dtype.value)));
  return {};
}

Checked<void> check_output_tile(const BoundCall& call) {
  const Value* value = call.find("output_tile");
  if (value == nullptr || value->is_null()) return {};
  const List* list = value->as_list();
  if (const Struct* s = value->as_struct())
    for (const auto& [name, field] : s->fields)
      if (field.as_list() != nullptr) list = field.as_list();
  if (list == nullptr || list->size() != 2) return type_error(call.op, "output_tile", *value);
  const std::int64_t* height = (*list)[0].as_int();
  const std::int64_t* width = (*list)[1].as_int();
  if (height == nullptr || width == nullptr) return type_error(call.op, "output_tile", *value);
  OPWRIGHT_REQUIRE(*height == 32, "the override output tile height ({}) must equal to the in0 tile height (32)",
                   *height);
  OPWRIGHT_REQUIRE(*width == 32, "the override output tile width ({}) must equal the in0 tile width (32)", *width);
  return {};
}

// What a tensor for the result that the call brings along must be.
Checked<void> check_given_output(const BoundCall& call, const Shape& shape) {
  const TensorSpec* output = call.tensor("optional_output_tensor");
  if (output == nullptr) return {};
  OPWRIGHT_REQUIRE(output->shape == shape, "Shape of Optional Output Tensor {} doesn't match Output Tensor {}",
                   shape_text(output->shape), shape_text(shape));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, call.dtype("dtype", output->dtype.value));
  OPWRIGHT_REQUIRE(output->dtype.value == dtype,
                   "Type mismatch between optional output tensor DataType::{} & output tensor DataType::{}",
                   name_of(output->dtype.value), name_of(dtype));
  if (const MemoryConfig* memory = call.memory("memory_config"); memory != nullptr && output->memory)
    OPWRIGHT_REQUIRE(to_text(*memory) == to_text(*output->memory),
                     "Memory config mismatch between optional output tensor {} & output tensor {}",
                     to_text(*output->memory), to_text(*memory));
  return {};
}

Checked<std::vector<OutputSpec>> finish(Shape shape, DType dtype, Layout layout, MemoryConfig memory,
                                        const Board& board) {
  TensorSpec out;
  out.shape = std::move(shape);
  out.has_shape = true;
  out.dtype.value = dtype;
  out.layout.value = layout;
  out.storage.value = StorageType::kDevice;
  out.memory = std::move(memory);
  OPWRIGHT_CHECK(check_tensor(out, board));
  return std::vector{output_spec(std::move(out))};
}

}  // namespace

std::string layout_text(const MemoryConfig& memory) {
  return fmt::format("TensorMemoryLayout::{}", memory.sharded() ? name_of(memory.layout.value) : "INTERLEAVED");
}
std::string buffer_text(const MemoryConfig& memory) {
  return fmt::format("BufferType::{}", name_of(memory.buffer.value));
}

Checked<std::vector<OutputSpec>> infer_matmul(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MatmulOperands o, matmul_operands(call));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, matmul_dtype(call));
  if (const Value* value = call.find("memory_config");
      value != nullptr && !value->is_null() && value->as_memory() == nullptr)
    return type_error(call.op, "memory_config", *value);
  OPWRIGHT_CHECK_ASSIGN(const auto activations, exact_activations(call.find("activation"), "activation"));
  const bool activation = !activations.empty();
  if (activation && (sharded(*o.a) || sharded(*o.b)))
    return refuse(
        "Sharded matmul run with an activation: this should be placed in the program config's fused_activation "
        "field",
        "activation");
  if (call.passed("global_cb")) return unsupported("global_cb", "weights that stream through a global circular buffer");
  OPWRIGHT_CHECK(check_operands(o));
  OPWRIGHT_REQUIRE(!(call.passed("core_grid") && call.passed("program_config")),
                   "Cannot use both user core grid/coordinates and a program config");
  OPWRIGHT_CHECK(check_output_tile(call));
  const MemoryConfig memory = matmul_memory(call);
  OPWRIGHT_CHECK_ASSIGN(Shape shape, output_shape(o));
  const TensorSpec* bias = call.tensor("bias");
  if (volume(o.a->shape) == 0 || volume(o.b->shape) == 0) {
    OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard, "bad optional access");
    if (bias != nullptr) OPWRIGHT_CHECK(check_bias(call, *bias, true, dtype, shape));
    return finish(std::move(shape), dtype, o.a->layout.value, memory, board);
  }

  OPWRIGHT_CHECK_ASSIGN(const MatmulProgram program, matmul_program(call, board));
  OPWRIGHT_CHECK_ASSIGN(const auto fused, exact_activations(&program.fused_activation, "program_config"));
  if (call.passed("core_grid") && activation && o.batch_b > 1)
    return refuse("Cannot use activation with batched input b");
  OPWRIGHT_CHECK(check_matrices(o));
  const ComputeConfig compute = matmul_compute(call, board);
  OPWRIGHT_CHECK(check_batches(o, program, !fused.empty()));
  OPWRIGHT_CHECK(check_program(program, o, memory, compute, board));
  OPWRIGHT_CHECK_ASSIGN(MemoryConfig placed, output_memory(program, o, memory, board));
  if (bias != nullptr) OPWRIGHT_CHECK(check_bias(call, *bias, bias_apart(call), dtype, shape));
  OPWRIGHT_CHECK(check_given_output(call, shape));
  const Layout layout = program.untilize_out ? Layout::kRowMajor : Layout::kTile;
  return finish(std::move(shape), dtype, layout, std::move(placed), board);
}

ErrorBudget contraction_budget(const Contraction& c) {
  const int phases = static_cast<int>(c.config.fidelity) + 1;
  // Of the first operand the multiplier takes 7 bits below HiFi3, of the second 5 in LoFi; float32 operands lose what
  // the source registers do not hold; and the adder of 16 products has an end.
  const auto lost = [](DType dtype, int kept) {
    const int bits = dtype == DType::kBfloat4B ? 3 : dtype == DType::kBfloat8B ? 7 : dtype == DType::kFloat32 ? 11 : 8;
    return bits > kept ? std::ldexp(1.0, 1 - kept) - std::ldexp(1.0, 1 - bits) : 0.0;
  };
  ErrorBudget budget;
  budget.kind = ErrorBudget::Kind::kContraction;
  budget.terms = c.terms;
  budget.accumulator_bits = c.config.fp32_acc ? 24 : 8;
  budget.group = 16 / phases;
  budget.block = c.config.l1_acc ? c.block : 0;
  budget.relative = 0x1p-10;
  if (phases <= 2) budget.relative += lost(c.a, 7);
  if (phases == 1) budget.relative += lost(c.b, 5);
  for (const DType dtype : {c.a, c.b})
    if (dtype == DType::kFloat32) budget.relative += 0x1p-10;
  // What waits for a bias in bfloat4_b is cut, not rounded, and its neighbours may be larger than they end.
  budget.ulps = 1.0 + c.steps * (c.out == DType::kBfloat4B ? 2 : 1);
  // Without an accumulator of their own partial sums wait in the output's format, which a block float rounds each time.
  // Those roundings know nothing of each other: their errors grow with the root of their number.
  if (is_block_float(c.out) && !c.config.l1_acc && !c.config.fp32_acc && c.block > 0) {
    budget.ulps += std::sqrt(static_cast<double>((c.terms + c.block - 1) / c.block - 1));
  }
  budget.why = fmt::format("{} accumulation of {} terms, {}", c.config.fp32_acc ? "fp32" : "bf16", c.terms,
                           name_of(c.config.fidelity));
  return budget;
}

ErrorBudget matmul_budget(const BoundCall& call) {
  // Where no board is known the usual grid stands for it: it decides only where partial sums are cut.
  static const Board board = find_board("n150").value_or(Board{});
  const auto operands = matmul_operands(call);
  if (!operands) return {};
  const auto program = matmul_program(call, board);
  Contraction c{.terms = operands->a_shape.back(),
                .block = program ? program->in0_block_w * 32 : 0,
                .config = matmul_compute(call, board),
                .a = operands->a->dtype.value,
                .b = operands->b->dtype.value,
                .out = matmul_dtype(call).value_or(DType::kBfloat16)};
  if (call.passed("bias")) ++c.steps;
  ErrorBudget budget = contraction_budget(c);
  if (const auto functions = matmul_functions(call)) budget.after = after_error(*functions, c.out);
  return budget;
}

double matmul_work(const BoundCall& call) {
  const auto operands = matmul_operands(call);
  if (!operands) return 0.0;
  return static_cast<double>(operands->a_shape.back()) * static_cast<double>(operands->b_shape.back());
}

}  // namespace opwright
