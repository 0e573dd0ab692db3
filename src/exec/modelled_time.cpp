#include "exec/modelled_time.h"

#include <algorithm>

#include "dialect/ttnn/compute_config.h"

namespace opwright {
namespace {

// Published figures of the chips.
struct Rates {
  double clock;        // cycles a second
  double dram;         // bytes a second, the library's own performance model
  double l1;           // bytes a second and core
  double engine;       // multiply-adds a cycle and core at the lowest fidelity
  double elementwise;  // a cycle and core
};
constexpr Rates kWormhole{1.0e9, 258e9, 32e9, 2048, 128};
constexpr Rates kBlackhole{1.35e9, 512e9, 50e9, 2048, 128};
constexpr double kLaunch = 1e-6;

double phases(Fidelity fidelity) { return 1.0 + static_cast<double>(fidelity); }

double bytes_of(const TensorSpec& spec) {
  const Pages pages = pages_of(spec);
  return static_cast<double>(pages.bytes) * static_cast<double>(pages.count);
}

bool in_l1(const TensorSpec& spec) {
  return spec.memory &&
         (spec.memory->buffer.value == BufferType::kL1 || spec.memory->buffer.value == BufferType::kL1Small);
}

double cores_in_use(const PlannedCall& plan, const Board& board) {
  const auto most = static_cast<double>(board.cores());
  const TensorSpec& out = plan.outputs.front().spec;
  if (const ShardSpec* shard = shard_of(out))
    return std::clamp(static_cast<double>(core_count(shard->grid)), 1.0, most);
  for (const TensorSlot& slot : plan.call.tensors)
    if (const ShardSpec* shard = shard_of(slot.spec); shard != nullptr && in_l1(slot.spec))
      return std::clamp(static_cast<double>(core_count(shard->grid)), 1.0, most);
  return std::clamp(static_cast<double>(volume(plan.outputs.front().padded)) / (32.0 * 32.0), 1.0, most);
}

struct Moved {
  double dram = 0, l1 = 0;
  void add(const TensorSpec& spec, double bytes) { (in_l1(spec) ? l1 : dram) += bytes; }
};

// Every tensor once, but for those of which an operator touches a part: what it plan.op->reads_part from or writes
// into.
Moved bytes_moved(const PlannedCall& plan) {
  Moved moved;
  for (const TensorSlot& slot : plan.call.tensors) {
    if (slot.spec.storage.value == StorageType::kHost) continue;
    const bool written = std::ranges::any_of(plan.outputs, [&](const OutputSpec& o) { return o.alias == slot.param; });
    if (written && plan.op->written != nullptr) continue;
    double bytes = bytes_of(slot.spec);
    if (plan.op->reads_part) bytes = std::min(bytes, bytes_of(plan.outputs.front().spec));
    moved.add(slot.spec, bytes);
    // What is read goes into the part of the other tensor that is written.
    if (plan.op->written != nullptr && !plan.outputs.empty()) moved.add(plan.outputs.front().spec, bytes);
  }
  if (plan.op->written == nullptr)
    for (const OutputSpec& out : plan.outputs) moved.add(out.spec, bytes_of(out.spec));
  return moved;
}

bool attention(const PlannedCall& plan) { return plan.call.tensor("input_tensor_k") != nullptr; }

// Multiply-adds of an attention: scores and their sums. Nothing where only the data says how many keys there are.
std::optional<double> attention_work(const PlannedCall& plan) {
  const TensorSpec* query = plan.call.tensor("input_tensor_q");
  const TensorSpec* keys = plan.call.tensor("input_tensor_k");
  if (query == nullptr || plan.call.passed("cur_pos_tensor") || plan.call.passed("cur_pos") ||
      plan.call.passed("page_table_tensor") || keys->shape.size() != 4)
    return std::nullopt;
  const auto causal = plan.call.flag("is_causal", true);
  const double all = 2.0 * static_cast<double>(volume(padded_shape(*query))) * static_cast<double>(keys->shape[2]);
  return causal && *causal ? all / 2 : all;
}

}  // namespace

std::optional<double> modelled_kernel_seconds(const PlannedCall& plan, const Board& board) {
  if (plan.op == nullptr || plan.op->ccl || plan.op->budget == nullptr || plan.outputs.empty()) return std::nullopt;
  const Rates& rates = board.wormhole() ? kWormhole : kBlackhole;
  const ErrorBudget budget = plan.op->budget(plan.call, plan.outputs, 0);
  const auto elements = static_cast<double>(volume(plan.outputs.front().padded));
  const bool contraction = budget.kind == ErrorBudget::Kind::kContraction;
  const auto compute = compute_argument(plan.call, {.fidelity = contraction ? Fidelity::kHiFi2 : Fidelity::kHiFi4});
  const double repeats = phases(compute ? compute->fidelity : Fidelity::kHiFi4);
  double cycles = 0;
  if (attention(plan)) {
    const auto work = attention_work(plan);
    if (!work) return std::nullopt;
    cycles = *work * repeats / rates.engine;
  } else if (contraction) {
    cycles = elements * static_cast<double>(budget.terms) * repeats / rates.engine;
  } else if (budget.kind == ErrorBudget::Kind::kElementwise) {
    double most = elements;
    for (const TensorSlot& slot : plan.call.tensors)
      most = std::max(most, static_cast<double>(volume(padded_shape(slot.spec))));
    if (plan.op->written == nullptr) cycles = most / rates.elementwise;
  }
  const double cores = cores_in_use(plan, board);
  const Moved moved = bytes_moved(plan);
  return std::max({cycles / (rates.clock * cores), moved.dram / rates.dram, moved.l1 / (rates.l1 * cores)}) + kLaunch;
}

}  // namespace opwright
