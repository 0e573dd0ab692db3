// Is this machine quiet enough to time anything? A few short pieces of work of known size, timed before each round of a
// run with --perf: how much of the processor others took meanwhile, and how much the pieces differ.
#pragma once

#include <string>
#include <vector>

namespace opwright {

struct Busyness {
  double taken = 0;      // part of the canary's own time that it waited for a core
  double others = 0;     // part of all cores that other processes used meanwhile
  double spread = 0;     // the 9th of ten pieces over the median, less 1
  double worst() const;  // the largest of them, each as a part of what is allowed
};
inline constexpr double kMostTaken = 0.05, kMostOthers = 0.20, kMostSpread = 0.15;

// Takes about half a second.
Busyness listen_to_machine();
// From what was measured: `wall` and `processor` seconds of each piece, ticks of all cores and of idle ones.
struct CanaryPieces {
  std::vector<double> wall, processor;
  double all_ticks = 0, idle_ticks = 0, own_ticks = 0;
};
Busyness busyness_of(const CanaryPieces& pieces);

// Why times would not be believed; "" they would.
std::string too_busy(const Busyness& busy);

}  // namespace opwright
