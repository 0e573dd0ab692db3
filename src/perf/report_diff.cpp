#include "perf/report_diff.h"

namespace opwright::perf {
namespace {

std::vector<const Signature*> signatures_of(const Report& report) {
  std::vector<const Signature*> out;
  out.reserve(report.reduced.positions.size());
  for (const Position& position : report.reduced.positions) out.push_back(&report.signature(position));
  return out;
}

// The resamples of a sum of positions.
class Total {
 public:
  explicit Total(const Resampler& resampler) : resampler_(resampler), sums_(kResamples, 0) {}

  // `means`: of one position; empty where there are too few iterations.
  void add(double mean, const std::vector<double>& means) {
    if (!has(mean)) return;
    value_ = has(value_) ? value_ + mean : mean;
    for (std::size_t r = 0; r < kResamples; ++r) sums_[r] += means.empty() ? mean : means[r];
  }
  double value() const { return value_; }
  std::size_t count() const { return resampler_.iterations(); }
  std::vector<double> means() const {
    return resampler_.iterations() < static_cast<std::size_t>(kLeastIterations) ? std::vector<double>() : sums_;
  }

 private:
  const Resampler& resampler_;
  double value_ = kNoFigure;
  std::vector<double> sums_;
};

Difference between(const Total& a, const Total& b) {
  return difference_of(a.value(), a.count(), a.means(), b.value(), b.count(), b.means());
}

// One figure of one position, and its resamples.
struct Figure {
  double mean = kNoFigure;
  std::size_t count = 0;
  std::vector<double> means;

  Figure() = default;
  Figure(const std::vector<double>& values, const Resampler& resampler) {
    double sum = 0;
    for (const double value : values) {
      if (!has(value)) continue;
      sum += value;
      ++count;
    }
    if (count == 0) return;
    mean = sum / static_cast<double>(count);
    means = resampler.means(values);
  }
};

double or_zero(double value) { return has(value) ? value : 0; }

}  // namespace

bool ReportDiff::same_operations() const {
  return of(Change::kChanged).positions == 0 && of(Change::kAdded).positions == 0 &&
         of(Change::kRemoved).positions == 0;
}

bool ReportDiff::times_differ() const {
  const auto differs = [](const Difference& one) {
    return one.verdict == Verdict::kSlower || one.verdict == Verdict::kFaster;
  };
  if (differs(kernel) || differs(op_to_op)) return true;
  for (const PositionDiff& position : positions)
    if (differs(position.kernel) || differs(position.gap)) return true;
  return false;
}

ReportDiff diff_reports(const Report& a, const Report& b, const std::vector<std::string>& ignored) {
  ReportDiff out;
  const Alignment alignment = align_operations(signatures_of(a), signatures_of(b), ignored);
  out.shortest = alignment.shortest;
  const Resampler draws_a(static_cast<std::size_t>(a.reduced.iterations)),
      draws_b(static_cast<std::size_t>(b.reduced.iterations));
  Total kernel_a(draws_a), kernel_b(draws_b), gap_a(draws_a), gap_b(draws_b), first_a(draws_a), first_b(draws_b);
  out.positions.reserve(alignment.steps.size());
  for (const AlignedStep& step : alignment.steps) {
    PositionDiff one;
    one.step = step;
    Figure kernels[2], gaps[2];
    if (step.a >= 0) {
      const Position& position = a.reduced.positions[static_cast<std::size_t>(step.a)];
      kernels[0] = Figure(position.kernel_ns, draws_a);
      gaps[0] = Figure(position.op_to_op_ns, draws_a);
      kernel_a.add(kernels[0].mean, kernels[0].means);
      (step.a == 0 ? first_a : gap_a).add(gaps[0].mean, gaps[0].means);
    }
    if (step.b >= 0) {
      const Position& position = b.reduced.positions[static_cast<std::size_t>(step.b)];
      kernels[1] = Figure(position.kernel_ns, draws_b);
      gaps[1] = Figure(position.op_to_op_ns, draws_b);
      kernel_b.add(kernels[1].mean, kernels[1].means);
      (step.b == 0 ? first_b : gap_b).add(gaps[1].mean, gaps[1].means);
    }
    if (step.a == 0) gaps[0] = {};
    if (step.b == 0) gaps[1] = {};
    const auto compare = [](const Figure& left, const Figure& right) {
      return difference_of(left.mean, left.count, left.means, right.mean, right.count, right.means);
    };
    one.kernel = compare(kernels[0], kernels[1]);
    one.gap = compare(gaps[0], gaps[1]);
    for (const Figure& figure : kernels)
      out.without_spread +=
          figure.means.empty() && has(figure.mean) && figure.count >= static_cast<std::size_t>(kLeastIterations) ? 1
                                                                                                                 : 0;
    if (step.a >= 0 && step.b >= 0 && has(one.kernel.a) != has(one.kernel.b)) ++out.without_figure;
    ChangeSum& sum = out.by_change[static_cast<std::size_t>(step.change)];
    ++sum.positions;
    sum.kernel_ns += or_zero(kernels[1].mean) - or_zero(kernels[0].mean);
    sum.gap_ns += or_zero(gaps[1].mean) - or_zero(gaps[0].mean);
    out.positions.push_back(std::move(one));
  }
  out.kernel = between(kernel_a, kernel_b);
  out.op_to_op = between(gap_a, gap_b);
  out.first_gap = between(first_a, first_b);
  std::vector<Difference*> kernels, gaps;
  for (PositionDiff& one : out.positions) {
    kernels.push_back(&one.kernel);
    gaps.push_back(&one.gap);
  }
  control_discoveries(kernels);
  control_discoveries(gaps);
  return out;
}

std::vector<FieldDifference> fields_of(const Report& a, const Report& b, const AlignedStep& step) {
  if (step.change != Change::kChanged) return {};
  return differences(a.signature(a.reduced.positions[static_cast<std::size_t>(step.a)]),
                     b.signature(b.reduced.positions[static_cast<std::size_t>(step.b)]));
}

}  // namespace opwright::perf
