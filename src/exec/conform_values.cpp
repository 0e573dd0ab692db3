#include "exec/conform_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "compare/judge.h"
#include "device/device.h"
#include "exec/case_data.h"
#include "exec/plan_call.h"
#include "exec/run_case.h"

namespace opwright {
namespace {

using Grade = ValueFinding::Grade;

struct Deviation {
  double nrmse = 0;    // rms(error) / std(exact), or rel_rms where nothing spreads, as the records have it
  double rel_rms = 0;  // rms(error) / rms(exact)
  double pcc = 1;
};

// The judge's own figures, of finite pairs; where classes differ is counted elsewhere.
Deviation deviation(const HostTensor& actual, std::span<const double> exact) {
  const Metrics figures = judge({.wanted = actual.spec, .actual = actual, .budget = {}, .value = exact}).metrics;
  Deviation out{figures.spread > 0 ? figures.nrmse : figures.rel_rms, figures.rel_rms, figures.pcc};
  if (std::isnan(out.pcc)) out.pcc = figures.rel_rms > 0 ? 0.0 : 1.0;
  return out;
}

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.size(); ++i) out.push_back(tensor.at(i));
  return out;
}

// Steps between two bfloat16 values; both signs of zero are one.
std::int64_t bf16_steps(float a, float b) {
  const auto order = [](float x) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x) >> 16U);
    return (bits & 0x8000) != 0 ? -(bits & 0x7FFF) : bits;
  };
  return std::abs(order(a) - order(b));
}

int class_of(float x) {  // finite, zero, +Inf, -Inf, NaN
  if (std::isnan(x)) return 4;
  if (std::isinf(x)) return x > 0 ? 2 : 3;
  return x == 0 ? 1 : 0;
}

std::string refusal_text(const Refusal& refusal) {
  return fmt::format("refused here ({}): {}", name_of(refusal.kind), refusal.message);
}

bool between(double ratio) { return ratio >= 0.5 && ratio <= 2.0; }

// Against what real kernels computed from the same inputs.
void grade_results(const OracleCase& oracle, const PlannedCall& plan, const std::vector<HostTensor>& actual,
                   ValueFinding& finding) {
  finding.grade = Grade::kExact;
  for (std::size_t o = 0; o < std::min(oracle.results.size(), actual.size()); ++o) {
    const HostTensor& real = oracle.results[o];
    const HostTensor& sim = actual[o];
    const auto count = static_cast<std::size_t>(real.size());
    if (sim.size() != real.size()) {
      finding.grade = Grade::kBeyond;
      finding.text = fmt::format("output {}: {} elements expected, {} here", o, real.size(), sim.size());
      return;
    }
    std::int64_t same = 0, near = 0, same_class = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto a = static_cast<float>(sim.at(static_cast<std::int64_t>(i)));
      const auto b = static_cast<float>(real.at(static_cast<std::int64_t>(i)));
      same += std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a == 0 && b == 0) ||
              (std::isnan(a) && std::isnan(b));
      same_class += class_of(a) == class_of(b);
      near += bf16_steps(a, b) <= 1;
    }
    finding.elements += static_cast<std::int64_t>(count);
    finding.exact_elements += same;
    if (same == static_cast<std::int64_t>(count)) continue;

    const Rows rows{.total = sim.size() / std::max<std::int64_t>(1, row_length(sim.spec.shape)),
                    .length = row_length(sim.spec.shape),
                    .picked = {}};
    if (plan.op->reference == nullptr) {
      finding.skipped = "no reference";
      return;
    }
    const auto exact = plan.op->reference({plan.call, oracle.inputs, plan.outputs, o, rows});
    if (!exact) {
      finding.skipped = "reference: " + exact.error().message;
      return;
    }
    const Deviation sim_error = deviation(sim, exact->value);
    const Deviation real_error = deviation(real, exact->value);
    const Deviation between_both = deviation(sim, values_of(real));
    const double ratio = sim_error.rel_rms / real_error.rel_rms;
    const double total = static_cast<double>(count);
    const ErrorBudget budget = plan.op->budget(plan.call, plan.outputs, o);
    bool good = false;
    switch (budget.kind) {
      case ErrorBudget::Kind::kExact:
      case ErrorBudget::Kind::kSelection:
        break;  // bit-exact is asked, and it is not
      case ErrorBudget::Kind::kElementwise:
        good = (static_cast<double>(near) >= 0.99 * total && static_cast<double>(same_class) >= 0.995 * total) ||
               (between(ratio) && between_both.pcc >= real_error.pcc);
        break;
      case ErrorBudget::Kind::kContraction:
        good = between(ratio) && between_both.pcc >= real_error.pcc;
        break;
    }
    finding.grade = std::max(finding.grade, good ? Grade::kWithin : Grade::kBeyond);
    finding.text += fmt::format(
        "{}output {}: {:.2f} % bit-exact, {:.2f} % within 1 bf16 step, {:.2f} % same class; error {:.3g} against "
        "{:.3g} of "
        "the real kernel (x{:.2f}); PCC with it {:.7f}, its own {:.7f}",
        finding.text.empty() ? "" : "; ", o, 100.0 * static_cast<double>(same) / total,
        100.0 * static_cast<double>(near) / total, 100.0 * static_cast<double>(same_class) / total, sim_error.rel_rms,
        real_error.rel_rms, ratio, between_both.pcc, real_error.pcc);
  }
}

// The data that the record speaks of.
std::vector<HostTensor> recorded_inputs(const PlannedCall& plan, const OracleAccuracy& recorded, std::uint64_t seed) {
  const std::string& text = recorded.distribution;
  DataRecipe recipe{.seed = seed};
  if (text.starts_with("U(0,1)")) recipe.distribution = Distribution::kUniform01;
  if (text.starts_with("|N(0,1)|+0.1")) recipe.distribution = Distribution::kPositive;
  std::vector<HostTensor> inputs = make_inputs(*plan.op, plan.call, recipe, Marks::kOff);
  if (text.find("weights N(0,1)") == std::string::npos) return inputs;
  std::vector<HostTensor> normal = make_inputs(*plan.op, plan.call, {.seed = seed}, Marks::kOff);
  for (const std::string_view param : {"weight_tensor", "bias_tensor"})
    if (const auto slot = plan.call.slot(param)) inputs[*slot] = std::move(normal[*slot]);
  return inputs;
}

// Which elements of a row count, and whether the row does: records of caches speak of what was written, those of
// statistics of their first column.
struct Part {
  bool written = false;
  bool first_column = false;
  explicit Part(std::string_view text)
      : written(text.starts_with("written ")), first_column(text.starts_with("column 0")) {}
};

Checked<Deviation> deviation_of(const PlannedCall& plan, const OracleAccuracy& recorded,
                                std::span<const HostTensor> inputs, const HostTensor& sim, const Rows& rows) {
  OPWRIGHT_CHECK_ASSIGN(const Exact exact,
                        plan.op->reference({plan.call, inputs, plan.outputs, recorded.output, rows}));
  const Part part(recorded.part);
  const HostTensor* before = nullptr;  // the cache that became this output: caches stand in the order of the outputs
  for (std::size_t i = 0, caches = 0; part.written && before == nullptr && i < inputs.size(); ++i)
    if (inputs[i].spec.shape == sim.spec.shape && caches++ == recorded.output) before = &inputs[i];
  HostTensor looked_at{sim.spec, {}, {}};
  std::vector<double> theirs;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int64_t start = rows.at(r) * rows.length;
    const auto changed = [&] {
      for (std::int64_t i = 0; i < rows.length; ++i)
        if (exact.value[static_cast<std::size_t>(r * rows.length + i)] != before->at(start + i)) return true;
      return false;
    };
    if (before != nullptr && !changed()) continue;
    for (std::int64_t i = 0; i < (part.first_column ? 1 : rows.length); ++i) {
      if (sim.integer())
        looked_at.ints.push_back(sim.ints[static_cast<std::size_t>(start + i)]);
      else
        looked_at.floats.push_back(sim.floats[static_cast<std::size_t>(start + i)]);
      theirs.push_back(exact.value[static_cast<std::size_t>(r * rows.length + i)]);
    }
  }
  looked_at.spec.shape = {static_cast<std::int64_t>(theirs.size())};
  return deviation(looked_at, theirs);
}

// Against how accurate real kernels were on data of the same distribution. Figures of a few elements scatter, so small
// outputs are computed from several seeds and the median counts.
void grade_accuracy(const OracleCase& oracle, const PlannedCall& plan, Device& device, ValueFinding& finding) {
  constexpr std::int64_t kFew = 4096;
  constexpr std::uint64_t kSeeds = 15;
  const OracleAccuracy& recorded = *oracle.accuracy;
  if (recorded.output >= plan.outputs.size()) {
    finding.text = fmt::format("output {} expected, {} here", recorded.output, plan.outputs.size());
    return;
  }
  const std::int64_t elements = volume(plan.outputs[recorded.output].spec.shape);
  std::vector<Deviation> found;
  for (std::uint64_t seed = 1; seed <= (elements < kFew ? kSeeds : 1); ++seed) {
    const std::vector<HostTensor> inputs = recorded_inputs(plan, recorded, seed);
    const Rows rows = pick_rows(plan, inputs, recorded.output, RunOptions{});
    std::vector<std::vector<std::int64_t>> looked_at(plan.outputs.size());
    looked_at[recorded.output] = rows.picked;
    const auto result = device.run({plan.call, plan.outputs, looked_at}, inputs);
    if (!result) {
      finding.text = refusal_text(result.error());
      return;
    }
    auto measured = deviation_of(plan, recorded, inputs, result->outputs[recorded.output], rows);
    if (!measured) {
      finding.skipped = "reference: " + measured.error().message;
      return;
    }
    found.push_back(*measured);
    finding.elements += elements;
  }
  std::ranges::sort(found, {}, &Deviation::nrmse);
  const Deviation& error = found[found.size() / 2];
  const double ratio = error.nrmse / recorded.nrmse;
  finding.text = fmt::format("NRMSE {:.3g}, recorded {:.3g} (x{:.2f}); PCC {:.7f}, recorded {:.7f}; {}", error.nrmse,
                             recorded.nrmse, ratio, error.pcc, recorded.pcc, recorded.distribution);
  if (recorded.nrmse == 0 && error.nrmse == 0)
    finding.grade = Grade::kExact;
  else
    finding.grade = recorded.nrmse > 0 && between(ratio) ? Grade::kWithin : Grade::kBeyond;
}

}  // namespace

ValueFinding judge_values(const OracleCase& oracle, std::string_view device_name) {
  ValueFinding finding;
  if (oracle.answer != OracleCase::Answer::kOk) {
    finding.skipped = "no values recorded";
    return finding;
  }
  const auto plan = plan_call(oracle.config, oracle.board);
  if (!plan) {
    finding.text = refusal_text(plan.error());
    return finding;
  }
  if (plan->op->reference == nullptr) {
    finding.skipped = "no reference";
    return finding;
  }
  const auto device = open_device(device_name, oracle.board);
  if (device->can().numerics == Numerics::kNone) {
    finding.skipped = "the device has no numerics";
    return finding;
  }
  if (oracle.results.empty()) {
    grade_accuracy(oracle, *plan, *device, finding);
    return finding;
  }
  const auto result = device->run({plan->call, plan->outputs}, oracle.inputs);
  if (result)
    grade_results(oracle, *plan, result->outputs, finding);
  else
    finding.text = refusal_text(result.error());
  return finding;
}

}  // namespace opwright
