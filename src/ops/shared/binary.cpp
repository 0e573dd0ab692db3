#include "ops/shared/binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ops/shared/activation.h"
#include "ops/shared/binary_dtypes.h"
#include "ops/shared/broadcast.h"
#include "ops/shared/eltwise.h"

namespace opwright {
namespace {

constexpr std::string_view kAfter = "activations";
constexpr std::string_view kOnFirst = "input_tensor_a_activations";
constexpr std::string_view kOnSecond = "input_tensor_b_activations";

constexpr std::int64_t kSharing = 16;  // neighbours of a row that share an exponent in block floats

struct Functions {  // that the call fuses
  std::vector<ExactActivation> first, second, after;
  bool any() const { return !first.empty() || !second.empty() || !after.empty(); }
};

Checked<Functions> functions_of(const BoundCall& call) {
  Functions out;
  OPWRIGHT_CHECK_ASSIGN(out.first, exact_activations(call.find(kOnFirst), kOnFirst));
  OPWRIGHT_CHECK_ASSIGN(out.second, exact_activations(call.find(kOnSecond), kOnSecond));
  OPWRIGHT_CHECK_ASSIGN(out.after, exact_activations(call.find(kAfter), kAfter));
  return out;
}

Checked<void> check_operand(const TensorSpec& spec, char letter, std::string_view param) {
  if (on_host(spec))
    return refuse(fmt::format("Input tensor {} must be on device, got storage type: StorageType::HOST", letter),
                  std::string(param));
  if (deallocated(spec)) return refuse(fmt::format("Input Tensor {} is not allocated", letter), std::string(param));
  return {};
}

// The library asks for the last two dimensions first, in other words.
Checked<Shape> check_broadcast(const Shape& a, const Shape& b) {
  const auto dim = [](const Shape& shape, std::size_t i) { return i < shape.size() ? shape[shape.size() - 1 - i] : 1; };
  const bool differ = dim(a, 0) != dim(b, 0) || dim(a, 1) != dim(b, 1);
  const bool stretch = dim(a, 0) == 1 || dim(a, 1) == 1 || dim(b, 0) == 1 || dim(b, 1) == 1;
  OPWRIGHT_REQUIRE(!differ || stretch, "Invalid subtile broadcast type");
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = dim(a, i);
    const std::int64_t y = dim(b, i);
    const auto index = -static_cast<std::int64_t>(i) - 1;
    OPWRIGHT_REQUIRE(x == y || x == 1 || y == 1,
                     "Broadcasting rule violation at dimension index {} (output rank {}), dim a: {}, dim b: {}", index,
                     rank, x, y);
    OPWRIGHT_REQUIRE(i < 6 || x == y,
                     "Broadcasting rule violation for rank >= 7 at dimension index {} (output rank {}), dim a: {}, dim "
                     "b: {}. Broadcast is supported up to rank 6.",
                     index, rank, x, y);
  }
  return *broadcast_shape(a, b);
}

// Row-major operands beside tiled ones are tilized where they lie.
Checked<TensorSpec> tilized(const TensorSpec& spec, const Board& board) {
  TensorSpec out = spec;
  out.layout.value = Layout::kTile;
  std::erase_if(out.more, [](const auto& field) { return field.first == "alignment"; });
  OPWRIGHT_CHECK(check_tensor(out, board));
  return out;
}

bool same_but_for_leading_ones(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y) return false;
  }
  return true;
}

struct Operands {
  TensorSpec a;
  std::optional<TensorSpec> b;  // absent: a number
  double scalar = 0;
};

Checked<Operands> operands_of(const BinaryOp& op, const BoundCall& call) {
  Operands out;
  const TensorSpec* a = call.tensor(op.first);
  if (a == nullptr && call.tensor(op.second) != nullptr && call.number(op.first, 0))
    return unsupported(std::string(op.first), fmt::format("{} with a number as first operand", call.op));
  if (a == nullptr) return type_error(call.op, op.first, call.find(op.first) ? *call.find(op.first) : Value());
  out.a = *a;
  if (const TensorSpec* b = call.tensor(op.second)) {
    out.b = *b;
  } else if (!op.takes_number) {
    return type_error(call.op, op.second, call.find(op.second) ? *call.find(op.second) : Value());
  } else {
    const bool* flag = call.passed(op.second) ? call.find(op.second)->as_bool() : nullptr;
    if (flag != nullptr) {
      out.scalar = *flag ? 1 : 0;
    } else {
      OPWRIGHT_CHECK_ASSIGN(out.scalar, call.number(op.second, 0));
    }
  }
  return out;
}

// Where the library runs its unary operation instead.
bool runs_unary(const BinaryOp& op, const Operands& of) { return op.dtypes == BinaryOp::Dtypes::kSame && !of.b; }

Checked<MemoryConfig> stretched_memory(const TensorSpec& spec, const Shape& shape) {
  MemoryConfig out = memory_of(spec);
  if (!out.sharded() || spec.shape == shape) return out;
  if (!out.shard) return unsupported("memory_config", "an ND shard spec that has to stretch");
  TensorSpec to = spec;
  to.shape = shape;
  OPWRIGHT_CHECK_ASSIGN(out.shard, eltwise::scaled_shard(*out.shard, padded_shape(spec), padded_shape(to)));
  out.nd_shard.reset();
  return out;
}

std::int64_t cores_in(const MemoryConfig& memory) { return memory.shard ? core_count(memory.shard->grid) : 0; }

// Without an asked config: that of A; B's where A is interleaved in DRAM or B has more cores.
Checked<MemoryConfig> default_memory(const Operands& of, const Shape& shape) {
  const MemoryConfig a = memory_of(of.a);
  if (of.b) {
    const MemoryConfig b = memory_of(*of.b);
    const bool other = a.sharded() ? cores_in(b) > cores_in(a) : a.buffer.value == BufferType::kDram;
    if (b.sharded() && other) return stretched_memory(*of.b, shape);
  }
  return stretched_memory(of.a, shape);
}

Checked<MemoryConfig> asked_memory(const MemoryConfig& asked, const Operands& of, const TensorSpec& out,
                                   const Board& board) {
  if (!asked.sharded() || asked.shard || asked.nd_shard) return asked;
  if (of.b && sharded(of.a)) return stretched_memory(of.a, out.shape);
  if (of.b && sharded(*of.b)) return stretched_memory(*of.b, out.shape);
  MemoryConfig spread = asked;
  spread.shard = sharded(of.a) ? memory_of(of.a).shard : eltwise::spread_shard(out, asked.layout.value, board);
  return spread;
}

}  // namespace

std::vector<Param> binary_params(const BinaryOp& op) {
  std::vector<Param> out{{.name = op.first, .era1 = 0, .required = true, .role = op.data},
                         {.name = op.second, .era1 = 1, .required = true, .role = op.data}};
  int next = 2;  // the in-place variants lack three parameters, and those behind them move up
  if (!op.in_place) {
    if (op.converts) out.push_back({.name = "dtype", .era1 = next++});
    out.push_back({.name = "memory_config", .era1 = next++});
    out.push_back({.name = "output_tensor", .era1 = next++, .role = Role::kBuffer});
  }
  for (const std::string_view functions : {kAfter, kOnFirst, kOnSecond})
    out.push_back({.name = functions, .era1 = next++, .lost = Lost::kAssumeNone});
  out.push_back({.name = "use_legacy", .era1 = next++, .lost = Lost::kNoMatter});
  out.push_back({.name = "sub_core_grids", .era1 = next, .lost = Lost::kNoMatter});
  out.push_back({.name = "sub_device_id", .lost = Lost::kNoMatter});
  out.push_back({.name = "fast_and_approximate_mode"});
  if (op.first == "input_a") {
    out.push_back({.name = "input_tensor_a"});
    out.push_back({.name = "input_tensor_b"});
  }
  if (!op.number.empty()) {
    out[1].place = 1;
    out.push_back({.name = op.number});
  }
  return out;
}

void rename_operand(BoundCall& call, std::string_view other, std::string_view name) {
  const Value* value = call.find(other);
  if (value == nullptr || call.find(name) != nullptr) return;
  call.set(name, Value(*value));
  call.erase(other);
}

Checked<std::vector<OutputSpec>> infer_binary(const BinaryOp& op, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(Operands of, operands_of(op, call));
  OPWRIGHT_CHECK(functions_of(call));
  OPWRIGHT_CHECK(call.flag("fast_and_approximate_mode", false));
  if (call.passed("memory_config") && call.memory("memory_config") == nullptr)
    return type_error(call.op, "memory_config", *call.find("memory_config"));
  OPWRIGHT_CHECK(check_operand(of.a, 'A', op.first));
  if (of.b) OPWRIGHT_CHECK(check_operand(*of.b, 'B', op.second));

  // The library looks at A's shards whether it needs them or not.
  OPWRIGHT_REQUIRE(!of.b || !sharded(of.a) || eltwise::has_elements(of.a), "Invalid from_shape: volume is zero");

  Shape shape = of.a.shape;
  if (of.b) {
    OPWRIGHT_CHECK_ASSIGN(shape, check_broadcast(of.a.shape, of.b->shape));
  }
  const bool row_major = of.a.layout.value == Layout::kRowMajor && (!of.b || of.b->layout.value == Layout::kRowMajor);

  const TensorSpec* given = op.in_place ? call.tensor(op.first) : call.tensor("output_tensor");
  if (!op.in_place && given == nullptr && call.passed("output_tensor"))
    return type_error(call.op, "output_tensor", *call.find("output_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const DType asked, call.dtype("dtype", DType::kAbsent));
  if (given != nullptr) {
    OPWRIGHT_REQUIRE(asked == DType::kAbsent || asked == given->dtype.value,
                     "If both output dtype and output tensor are provided, their dtypes should match");
    OPWRIGHT_REQUIRE(
        !row_major,
        "Optional output tensor with Row Major input is not supported right now for Elementwise operations");
  }
  for (TensorSpec* operand : {&of.a, of.b ? &*of.b : nullptr}) {
    if (operand == nullptr || operand->layout.value != Layout::kRowMajor) continue;
    // Shards are tilized on the way even where the result becomes row-major again.
    if (row_major && (!sharded(*operand) || runs_unary(op, of))) continue;
    OPWRIGHT_CHECK_ASSIGN(TensorSpec tiled, tilized(*operand, board));
    if (!row_major) *operand = std::move(tiled);
  }

  const auto dtype_b = of.b ? std::optional(of.b->dtype.value) : std::nullopt;
  OPWRIGHT_CHECK_ASSIGN(const BinaryDtypes dtypes, binary_dtypes(op, of.a.dtype.value, dtype_b, of.scalar));
  const bool integers = op.dtypes == BinaryOp::Dtypes::kQuotient && dtypes.a == DType::kInt32;
  const bool fraction = !of.b && of.scalar != std::trunc(of.scalar);
  OPWRIGHT_REQUIRE(!integers || !op.in_place || fraction || given->dtype.value == DType::kFloat32,
                   "For integer division, supported output dtype is FLOAT32");
  OPWRIGHT_REQUIRE(!integers || asked == DType::kAbsent || asked == DType::kFloat32,
                   "Incorrect output_dtype value for Integer Division(expected FLOAT32): {}",
                   eltwise::dtype_text(asked));

  if (given != nullptr) {
    OPWRIGHT_REQUIRE(same_but_for_leading_ones(given->shape, shape),
                     "Shape of Output tensor {} provided does not match the broadcasted output shape {}",
                     shape_text(given->shape), shape_text(shape));
    OPWRIGHT_CHECK_ASSIGN(auto outputs, eltwise::one_output(*given, board));
    outputs[0].alias = op.in_place ? op.first : "output_tensor";
    return outputs;
  }
  TensorSpec out = eltwise::device_tensor(shape, asked == DType::kAbsent ? dtypes.out : asked,
                                          row_major ? Layout::kRowMajor : Layout::kTile, {});
  out.tile = of.a.layout.value == Layout::kTile ? of.a.tile : std::nullopt;
  if (const MemoryConfig* memory = call.memory("memory_config")) {
    OPWRIGHT_CHECK_ASSIGN(out.memory, asked_memory(*memory, of, out, board));
  } else {
    OPWRIGHT_CHECK_ASSIGN(out.memory, default_memory(of, shape));
  }
  return eltwise::one_output(std::move(out), board);
}

namespace {

// One operand row by row, numbers included, with its functions applied.
class OperandRows {
 public:
  OperandRows(const HostTensor* tensor, double scalar, const Shape& shape, std::span<const ExactActivation> functions)
      : tensor_(tensor), rows_(tensor != nullptr ? tensor->spec.shape : Shape{}, shape), functions_(functions) {
    scalar_ = apply_all(functions, scalar);
    ends_at_zero_ =
        !functions.empty() && !(std::isfinite(apply_all(functions, 0.0)) && std::isfinite(apply_all(functions, -0.0)));
  }
  void select(std::int64_t row) { offset_ = tensor_ == nullptr ? 0 : rows_.offset(row); }
  double operator[](std::int64_t i) const {
    if (tensor_ == nullptr) return scalar_;
    return apply_all(functions_, tensor_->at(offset_ + (rows_.steps() ? i : 0)));
  }
  // How far what the function gives is off where it waits for the operator as a block float: a unit of its 16
  // neighbours. 0 in other formats.
  double stored_error(std::int64_t i, std::int64_t length) {
    if (tensor_ == nullptr || functions_.empty() || !is_block_float(tensor_->spec.dtype.value)) return 0;
    if (i % kSharing == 0) {
      double largest = 0;
      for (std::int64_t k = i; k < std::min(i + kSharing, length); ++k)
        if (const double size = std::abs((*this)[k]); std::isfinite(size)) largest = std::max(largest, size);
      stored_error_ = largest * 0x1p-6;
    }
    return stored_error_;
  }
  // Whether the function has no value at what devices may take the number for: they know no denormals, nor the sign of
  // 0.
  bool at_its_end(std::int64_t i) const {
    return ends_at_zero_ && tensor_ != nullptr && std::abs(tensor_->at(offset_ + (rows_.steps() ? i : 0))) < 0x1p-126;
  }

 private:
  const HostTensor* tensor_;
  BroadcastRows rows_;
  std::span<const ExactActivation> functions_;
  double scalar_ = 0;
  bool ends_at_zero_ = false;
  double stored_error_ = 0;
  std::int64_t offset_ = 0;
};

// How far off a quotient may be that a float32 register holds: three bits of it.
constexpr double kQuotientOff = 0x1p-20;

// What an integer dtype keeps of a result: its low bits.
double wrapped(double value, DType dtype) {
  if (!is_integer(dtype) || !std::isfinite(value)) return value;
  const double size = std::ldexp(1.0, static_cast<int>(element_bytes(dtype)) * 8);
  double out = std::fmod(std::trunc(value), size);
  const double low = dtype == DType::kInt32 ? -size / 2 : 0.0;
  if (out < low) out += size;
  if (out >= low + size) out -= size;
  return out;
}

}  // namespace

Checked<Exact> binary_reference(const BinaryOp& op, const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Operands of, operands_of(op, job.call));
  OPWRIGHT_CHECK_ASSIGN(const Functions functions, functions_of(job.call));
  const TensorSpec& spec = job.outputs[job.output].spec;
  const HostTensor& first = *job.input(op.first);
  const HostTensor* second = of.b ? job.input(op.second) : nullptr;
  OperandRows a(&first, 0, spec.shape, functions.first);
  OperandRows b(second, of.scalar, spec.shape, functions.second);

  Exact exact;
  const auto size = static_cast<std::size_t>(job.rows.count() * job.rows.length);
  exact.value.resize(size);
  const bool on_operand = !functions.first.empty() || !functions.second.empty();
  if (op.cancels || op.jumps || functions.any()) exact.magnitude.resize(size);
  const double relative = binary_budget(op, job.call, job.outputs).relative;
  // NaN of an operand's function goes through the matrix engine, which has only infinities; a float32 result shows it.
  const bool nan_is_open = on_operand && spec.dtype.value == DType::kFloat32;
  const bool integers = is_integer(spec.dtype.value);
  std::size_t at = 0;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    a.select(job.rows.at(r));
    b.select(job.rows.at(r));
    for (std::int64_t i = 0; i < job.rows.length; ++i, ++at) {
      const double x = a[i];
      const double y = b[i];
      const double plain = op.exact(x, y);
      exact.value[at] = integers ? wrapped(apply_all(functions.after, plain), spec.dtype.value) : plain;
      if (!exact.magnitude.empty())
        exact.magnitude[at] = op.cancels ? std::max(std::fabs(x), std::fabs(y)) : std::fabs(plain);
      if (op.jumps && !integers && relative > 0)
        for (const double led : {op.exact(x * (1 - kQuotientOff), y), op.exact(x * (1 + kQuotientOff), y)})
          if (const double off = std::abs(led - plain); std::isfinite(off))
            exact.magnitude[at] = std::max(exact.magnitude[at], std::fabs(plain) + off / relative);
      if (on_operand && relative > 0) {
        const double off_a = a.stored_error(i, job.rows.length), off_b = b.stored_error(i, job.rows.length);
        for (const double led :
             {op.exact(x - off_a, y), op.exact(x + off_a, y), op.exact(x, y - off_b), op.exact(x, y + off_b)})
          if (const double off = std::abs(led - plain); std::isfinite(off))
            exact.magnitude[at] = std::max(exact.magnitude[at], std::fabs(plain) + off / relative);
      }
      const bool gives_up = op.gives_up != nullptr && !integers && op.gives_up(x, y);
      if (gives_up) exact.value[at] = std::nan("");
      if (gives_up || a.at_its_end(i) || b.at_its_end(i) || (nan_is_open && std::isnan(plain)))
        exact.open.push_back(at);
    }
  }
  if (!integers) apply_after(functions.after, exact);
  std::ranges::sort(exact.open);
  return exact;
}

ErrorBudget binary_budget(const BinaryOp& op, const BoundCall& call, std::span<const OutputSpec> outputs) {
  const TensorSpec& out = outputs[0].spec;
  const auto functions = functions_of(call);
  const bool fused = functions && functions->any();
  const TensorSpec* a = call.tensor(op.first);
  const bool kept = !op.rounds && a != nullptr && a->dtype.value == out.dtype.value;
  if ((kept || is_integer(out.dtype.value)) && !fused)
    return {.kind = ErrorBudget::Kind::kExact, .why = kept ? "nothing to round" : "integer arithmetic"};

  ErrorBudget budget{
      .kind = ErrorBudget::Kind::kElementwise, .ulps = op.ulps, .floor = op.floor, .why = "one rounding of the result"};
  const TensorSpec* b = call.tensor(op.second);
  const bool narrow = out.dtype.value != DType::kFloat32 || a == nullptr || a->dtype.value != DType::kFloat32 ||
                      (b != nullptr && b->dtype.value != DType::kFloat32);
  // A 16-bit register holds 8 bits of each operand and of the result; otherwise operands lose what TF32 does not hold.
  if (narrow) budget.relative = out.dtype.value == DType::kFloat32 ? 0x1p-9 : 0x1p-8;
  if (op.jumps) budget.relative = std::max(budget.relative, kQuotientOff);
  if (b == nullptr && narrow) {
    budget.relative += 0x1p-7;
    budget.why += ", the number rounded to bfloat16";
  }
  if (fused) {
    if (!functions->first.empty() || !functions->second.empty()) budget.relative += 0x1p-6;
    budget.after = after_error(functions->after, out.dtype.value);
    budget.why += ", fused functions";
  }
  return budget;
}

}  // namespace opwright
