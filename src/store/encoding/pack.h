// Argument texts of forms, many in one compressed block: traces repeat themselves so much that this is both smaller and
// faster to write than a row a text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::store {

inline constexpr std::size_t kFormsPerPack = 64;  // small enough to open one for a single form (about 50 µs)

std::string pack(std::span<const std::string_view> texts);
// Owns the opened block; texts() point into it.
class Unpacked {
 public:
  static Result<Unpacked> open(std::string_view data);
  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view text(std::size_t slot) const {
    return std::string_view(bytes_).substr(offsets_[slot], offsets_[slot + 1] - offsets_[slot]);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> offsets_;
};

}  // namespace opwright::store
