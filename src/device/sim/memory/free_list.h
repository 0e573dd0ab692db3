// The free space of one bank. All banks of a memory are in lock step, so one list stands for them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace opwright::sim {

enum class Growth : std::uint8_t { kUp, kDown };  // from the bottom of the bank, or from its top

class FreeList {
 public:
  FreeList(std::int64_t size, std::int64_t alignment, Growth growth);

  // Offset of a block in the first hole that takes it; nothing when none does. A block of no bytes takes no room.
  std::optional<std::int64_t> take(std::int64_t bytes);
  // Gives back a block that `take` gave.
  void give_back(std::int64_t offset, std::int64_t bytes);

  std::int64_t size() const { return size_; }
  std::int64_t allocated() const { return size_ - free(); }
  std::int64_t free() const;
  std::int64_t largest_hole() const;

 private:
  struct Hole {
    std::int64_t start;
    std::int64_t end;
  };
  std::int64_t size_;
  std::int64_t alignment_;
  Growth growth_;
  std::vector<Hole> holes_;  // ascending, never touching
};

}  // namespace opwright::sim
