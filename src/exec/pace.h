// How long cases take on the device that runs them, learned from those that have ended: estimates are made for the
// simulated device of one machine, and a device in another program may be a thousand times as slow.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace opwright {

// A case takes what the quickest took, whatever it computes (a message there and back), and beyond that its estimate
// times a factor: that of its operator, as far as it was seen, else that of all.
class Pace {
 public:
  void ended(std::uint32_t op, double estimated, double seconds);
  double seconds(std::uint32_t op, double estimated) const;
  bool knows_any() const { return all_.count > 0; }

 private:
  struct Sum {
    double estimated = 0;
    double seconds = 0;
    std::int64_t count = 0;
  };
  double factor(const Sum& sum, double otherwise) const;

  std::unordered_map<std::uint32_t, Sum> ops_;
  Sum all_;
  double least_ = 0;
};

}  // namespace opwright
