// What the time of a case went to, in processor seconds of this process: a busy neighbour does not change them.
#pragma once

#include <ctime>

namespace opwright {

struct CaseTimes {
  double data = 0;       // inputs, and which rows to look at
  double device = 0;     // the simulated one: another program's time is its own
  double reference = 0;  // exact values
  double judge = 0;
  double blind = 0;  // which wrong uses of the data a pass would not have shown
  double whole = 0;  // all of the second look, on whole numbers
};

// Adds the time until its end.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum), start_(std::clock()) {}
  ~Timed() { sum_ += static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& sum_;
  std::clock_t start_;
};

// What a function gives, its time added.
template <class F>
auto timed(double& sum, F&& function) {
  const Timed time(sum);
  return function();
}

}  // namespace opwright
