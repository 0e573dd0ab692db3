// The hashes that a trace carries, computed again, and the rules that explain them.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "normalize/foreign_hash.h"

namespace opwright::jobs {

struct HashMismatch {
  std::string op, stored;
  std::string newest;  // what the newest generation gives
  std::size_t offset;  // byte of the file
};

struct HashReport {
  std::int64_t configurations = 0, matched = 0, without_hash = 0, losses = 0;
  std::string loss_example;
  std::vector<HashMismatch> mismatches;   // hashes that no generation gives
  std::set<std::string> era1_signatures;  // what era 1 told configurations apart by
  std::bitset<normalize::kGenerations> common = std::bitset<normalize::kGenerations>().set();  // that explain all
  std::array<std::int64_t, normalize::kGenerations> per_generation{};

  std::string generation() const;  // "G4, G5"; "mixed", "none"
};

Result<HashReport> check_hashes(const std::string& path);

}  // namespace opwright::jobs
