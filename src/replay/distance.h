// How far values of a device are from exact ones, over a whole output.
#pragma once

#include <span>

#include "replay/replay.h"

namespace opwright::replay {

// Of `actual` from `exact`, element by element. NaN and infinities must stand where they are expected.
Distance distance(const Values& actual, std::span<const double> exact);
// The worse of two outputs of a call.
void worsen(std::optional<Distance>& worst, const Distance& other);
// What the chain goes on with, where it is not what the device has.
void keep_exact(std::span<const double> exact, Content& content);

}  // namespace opwright::replay
