#include "device/sim/memory/allocation.h"

#include <algorithm>
#include <array>

namespace opwright::sim {
namespace {

// Parameters that hold a tensor to be written to.
constexpr std::array<std::string_view, 3> kOutputParams{"output_tensor", "optional_output_tensor", "out"};

bool is_new(const BoundCall& call, const OutputSpec& output) {
  if (!output.alias.empty()) return false;
  return std::ranges::none_of(kOutputParams, [&](std::string_view param) { return call.tensor(param) != nullptr; });
}

bool on_device(const TensorSpec& spec) {
  if (!spec.type.empty() || spec.storage.value == StorageType::kHost) return false;
  return std::ranges::none_of(spec.more, [](const auto& field) { return field.first == "deallocated"; });
}

}  // namespace

Checked<MemoryReport> allocate_call(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board) {
  Allocator allocator(board);
  const auto place = [&](const TensorSpec& spec) -> Checked<void> {
    OPWRIGHT_CHECK(check_tensor(spec, board));
    if (on_device(spec)) OPWRIGHT_CHECK(allocator.place(spec));
    return {};
  };
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(place(slot.spec));
  for (const OutputSpec& output : outputs)
    if (is_new(call, output)) OPWRIGHT_CHECK(place(output.spec));
  return MemoryReport{.l1_per_core = allocator.l1_per_core(), .dram = allocator.dram_bytes()};
}

}  // namespace opwright::sim
