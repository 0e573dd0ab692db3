#include "device/sim/memory/allocator.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/shard_distribution.h"
#include "dialect/ttnn/tensor_layout.h"

namespace opwright::sim {
namespace {

// Where banks begin in the chip's address space.
constexpr std::int64_t kWormholeL1Base = 105824;
constexpr std::int64_t kBlackholeL1Base = 111744;
constexpr std::int64_t kWormholeDramBase = 1048640;
constexpr std::int64_t kBlackholeDramBase = 1048704;

bool in_dram(BufferType buffer) { return buffer != BufferType::kL1 && buffer != BufferType::kL1Small; }

}  // namespace

Allocator::Allocator(const Board& board)
    : board_(board),
      dram_(board.dram_bank, board.dram_alignment, Growth::kUp),
      l1_(board.l1_bank - board.l1_small, board.dram_alignment, Growth::kDown),
      l1_small_(board.l1_small, board.dram_alignment, Growth::kDown) {}

FreeList& Allocator::list_of(BufferType buffer) {
  if (buffer == BufferType::kL1Small) return l1_small_;
  return buffer == BufferType::kL1 ? l1_ : dram_;
}

std::int64_t Allocator::base_of(BufferType buffer) const {
  const bool wormhole = board_.wormhole();
  if (in_dram(buffer)) return wormhole ? kWormholeDramBase : kBlackholeDramBase;
  const std::int64_t base = wormhole ? kWormholeL1Base : kBlackholeL1Base;
  return buffer == BufferType::kL1Small ? base + l1_.size() : base;
}

Checked<Placement> Allocator::place(const TensorSpec& spec) {
  Placement out;
  out.buffer = spec.memory ? spec.memory->buffer.value : BufferType::kDram;
  const bool dram = in_dram(out.buffer);
  const Pages pages = pages_of(spec);
  const std::int64_t page = round_up(pages.bytes, dram ? board_.dram_alignment : board_.l1_alignment);
  out.bytes = page * pages.count;
  if (shard_of(spec) != nullptr) {
    OPWRIGHT_CHECK_ASSIGN(const ShardDistribution spread, distribute(spec));
    out.banks = spread.cores;
    out.bytes_per_bank = spread.pages_per_core() * page;
    out.bytes = out.bytes_per_bank * spread.cores;
  } else {
    out.banks = dram ? board_.dram_banks : board_.cores();
    out.bytes_per_bank = div_up(pages.count, out.banks) * page;
  }
  FreeList& list = list_of(out.buffer);
  const auto offset = list.take(out.bytes_per_bank);
  if (!offset)
    return refuse_memory(fmt::format(
        "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank needs to store {} "
        "B, but bank size is {} B (allocated: {} B, free: {} B, largest free block: {} B).{}",
        out.bytes, dram ? "DRAM" : name_of(out.buffer), out.banks, out.bytes_per_bank, list.size(), list.allocated(),
        list.free(), list.largest_hole(),
        out.buffer == BufferType::kL1Small
            ? " The L1_SMALL region is sized at device open; increase l1_small_size when opening the device."
            : ""));
  out.address = base_of(out.buffer) + *offset;
  if (dram) dram_bytes_ += out.bytes;
  return out;
}

void Allocator::release(const Placement& placement) {
  list_of(placement.buffer).give_back(placement.address - base_of(placement.buffer), placement.bytes_per_bank);
  if (in_dram(placement.buffer)) dram_bytes_ -= placement.bytes;
}

}  // namespace opwright::sim
