#include "device/sim/sim_device.h"

#include <fmt/format.h>

#include <new>

#include "device/sim/kernel.h"
#include "device/sim/memory/allocation.h"

namespace opwright::sim {

SimDevice::SimDevice(Board board) {
  can_ = {
      .name = "sim:" + board.name, .numerics = Numerics::kExactModel, .memory_report = true, .board = std::move(board)};
}

Checked<MemoryReport> SimDevice::admit(const DeviceCall& call) {
  const Kernel* kernel = find_kernel(call.call.op);
  if (kernel == nullptr) return unsupported("", fmt::format("no kernel for {} on {}", call.call.op, can_.name));
  for (const TensorSlot& slot : call.call.tensors)  // kernels know what a HostTensor holds, and switch on nothing else
    if (slot.spec.dtype.present() && !computed(slot.spec.dtype.value))
      return unsupported(slot.param, fmt::format("{} has dtype {}", slot.param, slot.spec.dtype.name()));
  if (kernel->admit != nullptr) OPWRIGHT_CHECK(kernel->admit(call.call, call.outputs, can_.board));
  return allocate_call(call.call, call.outputs, can_.board);
}

Checked<DeviceResult> SimDevice::run(const DeviceCall& call, std::span<const HostTensor> inputs) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryReport memory, admit(call));
  if (inputs.size() != call.call.tensors.size())
    return refuse(fmt::format("{} tensors in the call, {} given", call.call.tensors.size(), inputs.size()));
  const KernelJob job{call.call, inputs, call.outputs, can_.board, call.rows};
  try {
    OPWRIGHT_CHECK_ASSIGN(std::vector<HostTensor> outputs, find_kernel(call.call.op)->run(job));
    return DeviceResult{std::move(outputs), memory};
  } catch (const std::bad_alloc&) {
    return refuse_memory(fmt::format("{}: this machine has no memory left to simulate it", call.call.op));
  }
}

}  // namespace opwright::sim
