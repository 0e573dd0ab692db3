// Gives the tensors of one chip their places in L1 and DRAM, as the library's allocator does: a buffer takes the same
// range of every bank, L1 grows from its top, DRAM from its bottom.
#pragma once

#include <cstdint>

#include "device/sim/memory/free_list.h"
#include "dialect/ttnn/board.h"
#include "model/refusal.h"
#include "model/tensor_spec.h"

namespace opwright::sim {

struct Placement {
  BufferType buffer = BufferType::kDram;
  std::int64_t banks = 0;
  std::int64_t bytes = 0;           // of all pages, each aligned
  std::int64_t bytes_per_bank = 0;  // what the fullest bank holds, and so what every bank gives
  std::int64_t address = 0;
};

// Threads: use one from one thread at a time.
class Allocator {
 public:
  explicit Allocator(const Board& board);

  // The tensor has passed check_tensor. Refuses in the library's words when there is no room.
  Checked<Placement> place(const TensorSpec& spec);
  void release(const Placement& placement);

  std::int64_t l1_per_core() const { return l1_.allocated() + l1_small_.allocated(); }
  std::int64_t dram_bytes() const { return dram_bytes_; }  // aligned pages of all tensors

 private:
  FreeList& list_of(BufferType buffer);
  std::int64_t base_of(BufferType buffer) const;  // where its banks begin in the chip's address space

  Board board_;
  FreeList dram_;
  FreeList l1_;
  FreeList l1_small_;
  std::int64_t dram_bytes_ = 0;
};

}  // namespace opwright::sim
