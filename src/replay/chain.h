// The chain of references: what they make of what they made before, and how far a device is from it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/plan_call.h"
#include "replay/distance.h"
#include "replay/held_bytes.h"

namespace opwright::replay {

struct Followed {
  Distance distance;
  std::shared_ptr<const ChainValues> chain;  // null: the chain has what the device has
  double reference_seconds = 0;
};

// An exact output that is there as a whole.
Followed follow(const Values& actual, const Values& exact, HeldBytes& held);
// Output `o` of the references on these inputs, some rows at a time. Nothing where they give none.
std::optional<Followed> follow(const PlannedCall& plan, std::span<const HostTensor> inputs, std::size_t o,
                               const Values& actual, HeldBytes& held);

// Exact numbers as the chain keeps them: floats, or the nearest whole numbers.
Values kept_exact(std::span<const double> exact, bool integer);

}  // namespace opwright::replay
