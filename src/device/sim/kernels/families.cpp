#include "device/sim/kernels/families.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "device/sim/eltwise.h"
#include "device/sim/movement.h"
#include "device/sim/pack.h"
#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

constexpr std::string_view kLibrary = "ttnn.";

std::string_view function_of(std::string_view op) {
  return op.starts_with(kLibrary) ? op.substr(kLibrary.size()) : std::string_view();
}

// What a call names the numbers of its function; others take none.
struct Number {
  std::string_view name;
  float otherwise = 0;
};
struct Numbered {
  Unary function;
  std::array<Number, 2> numbers;
};
constexpr std::array kNumbered{
    Numbered{Unary::kCelu, {Number{"alpha", 1}}},
    Numbered{Unary::kElu, {Number{"alpha", 1}}},
    Numbered{Unary::kFill, {Number{"fill_value"}}},
    Numbered{Unary::kHardshrink, {Number{"lambd", 0.5F}}},
    Numbered{Unary::kHardtanh, {Number{"min_val", -1}, Number{"max_val", 1}}},
    Numbered{Unary::kHeaviside, {Number{"value"}}},
    Numbered{Unary::kLeakyRelu, {Number{"negative_slope", 0.01F}}},
    Numbered{Unary::kLogit, {Number{"eps"}}},
    Numbered{Unary::kRdiv, {Number{"value"}}},
    Numbered{Unary::kReluMax, {Number{"upper_limit"}}},
    Numbered{Unary::kReluMin, {Number{"lower_limit"}}},
    Numbered{Unary::kRpow, {Number{"exponent"}}},
    Numbered{Unary::kSelu, {Number{"scale", 1.0507F}, Number{"alpha", 1.67326F}}},
    Numbered{Unary::kSoftplus, {Number{"beta", 1}, Number{"threshold", 20}}},
    Numbered{Unary::kSoftshrink, {Number{"lambd", 0.5F}}},
    Numbered{Unary::kThreshold, {Number{"threshold"}, Number{"value"}}},
};

// Functions that have kernels of their own.
bool has_own_kernel(Unary function) { return function == Unary::kClamp || function == Unary::kPower; }

std::optional<Unary> unary_of(std::string_view op) {
  std::string_view function = function_of(op);
  if (function.ends_with('_')) function.remove_suffix(1);
  const auto found = find_unary(function);
  return found && !has_own_kernel(*found) ? found : std::nullopt;
}

std::optional<Binary> binary_of(std::string_view op) {
  std::string_view function = function_of(op);
  if (function.ends_with('_')) function.remove_suffix(1);
  return find_binary(function);
}

Checked<std::vector<HostTensor>> run_named_unary(const KernelJob& job) {
  const Unary function = *unary_of(job.call.op);
  OPWRIGHT_CHECK_ASSIGN(const bool fast, wants_fast(job.call));
  UnaryCall how{.op = function, .approx = fast, .params = {}, .input = job.call.tensors[0].param};
  const auto* const found = std::ranges::find(kNumbered, function, &Numbered::function);
  if (found != kNumbered.end())
    for (const Number& number : found->numbers) {
      if (number.name.empty()) continue;
      OPWRIGHT_CHECK_ASSIGN(const double value, job.call.number(number.name, static_cast<double>(number.otherwise)));
      how.params.push_back(static_cast<float>(value));
    }
  return run_unary(job, how);
}
constexpr Kernel kUnary{.run = run_named_unary};

Checked<std::vector<HostTensor>> run_named_binary(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const bool fast, job.call.flag("fast_and_approximate_mode", false));
  return run_binary(
      job,
      {.op = *binary_of(job.call.op), .fast = fast, .first = job.call.args[0].name, .second = job.call.args[1].name});
}
constexpr Kernel kBinary{.admit = admit_binary, .run = run_named_binary};

constexpr Kernel kReduction{
    .run = [](const KernelJob& job) { return run_reduction(job, *find_reduction(function_of(job.call.op))); }};

constexpr Kernel move(std::string_view op) {
  return {.op = op, .run = [](const KernelJob& job) { return move_whole(job, job.call.tensors[0].param); }};
}

Checked<std::vector<HostTensor>> filled(const KernelJob& job, double value) {
  HostTensor out = unwritten(job.outputs[0]);
  fill(out, value);
  repack(out);
  return std::vector{std::move(out)};
}

Checked<std::vector<HostTensor>> run_full(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const double value, job.call.number("fill_value", 0));
  return filled(job, value);
}

Checked<std::vector<HostTensor>> run_arange(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(std::int64_t next, job.call.integer("start", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t step, job.call.integer("step", 1));
  HostTensor out = unwritten(job.outputs[0]);
  for (std::int64_t& value : out.ints) value = std::exchange(next, next + step);
  for (float& value : out.floats) value = static_cast<float>(std::exchange(next, next + step));
  if (!out.integer()) pack(out.floats, row_length(out.spec.shape), out.spec.dtype.value, Dst::kFp32);
  return std::vector{std::move(out)};
}

}  // namespace

const Kernel* engine_kernel(std::string_view op) {
  if (unary_of(op)) return &kUnary;
  if (binary_of(op)) return &kBinary;
  return find_reduction(function_of(op)) ? &kReduction : nullptr;
}

std::span<const Kernel> fill_kernels() {
  static constexpr std::array kRows{
      Kernel{.op = "ttnn.arange", .run = run_arange},
      Kernel{.op = "ttnn.empty", .run = [](const KernelJob& job) { return filled(job, 0); }},
      Kernel{.op = "ttnn.empty_like", .run = [](const KernelJob& job) { return filled(job, 0); }},
      Kernel{.op = "ttnn.full", .run = run_full},
      Kernel{.op = "ttnn.full_like", .run = run_full},
      Kernel{.op = "ttnn.ones", .run = [](const KernelJob& job) { return filled(job, 1); }},
      Kernel{.op = "ttnn.ones_like", .run = [](const KernelJob& job) { return filled(job, 1); }},
      Kernel{.op = "ttnn.zeros", .run = [](const KernelJob& job) { return filled(job, 0); }},
      Kernel{.op = "ttnn.zeros_like", .run = [](const KernelJob& job) { return filled(job, 0); }},
  };
  return kRows;
}

std::span<const Kernel> move_kernels() {
  static constexpr std::array kRows{
      move("ttnn.clone"),
      move("ttnn.copy"),
      move("ttnn.interleaved_to_sharded"),
      move("ttnn.reshard"),
      move("ttnn.sharded_to_interleaved"),
      move("ttnn.squeeze"),
      move("ttnn.tilize"),
      move("ttnn.tilize_with_zero_padding"),
      move("ttnn.to_layout"),
      move("ttnn.to_memory_config"),
      move("ttnn.unsqueeze"),
      move("ttnn.unsqueeze_to_4D"),
      move("ttnn.untilize"),
  };
  return kRows;
}

}  // namespace opwright::sim
