// The operations of two reports side by side: which are the same, which have another configuration, which only one
// side has.
#pragma once

#include <cstdint>
#include <vector>

#include "perf/recording.h"

namespace opwright::perf {

enum class Change : std::uint8_t { kSame, kChanged, kAdded, kRemoved };
std::string_view name_of(Change change);  // "changed"

struct AlignedStep {
  std::int64_t a = -1, b = -1;  // indices; -1: the side has none
  Change change = Change::kSame;
};

struct Alignment {
  std::vector<AlignedStep> steps;  // ascending on both sides; what a lacks stands where b has it
  bool shortest = true;            // false: too different to be searched through; there may be a closer one
};

// Equal operations first (as many as there can be); between them, operations of one name are taken for one whose
// configuration changed, those with the fewest differing fields if there is a choice.
Alignment align_operations(const std::vector<const Signature*>& a, const std::vector<const Signature*>& b,
                           const std::vector<std::string>& ignored = {});

}  // namespace opwright::perf
