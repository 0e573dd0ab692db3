// Tensors of one value, in the form of another tensor or of a shape, a row each: constant by definition. Tensors that
// hold whatever was in memory, and those that count.
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "ops/families.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/movement.h"
#include "ops/shared/stored_values.h"

namespace opwright {
namespace {

struct Row {
  std::string_view name;
  std::optional<double> value;  // absent: the call's fill_value
  bool like = true;             // in the form of a tensor; else a shape is given
  bool takes_output = true;
  bool holds_anything = false;  // whatever was in memory: its spec alone is promised
};
constexpr std::array kRows{
    Row{.name = "ttnn.empty", .value = 0.0, .like = false, .takes_output = false, .holds_anything = true},
    Row{.name = "ttnn.empty_like", .value = 0.0, .takes_output = false, .holds_anything = true},
    Row{.name = "ttnn.full", .value = std::nullopt, .like = false},
    Row{.name = "ttnn.full_like", .value = std::nullopt},
    Row{.name = "ttnn.ones", .value = 1.0, .like = false, .takes_output = false},
    Row{.name = "ttnn.ones_like", .value = 1.0},
    Row{.name = "ttnn.zeros", .value = 0.0, .like = false, .takes_output = false},
    Row{.name = "ttnn.zeros_like", .value = 0.0},
};

std::vector<Param> params(const Row& row) {
  std::vector<Param> out;
  if (row.like)
    out.push_back({.name = "tensor", .required = true, .role = Role::kPlain});
  else
    out.push_back({.name = "shape", .required = true});
  if (!row.value) out.push_back({.name = "fill_value", .required = true});
  out.push_back({.name = "dtype"});
  out.push_back({.name = "layout"});
  out.push_back({.name = "device", .lost = row.like ? Lost::kNoMatter : Lost::kHandle});
  out.push_back({.name = "memory_config"});
  if (row.takes_output) out.push_back({.name = "optional_tensor", .role = Role::kBuffer});
  return out;
}

bool holds(DType integer, double value) {
  const bool is_signed = integer == DType::kInt32;
  const double largest = integer == DType::kUint8    ? 0xFF
                         : integer == DType::kUint16 ? 0xFFFF
                         : is_signed                 ? 0x7FFFFFFF
                                                     : 0xFFFFFFFF;
  return std::trunc(value) == value && value >= (is_signed ? -largest - 1 : 0.0) && value <= largest;
}

Checked<double> value_of(const Row& row, const BoundCall& call) {
  if (row.value) return *row.value;
  return number_argument(call, "fill_value", 0);
}

// The tensor that is asked for, before the arguments that change it.
Checked<TensorSpec> form_of(const Row& row, const BoundCall& call) {
  if (row.like) {
    OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "tensor"));
    if (on_host(*input)) return unsupported("tensor", "a tensor in the form of one on the host");
    OPWRIGHT_CHECK(require_allocated(*input));
    return moved(*input, input->shape, memory_of(*input));
  }
  OPWRIGHT_CHECK_ASSIGN(const auto shape, call.ints("shape"));
  if (!shape) return type_error(call.op, "shape", Value());
  if (!call.passed("device")) return unsupported("device", "a tensor on the host");
  MemoryConfig dram;
  dram.layout.value = MemoryLayout::kInterleaved;
  dram.buffer.value = BufferType::kDram;
  return eltwise::device_tensor(*shape, DType::kBfloat16, Layout::kRowMajor, std::move(dram));
}

Checked<std::vector<OutputSpec>> infer(const Row& row, const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(TensorSpec out, form_of(row, call));
  OPWRIGHT_CHECK_ASSIGN(const double value, value_of(row, call));
  OPWRIGHT_CHECK_ASSIGN(out.dtype.value, dtype_argument(call, "dtype", out.dtype.value));
  OPWRIGHT_CHECK_ASSIGN(out.layout.value, call.layout("layout", out.layout.value));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "memory_config"));
  if (memory != nullptr) out.memory = *memory;
  if (is_integer(out.dtype.value) && !holds(out.dtype.value, value))
    return unsupported("fill_value", "a value that an integer dtype does not hold");
  if (const TensorSpec* given = call.tensor("optional_tensor")) {
    OPWRIGHT_REQUIRE(given->shape == out.shape,
                     "Unary: Preallocated output shape must match computed shape. Computed: {}, Preallocated: {}",
                     shape_text(out.shape), shape_text(given->shape));
    return given_back(*given, "optional_tensor");
  }
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(std::move(out), board));
  if (row.holds_anything) outputs.front().spec.more.emplace_back("own_form", Value(true));
  return outputs;
}

// --- counting

constexpr std::string_view kStart = "start", kEnd = "end", kStep = "step";

// One number alone is the end.
Checked<void> rebind_arange(BoundCall& call) {
  if (call.passed(kEnd) || !call.passed(kStart)) return {};
  call.set(kEnd, Value(*call.find(kStart)));
  call.erase(kStart);
  return {};
}

Checked<std::vector<OutputSpec>> infer_arange(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, call.integer(kStart, 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t end, call.integer(kEnd, 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t step, call.integer(kStep, 1));
  OPWRIGHT_REQUIRE(step != 0, "Step must be nonzero");
  OPWRIGHT_REQUIRE((step > 0) == (end > start) && end != start,
                   "Invalid range: Step direction does not match range bounds");
  if (!call.passed("device")) return unsupported("device", "a tensor on the host");
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", DType::kBfloat16));
  OPWRIGHT_REQUIRE(!is_block_float(dtype) && dtype != DType::kUint8, "Unsupported dtype");
  OPWRIGHT_CHECK_ASSIGN(const Layout layout, call.layout("layout", Layout::kRowMajor));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "memory_config"));
  MemoryConfig dram;
  dram.layout.value = MemoryLayout::kInterleaved;
  dram.buffer.value = BufferType::kDram;
  const std::int64_t count = (end - start + step - (step > 0 ? 1 : -1)) / step;
  return made(eltwise::device_tensor({count}, dtype, layout, memory != nullptr ? *memory : dram), board);
}

Checked<Exact> arange(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, job.call.integer(kStart, 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t step, job.call.integer(kStep, 1));
  Exact out;
  for (std::int64_t r = 0; r < job.rows.count(); ++r)
    for (std::int64_t i = 0; i < job.rows.length; ++i)
      out.value.push_back(static_cast<double>(start + (job.rows.at(r) * job.rows.length + i) * step));
  return out;
}

OpSpec arange_spec() {
  return {.name = "ttnn.arange",
          .params = {{.name = kStart, .required = false, .place = 0},
                     {.name = kEnd, .required = true, .place = 1},
                     {.name = kStep, .place = 2},
                     {.name = "dtype"},
                     {.name = "device", .lost = Lost::kHandle},
                     {.name = "memory_config"},
                     {.name = "layout"}},
          .rebind = rebind_arange,
          .infer = infer_arange,
          .reference = arange,
          .budget = exact_budget};
}

// The value as the dtype holds it, in every place.
Checked<Exact> reference(const Row& row, const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const double value, value_of(row, job.call));
  const DType dtype = job.outputs[job.output].spec.dtype.value;
  std::array one{value};
  if (!is_integer(dtype)) as_stored(one, dtype);
  return Exact{.value = std::vector<double>(static_cast<std::size_t>(job.rows.count() * job.rows.length), one.front()),
               .magnitude = {}};
}

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  return {.name = kRows[At].name,
          .params = params(kRows[At]),
          .infer = [](const BoundCall& call, const Board& board) { return infer(kRows[At], call, board); },
          .reference = [](const ReferenceJob& job) { return reference(kRows[At], job); },
          .budget = exact_budget,
          .constant = true};
}

}  // namespace

std::span<const OpSpec> like_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()..., arange_spec()};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright
