// What a board has: chips, compute grid, memories. Memory figures are those that the real library's allocator reports
// (version 0.81, each board opened with default dispatch); the p150b grid is the full card's, its 14th column
// dispatches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tensor_spec.h"

namespace opwright {

enum class Arch : std::uint8_t { kWormhole, kBlackhole };
std::string_view name_of(Arch arch);  // "wormhole_b0"

struct Board {
  std::string name;  // "n300"
  Arch arch = Arch::kWormhole;
  Shape mesh = {1, 1};        // rows and columns of chips
  CoreCoord grid{8, 8};       // compute cores of one chip: x columns, y rows
  std::int64_t l1_bank = 0;   // bytes of L1 on one core for buffers and circular buffers, l1_small included
  std::int64_t l1_small = 0;  // bytes carved from the top of it
  std::int64_t l1_alignment = 16;
  std::int64_t dram_banks = 12;
  std::int64_t dram_bank = 0;  // bytes of one bank for buffers
  std::int64_t dram_alignment = 32;

  std::int64_t cores() const { return grid.x * grid.y; }
  std::int64_t chips() const { return mesh[0] * mesh[1]; }
  bool wormhole() const { return arch == Arch::kWormhole; }
};

std::span<const Board> known_boards();
// By name: "n150", "n300", "t3k", "galaxy", "p100a", "p150b", "p300a" and the names people also use ("6U", "p150", …).
// The error lists near names.
Result<Board> find_board(std::string_view name);
// A board from a small JSON text: {"name":"mine","like":"n150","grid":[8,7],"l1_bank":1000000}. `like` is required;
// fields: name, grid, mesh, l1_bank, l1_small, dram_banks, dram_bank. The error names `where` and the field.
Result<Board> parse_board(std::string_view json, std::string_view where);

}  // namespace opwright
