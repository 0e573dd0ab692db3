#include "exec/pace.h"

#include <algorithm>

namespace opwright {
namespace {

// So many estimated seconds, taken as they were estimated, are weighed against what was seen.
constexpr double kBelief = 0.05;

}  // namespace

void Pace::ended(std::uint32_t op, double estimated, double seconds) {
  least_ = all_.count == 0 ? seconds : std::min(least_, seconds);
  for (Sum* sum : {&ops_[op], &all_}) {
    sum->estimated += estimated;
    sum->seconds += seconds;
    ++sum->count;
  }
}

double Pace::factor(const Sum& sum, double otherwise) const {
  const double beyond = std::max(0.0, sum.seconds - least_ * static_cast<double>(sum.count));
  return (beyond + kBelief * otherwise) / (sum.estimated + kBelief);
}

double Pace::seconds(std::uint32_t op, double estimated) const {
  const double of_all = factor(all_, 1);
  const auto own = ops_.find(op);
  return least_ + estimated * (own == ops_.end() ? of_all : factor(own->second, of_all));
}

}  // namespace opwright
