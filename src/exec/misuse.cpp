#include "exec/misuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "exec/case_data.h"
#include "exec/whole_numbers.h"
#include "model/quantize.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;
constexpr std::uint64_t kOtherSeed = 0x0DDBA11;

// Runs of a tile's height that spread over the judged rows: mistakes are made with neighbours, too.
Rows part_of(const Rows& picked, std::int64_t most) {
  if (picked.count() <= most) return picked;
  Rows out{.total = picked.total, .length = picked.length, .picked = {}};
  const std::int64_t run = std::min(kTile, most);
  const std::int64_t runs = std::max<std::int64_t>(1, most / run);
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t start = runs == 1 ? 0 : i * (picked.count() - run) / (runs - 1);
    for (std::int64_t r = start; r < start + run; ++r) out.picked.push_back(picked.at(r));
  }
  std::ranges::sort(out.picked);
  out.picked.erase(std::ranges::unique(out.picked).begin(), out.picked.end());
  return out;
}

// Takes tensors away for as long as it lives.
class Exchange {
 public:
  Exchange(std::span<HostTensor> inputs, std::span<const std::size_t> slots) : inputs_(inputs) {
    for (const std::size_t slot : slots) kept_.emplace_back(slot, inputs[slot]);
  }
  ~Exchange() {
    for (auto& [slot, tensor] : kept_) inputs_[slot] = std::move(tensor);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  std::span<HostTensor> inputs_;
  std::vector<std::pair<std::size_t, HostTensor>> kept_;
};

// Root of the mean square difference against that of the right values. Infinite where one side is no number.
double change_between(std::span<const double> right, std::span<const double> wrong) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double a = right[i];
    const double b = wrong[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      if (std::isfinite(a)) size += a * a;
      continue;
    }
    if (!std::isfinite(a - b)) return INFINITY;
    difference += (a - b) * (a - b);
    size += a * a;
  }
  if (difference == 0) return 0;
  return size == 0 ? INFINITY : std::sqrt(difference / size);
}

std::string why_unnoticed(const Verdict& verdict) {
  const WorstElement& worst = verdict.metrics.worst;
  if (worst.index >= 0 && worst.bound > 0)
    return fmt::format("at most {:.2g} of the bound", std::abs(worst.actual - worst.expected) / worst.bound);
  return "what changes is accepted";
}

// Whether the cheap questions have anything to ask.
bool worth_asking(const PlannedCall& plan, const ErrorBudget& budget) {
  if (budget.kind == ErrorBudget::Kind::kExact || budget.kind == ErrorBudget::Kind::kSelection) return false;
  return std::ranges::any_of(plan.op->params, [&](const Param& param) {
    const bool number = param.name == "epsilon" || param.name == "scale" || param.name == "numeric_stable";
    const bool function = param.name.find("activation") != std::string_view::npos && plan.call.passed(param.name);
    const bool operand = !param.required && param.role && *param.role != Role::kBuffer && plan.call.slot(param.name);
    return number || function || operand || param.name == "program_config" || param.name == "conv_config";
  });
}

}  // namespace

MisuseBench::MisuseBench(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output, const Rows& picked,
                         const DataRecipe& recipe, const JudgeOptions& judging, const MisuseOptions& options)
    : plan_(plan),
      inputs_(inputs),
      output_(output),
      recipe_(recipe),
      judging_(judging),
      budget_(budget_for(recipe, *plan.op, plan.call, plan.outputs, output)) {
  std::int64_t elements = 0;
  for (const HostTensor& input : inputs) elements += input.size();
  if (elements > options.most_inputs) {
    why_none_ = fmt::format("wrong use of data is not tried with inputs of {} elements", elements);
    return;
  }
  std::int64_t most = std::max<std::int64_t>(2, options.most_elements / std::max<std::int64_t>(1, picked.length));
  if (plan.op->sum != nullptr || plan.op->work != nullptr) {
    const double work = plan.op->work != nullptr
                            ? plan.op->work(plan.call)
                            : static_cast<double>(plan.op->sum(plan.call).terms) * static_cast<double>(picked.length);
    if (work > 0) most = std::min(most, std::max<std::int64_t>(8, static_cast<std::int64_t>(options.most_work / work)));
  }
  rows_ = part_of(picked, most);
  auto right = plan.op->reference({plan.call, inputs_, plan.outputs, output_, rows_});
  if (!right || right->value.empty()) {
    why_none_ = right ? "nothing is judged" : right.error().message;
    return;
  }
  exact_ = std::move(*right);
  HostTensor as_delivered;
  right_ = delivered(exact_.value, as_delivered);
  const Verdict clean = judged(as_delivered);
  if (clean.outcome != Outcome::kPassed)
    why_none_ = fmt::format("the judged part does not pass by itself: {}",
                            clean.reasons.empty() ? std::string(name_of(clean.outcome)) : clean.reasons.front());
}

Verdict MisuseBench::judged(const HostTensor& output) const {
  const auto whole_element = [&](std::int64_t element) {
    return rows_.at(element / rows_.length) * rows_.length + element % rows_.length;
  };
  SameChoice same_choice;
  if (exact_.same_choice)
    same_choice = [&](std::int64_t element, double expected, double actual) {
      return exact_.same_choice(whole_element(element), expected, actual);
    };
  ChoiceOf choice_of;
  if (exact_.choice_of) choice_of = [&](std::int64_t element) { return exact_.choice_of(whole_element(element)); };
  return judge({.wanted = output.spec,
                .actual = output,
                .budget = budget_,
                .value = exact_.value,
                .magnitude = exact_.magnitude,
                .before = exact_.before,
                .after = exact_.after,
                .slack = exact_.slack,
                .open = exact_.open,
                .rows = {},
                .same_choice = std::move(same_choice),
                .choice_of = std::move(choice_of),
                .constant = plan_.op->constant},
               judging_);
}

Role MisuseBench::role(std::size_t slot) const {
  return role_of(*plan_.op, plan_.call.tensors[slot].param).value_or(Role::kPlain);
}

const std::vector<HostTensor>& MisuseBench::other_inputs() {
  if (other_.empty()) other_ = make_inputs(plan_, {recipe_.distribution, recipe_.seed ^ kOtherSeed});
  return other_;
}

std::vector<double> MisuseBench::delivered(const std::vector<double>& values, HostTensor& output) const {
  output.spec = plan_.outputs[output_].spec;
  output.spec.shape = {rows_.count(), rows_.length};
  if (output.integer())
    for (const double v : values)
      output.ints.push_back(static_cast<std::int64_t>(std::clamp(std::isnan(v) ? 0.0 : v, -0x1p62, 0x1p62)));
  else
    output.floats.assign(values.begin(), values.end());
  quantize(output);
  std::vector<double> out;
  out.reserve(values.size());
  for (std::int64_t i = 0; i < output.size(); ++i) out.push_back(output.at(i));
  return out;
}

std::vector<double> MisuseBench::reference(const BoundCall& call, std::span<const HostTensor> inputs) const {
  auto out = plan_.op->reference({call, inputs, plan_.outputs, output_, rows_});
  return out ? std::move(out->value) : std::vector<double>{};
}

std::vector<double> MisuseBench::reference_with(std::span<const std::size_t> slots, const Change& change) {
  const Exchange exchange(inputs_, slots);
  for (const std::size_t slot : slots) {
    if (!change(inputs_[slot])) return {};
    quantize(inputs_[slot]);
  }
  return reference(plan_.call, inputs_);
}

void MisuseBench::wrong_input(std::string_view name, std::size_t slot, const Change& change) {
  wrong_inputs(name, std::array{slot}, change);
}

void MisuseBench::wrong_inputs(std::string_view name, std::span<const std::size_t> slots, const Change& change) {
  std::string operand;
  for (const std::size_t slot : slots) operand += (operand.empty() ? "" : ", ") + plan_.call.tensors[slot].param;
  wrong_values(name, operand, reference_with(slots, change));
}

void MisuseBench::wrong_call(std::string_view name, std::string_view operand, const BoundCall& call) {
  wrong_values(name, operand, reference(call, inputs_));
}

void MisuseBench::without(std::string_view name, std::string_view param) {
  BoundCall call = plan_.call;
  std::vector<HostTensor> left;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (call.tensors[i].param != param) left.push_back(std::move(inputs_[i]));
  call.erase(param);
  std::vector<double> values = reference(call, left);
  for (std::size_t i = 0, at = 0; i < inputs_.size(); ++i)
    if (plan_.call.tensors[i].param != param) inputs_[i] = std::move(left[at++]);
  wrong_values(name, param, std::move(values));
}

void MisuseBench::wrong_values(std::string_view name, std::string_view operand, std::vector<double> values) {
  if (values.size() != exact_.value.size()) return;
  HostTensor wrong;
  const std::vector<double> given = delivered(values, wrong);
  const double change = change_between(right_, given);
  if (change == 0) return;
  const Verdict verdict = judged(wrong);
  const bool noticed = verdict.outcome != Outcome::kPassed;
  answers_.push_back({.name = std::string(name),
                      .operand = std::string(operand),
                      .change = change,
                      .noticed = noticed,
                      .why = noticed ? std::string() : why_unnoticed(verdict)});
}

std::vector<std::string> blind_to(std::span<const Misused> asked) {
  std::vector<std::string> out;
  for (const Misused& one : asked)
    if (one.large() && !one.noticed)
      out.push_back(fmt::format("{}: {} changes the output by {:.2g} % rms, {}", one.name, one.operand,
                                100 * one.change, one.why));
  return out;
}

std::vector<std::string> blind_to(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output,
                                  const Rows& picked, const DataRecipe& recipe, const JudgeOptions& judging) {
  constexpr MisuseOptions kFew{.most_elements = 1 << 12, .most_work = 1e6, .most_inputs = INT64_MAX};
  constexpr MisuseOptions kMore{.most_elements = 1 << 16, .most_work = 2e7, .most_inputs = INT64_MAX};
  if (!worth_asking(plan, budget_for(recipe, *plan.op, plan.call, plan.outputs, output))) return {};
  std::vector<std::string> out;
  for (const MisuseOptions& options : {kFew, kMore}) {
    MisuseBench bench(plan, inputs, output, picked, recipe, judging, options);
    if (!bench.why_none().empty()) return out;
    misuse_without_copies(bench);
    misuse_of_rows(bench);
    out = blind_to(bench.answers());
    if (out.empty() || bench.rows().count() == picked.count()) return out;
  }
  return out;
}

std::vector<Misused> try_misuse(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output,
                                const Rows& picked, const DataRecipe& recipe, const JudgeOptions& judging,
                                std::string& why_none, const MisuseOptions& options) {
  MisuseBench bench(plan, inputs, output, picked, recipe, judging, options);
  why_none = bench.why_none();
  if (!why_none.empty()) return {};
  misuse_inputs(bench);
  misuse_families(bench);
  return bench.answers();
}

}  // namespace opwright
