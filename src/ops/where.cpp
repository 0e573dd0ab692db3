#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "model/tensor_facts.h"
#include "ops/op.h"
#include "ops/shared/binary.h"
#include "ops/shared/broadcast.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr std::string_view kPredicate = "predicate";
constexpr std::string_view kTrue = "true_value";
constexpr std::string_view kFalse = "false_value";

// With one number the library runs a binary operation, with two a unary one.
constexpr auto kUnused = [](double a, double) { return a; };
constexpr BinaryOp kTensorNumber{
    .type = "WHERE_TTS", .dtypes = BinaryOp::Dtypes::kSame, .exact = kUnused, .first = kPredicate, .second = kTrue};
constexpr BinaryOp kNumberTensor{
    .type = "WHERE_TST", .dtypes = BinaryOp::Dtypes::kSame, .exact = kUnused, .first = kPredicate, .second = kFalse};
constexpr UnaryOp kTwoNumbers{.name = "ttnn.where", .type = "WHERE_TSS", .integers = UnaryOp::Integers::kWide};

Checked<Shape> three_broadcast(const TensorSpec& p, const TensorSpec& t, const TensorSpec& f) {
  const auto first = broadcast_shape(p.shape, t.shape);
  const auto all = first ? broadcast_shape(*first, f.shape) : std::nullopt;
  OPWRIGHT_REQUIRE(all, "ttnn.where: shapes {}, {} and {} do not broadcast in a pattern the ternary kernel supports",
                   shape_text(p.shape), shape_text(t.shape), shape_text(f.shape));
  // Dimensions without elements do not stretch here.
  const bool empty = std::ranges::find(*all, 0) != all->end();
  OPWRIGHT_REQUIRE(!empty || (p.shape == t.shape && t.shape == f.shape),
                   "Broadcasting rule violation: {}, {} and {} have dimensions of 0", shape_text(p.shape),
                   shape_text(t.shape), shape_text(f.shape));
  return *all;
}

std::int64_t cores_of(const TensorSpec& spec) {
  return sharded(spec) && spec.memory->shard ? core_count(spec.memory->shard->grid) : 0;
}

Checked<MemoryConfig> stretched(const TensorSpec& spec, const Shape& shape) {
  MemoryConfig out = memory_of(spec);
  if (!out.sharded() || !out.shard) return out;
  const TensorSpec to = eltwise::device_tensor(shape, spec.dtype.value, Layout::kTile, {});
  OPWRIGHT_CHECK_ASSIGN(out.shard, eltwise::scaled_shard(*out.shard, padded_shape(spec), padded_shape(to)));
  out.nd_shard.reset();
  return out;
}

// The sharded operand with most cores lends its config, the first one among equals.
Checked<MemoryConfig> lent_memory(std::span<const TensorSpec* const> operands, const Shape& shape) {
  const TensorSpec* best = operands[0];
  for (const TensorSpec* operand : operands)
    if (cores_of(*operand) > cores_of(*best)) best = operand;
  return stretched(*best, shape);
}

// A config that came without a shard spec takes that of the first operand that has one.
Checked<MemoryConfig> asked_memory(const MemoryConfig& asked, std::span<const TensorSpec* const> operands,
                                   const TensorSpec& out, const Board& board) {
  MemoryConfig memory = asked;
  if (!asked.sharded() || asked.shard || asked.nd_shard) return memory;
  for (const TensorSpec* operand : operands) {
    if (cores_of(*operand) == 0) continue;
    OPWRIGHT_CHECK_ASSIGN(const MemoryConfig lent, stretched(*operand, out.shape));
    memory.shard = lent.shard;
    return memory;
  }
  memory.shard = eltwise::spread_shard(out, asked.layout.value, board);
  return memory;
}

Checked<std::vector<OutputSpec>> infer_three(const BoundCall& call, const Board& board) {
  const TensorSpec& p = *call.tensor(kPredicate);
  const TensorSpec& t = *call.tensor(kTrue);
  const TensorSpec& f = *call.tensor(kFalse);
  const std::array operands{&p, &t, &f};
  for (const TensorSpec* operand : operands) {
    OPWRIGHT_REQUIRE(!on_host(*operand), "Device Operations expect device tensors as inputs");
    OPWRIGHT_REQUIRE(!deallocated(*operand), "Input Tensor is not allocated");
  }
  OPWRIGHT_CHECK_ASSIGN(const Shape shape, three_broadcast(p, t, f));
  OPWRIGHT_REQUIRE(p.layout.value == Layout::kTile || sharded(p),
                   "Ternary operation requires tensor to be in Tile layout when working with non-sharded input tensor. "
                   "Input tensor layout: 0");
  if (call.passed("output_tensor")) {
    const TensorSpec* given = call.tensor("output_tensor");
    if (given == nullptr) return type_error(call.op, "output_tensor", *call.find("output_tensor"));
    OPWRIGHT_REQUIRE(given->layout.value == Layout::kTile,
                     "Ternary operation requires output tensor to be in Tile layout when working with non-sharded "
                     "tensor.");
    OPWRIGHT_REQUIRE(given->shape == shape,
                     "Shape of Output tensor {} provided does not match the broadcasted output shape {}",
                     shape_text(given->shape), shape_text(shape));
    return eltwise::one_output(*given, board);
  }
  TensorSpec out = eltwise::device_tensor(shape, t.dtype.value, p.layout.value, {});
  if (const MemoryConfig* asked = call.memory("memory_config")) {
    OPWRIGHT_CHECK_ASSIGN(out.memory, asked_memory(*asked, operands, out, board));
  } else {
    OPWRIGHT_CHECK_ASSIGN(out.memory, lent_memory(operands, shape));
  }
  return eltwise::one_output(std::move(out), board);
}

// With one number the predicate gives way to the tensor: it is converted where it holds integers, and the result lies
// where the tensor does.
Checked<std::vector<OutputSpec>> infer_two(const BinaryOp& op, const BoundCall& call, const Board& board) {
  TensorSpec value = *call.tensor(op.second);
  TensorSpec predicate = *call.tensor(kPredicate);
  BoundCall bound = call;
  if (is_integer(predicate.dtype.value) && !is_integer(value.dtype.value)) {
    predicate.dtype = value.dtype;
    OPWRIGHT_CHECK(check_tensor(predicate, board));
  }
  if (!call.passed("memory_config") && !call.passed("output_tensor")) {
    const auto shape = broadcast_shape(predicate.shape, value.shape);
    OPWRIGHT_REQUIRE(shape, "Invalid subtile broadcast type");
    OPWRIGHT_CHECK_ASSIGN(const MemoryConfig memory, stretched(value, *shape));
    bound.set("memory_config", Value::memory(memory));
  }
  // The one that is row-major beside tiles is tilized into DRAM.
  if (predicate.layout.value != value.layout.value)
    for (TensorSpec* operand : {&predicate, &value})
      if (operand->layout.value == Layout::kRowMajor) {
        operand->layout.value = Layout::kTile;
        operand->memory = interleaved(BufferType::kDram);
        std::erase_if(operand->more, [](const auto& field) { return field.first == "alignment"; });
      }
  bound.set(op.second, Value::tensor(std::move(value)));
  bound.set(kPredicate, Value::tensor(std::move(predicate)));
  return infer_binary(op, bound, board);
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  if (call.tensor(kPredicate) == nullptr)
    return type_error(call.op, kPredicate, call.find(kPredicate) != nullptr ? *call.find(kPredicate) : Value());
  if (call.passed("memory_config") && call.memory("memory_config") == nullptr)
    return type_error(call.op, "memory_config", *call.find("memory_config"));
  const bool tensor_true = call.tensor(kTrue) != nullptr;
  const bool tensor_false = call.tensor(kFalse) != nullptr;
  if (!tensor_true) OPWRIGHT_CHECK(call.number(kTrue, 0));
  if (!tensor_false) OPWRIGHT_CHECK(call.number(kFalse, 0));
  if (tensor_true && tensor_false) return infer_three(call, board);
  if (tensor_true) return infer_two(kTensorNumber, call, board);
  if (tensor_false) return infer_two(kNumberTensor, call, board);
  const bool integers = is_integer(call.tensor(kPredicate)->dtype.value);
  const bool wide = integers && element_bytes(call.tensor(kPredicate)->dtype.value) == 4;
  return infer_unary(kTwoNumbers, call, board, wide ? DType::kFloat32 : DType::kAbsent, kPredicate);
}

// A tensor or a number, read row by row in the shape of the output.
class Choice {
 public:
  Choice(const ReferenceJob& job, std::string_view param, double number)
      : tensor_(job.input(param)),
        rows_(tensor_ != nullptr ? tensor_->spec.shape : Shape{}, job.outputs[job.output].spec.shape),
        number_(number) {}
  void select(std::int64_t row) { offset_ = tensor_ == nullptr ? 0 : rows_.offset(row); }
  double operator[](std::int64_t i) const {
    return tensor_ == nullptr ? number_ : tensor_->at(offset_ + (rows_.steps() ? i : 0));
  }

 private:
  const HostTensor* tensor_;
  BroadcastRows rows_;
  double number_;
  std::int64_t offset_ = 0;
};

Checked<Exact> reference(const ReferenceJob& job) {
  const auto number = [&](std::string_view param) { return job.call.number(param, 0).value_or(0); };
  Choice predicate(job, kPredicate, 0);
  Choice yes(job, kTrue, number(kTrue));
  Choice no(job, kFalse, number(kFalse));
  Exact out;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    for (Choice* choice : {&predicate, &yes, &no}) choice->select(job.rows.at(r));
    for (std::int64_t i = 0; i < job.rows.length; ++i) out.value.push_back(predicate[i] != 0 ? yes[i] : no[i]);
  }
  return out;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t) {
  const TensorSpec* yes = call.tensor(kTrue);
  const TensorSpec* no = call.tensor(kFalse);
  const DType out = outputs[0].spec.dtype.value;
  if (yes != nullptr && no != nullptr && yes->dtype.value == out && no->dtype.value == out && !is_block_float(out))
    return {.kind = ErrorBudget::Kind::kExact, .why = "values are chosen, not computed"};
  return {.kind = ErrorBudget::Kind::kElementwise, .ulps = 1, .relative = 0x1p-8, .why = "numbers and dtypes rounded"};
}

// A predicate that is never 0 chooses nothing.
bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != kPredicate) return false;
  const auto size = static_cast<std::size_t>(tensor.size());
  if (tensor.integer()) {
    tensor.ints.resize(size);
    for (std::int64_t& value : tensor.ints) value = random.below(2);
  } else {
    tensor.floats.resize(size);
    for (float& value : tensor.floats) value = static_cast<float>(random.below(2));
  }
  return true;
}

}  // namespace

const OpSpec& where_op() {
  static const OpSpec spec{.name = "ttnn.where",
                           .params = {{.name = kPredicate, .era1 = 0, .required = true, .role = Role::kPredicate},
                                      {.name = kTrue, .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = kFalse, .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = "memory_config", .era1 = 3},
                                      {.name = "output_tensor", .era1 = 4, .role = Role::kBuffer},
                                      {.name = "sub_core_grids", .era1 = 5, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill};
  return spec;
}

}  // namespace opwright
