#include "exec/clock/kernel_call.h"

#include <algorithm>

#include "dialect/ttnn/attention_program.h"
#include "dialect/ttnn/compute_config.h"
#include "dialect/ttnn/launched_class.h"
#include "dialect/ttnn/matmul_program.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/tensor_facts.h"

namespace opwright {
namespace {

bool in_l1(const TensorSpec& spec) {
  return spec.memory &&
         (spec.memory->buffer.value == BufferType::kL1 || spec.memory->buffer.value == BufferType::kL1Small);
}

// Cores of the shards that decide: the output's, else the first in L1.
std::int64_t shard_cores(const PlannedCall& plan) {
  const auto count = [](const TensorSpec& spec) {
    const ShardSpec* shard = in_l1(spec) ? shard_of(spec) : nullptr;
    return shard == nullptr ? 0 : core_count(shard->grid);
  };
  if (const std::int64_t cores = count(plan.outputs.front().spec); cores > 0) return cores;
  for (const TensorSlot& slot : plan.call.tensors)
    if (const std::int64_t cores = count(slot.spec); cores > 0) return cores;
  return 0;
}

// A second operand that is cut over the cores by the program: how many of them, and whether its batch is read once.
void use_program(const PlannedCall& plan, const Board& board, KernelCall& call) {
  if (plan.call.tensor("input_tensor_b") == nullptr || call.inputs.size() < 2) return;
  const auto program = matmul_program(plan.call, board);
  if (!program) return;
  call.is_batch_fused = program->fuse_batch;
  if (program->per_core_m <= 0 || program->per_core_n <= 0) return;
  const KernelTensor& to = call.outputs.front();
  const std::int64_t m = div_up(to.dimension(2), 32), n = div_up(to.dimension(1), 32);
  const auto matrices = static_cast<std::int64_t>(to.tiles()) / std::max<std::int64_t>(1, m * n);
  const std::int64_t rows = program->fuse_batch ? m * std::max<std::int64_t>(1, matrices) : m;
  call.cores =
      std::clamp<std::int64_t>(div_up(rows, program->per_core_m) * div_up(n, program->per_core_n), 1, board.cores());
}

}  // namespace

std::optional<KernelCall> kernel_call(const PlannedCall& plan, const Board& board) {
  if (plan.op == nullptr || plan.outputs.empty()) return std::nullopt;
  const LaunchedClass* operation = find_launched(plan.op->name);
  if (operation == nullptr || plan.op->ccl) return KernelCall{.device_class = ""};
  static const TensorSpec kNothing;
  const TensorSpec& from = plan.call.tensors.empty() ? kNothing : plan.call.tensors.front().spec;
  const Shape from_padded = plan.call.tensors.empty() ? Shape{} : padded_shape(from);
  KernelCall call;
  call.device_class = launched_class(*operation, from, from_padded, plan.outputs.front());
  if (call.device_class.empty()) return std::nullopt;
  call.arch = board.arch;
  call.available = board.cores();
  call.shard_cores = shard_cores(plan);
  for (const TensorSlot& slot : plan.call.tensors)
    if (!on_host(slot.spec)) call.inputs.push_back(kernel_tensor(slot.spec, padded_shape(slot.spec)));
  for (const OutputSpec& output : plan.outputs) call.outputs.push_back(kernel_tensor(output.spec, output.padded));
  bool is_product = false;
  if (plan.op->budget != nullptr) {
    const ErrorBudget budget = plan.op->budget(plan.call, plan.outputs, 0);
    is_product = budget.kind == ErrorBudget::Kind::kContraction;
    if (is_product) call.terms = budget.terms;
  }
  const auto compute = compute_argument(plan.call, {.fidelity = is_product ? Fidelity::kHiFi2 : Fidelity::kHiFi4});
  if (compute) call.fidelity = compute->fidelity;
  use_program(plan, board, call);
  if (const auto program = attention_program(plan.call, "program_config"); program && *program)
    call.query_chunk = std::max<std::int64_t>(32, (*program)->q_chunk);
  return call;
}

std::optional<double> modelled_kernel_seconds(const PlannedCall& plan, const Board& board) {
  const auto call = kernel_call(plan, board);
  const auto work = call ? work_of(*call) : std::nullopt;
  if (!work) return std::nullopt;
  return kernel_ns(*work) * 1e-9;
}

}  // namespace opwright
