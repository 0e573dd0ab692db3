#include "exec/size_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exec/plan_call.h"

namespace opwright {
namespace {

// Beyond this products of dimensions would overflow; nobody runs such a case anyway.
constexpr double kMostElements = 1e15;

std::int64_t elements_of(const TensorSpec& spec) {
  double product = 1;
  for (const std::int64_t n : spec.shape) product *= static_cast<double>(std::max<std::int64_t>(0, n));
  return static_cast<std::int64_t>(std::min(product, kMostElements));
}

// As a HostTensor holds it.
std::int64_t host_bytes(const TensorSpec& spec) { return elements_of(spec) * (is_integer(spec.dtype.value) ? 8 : 4); }

// What a case is made of, in numbers that its cost is proportional to.
struct Parts {
  std::int64_t inputs = 0;  // elements
  std::int64_t input_bytes = 0;
  std::int64_t outputs = 0;
  std::int64_t output_bytes = 0;
  double judged = 0;  // elements that the reference computes
  double work = 0;    // multiply-adds for them
};

void add_input(const TensorSpec& spec, Parts& parts) {
  parts.inputs += elements_of(spec);
  parts.input_bytes += host_bytes(spec);
}

// The sample that pick_rows takes, without taking it.
void add_output(const PlannedCall& plan, const TensorSpec& spec, const RunOptions& options, Parts& parts) {
  const std::int64_t elements = elements_of(spec);
  parts.outputs += elements;
  parts.output_bytes += host_bytes(spec);
  double judged = std::min(static_cast<double>(elements), static_cast<double>(options.most_elements));
  if (const double work = plan.op->work == nullptr ? 0.0 : plan.op->work(plan.call); work > 0) {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, row_length(spec.shape)));
    judged = std::min(judged, std::max(16.0, options.most_work / work) * length);
    parts.work += work * judged / length;
  }
  parts.judged += judged;
}

// Rates of the simulated device: processor time of one core, fitted over every twelfth configuration of the recorded
// traces (474 that were computed). Half of them take 0.8 to 1.5 times the estimate, nine of ten 0.55 to 3.5 times, all
// together what was estimated. Operators differ most (an element of a softmax costs ten times a reshape's); a run
// weighs estimates by what it sees.
constexpr double kCaseSeconds = 4e-4;
constexpr double kInputSeconds = 7e-9;     // an element: random number, rounding to the dtype
constexpr double kOutputSeconds = 3e-9;    // an element
constexpr double kJudgedSeconds = 2.8e-8;  // an element: reference, judge
constexpr double kWorkSeconds = 1.9e-10;   // a multiply-add, device and reference together
constexpr double kRefusedSeconds = 1e-4;

// The same cases: nine of ten take 0.6 to 1.0 times as much; small convolutions, whose weights are prepared as well, up
// to 2.7 times.
constexpr std::int64_t kCaseBytes = std::int64_t{4} << 20;
constexpr std::int64_t kJudgedBytes = 16;  // value and magnitude, in double

CaseFeatures features_of(const OpConfig& config, std::int64_t elements) {
  CaseFeatures features;
  features.size = size_class(elements);
  bool first = true;
  for (const Argument& argument : config.args)
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (!std::exchange(first, false)) return;
      features.dtype = spec.dtype.value;
      features.layout = spec.layout.value;
      if (!spec.memory) return;
      features.buffer = spec.memory->buffer.value;
      features.memory = spec.memory->layout.value;
    });
  return features;
}

}  // namespace

std::string_view name_of(SizeClass size) {
  constexpr std::array<std::string_view, kSizeClasses> kNames{"tiny", "small", "medium", "large", "huge"};
  return kNames[static_cast<std::size_t>(size)];
}

SizeClass size_class(std::int64_t elements) {
  if (elements <= std::int64_t{1} << 16) return SizeClass::kTiny;
  if (elements <= std::int64_t{1} << 20) return SizeClass::kSmall;
  if (elements <= std::int64_t{1} << 22) return SizeClass::kMedium;
  return elements <= std::int64_t{1} << 26 ? SizeClass::kLarge : SizeClass::kHuge;
}

std::string memory_text(const CaseFeatures& features) {
  if (features.buffer == BufferType::kAbsent && features.memory == MemoryLayout::kAbsent) return "HOST";
  return fmt::format("{} {}", name_of(features.buffer), name_of(features.memory));
}

CaseEstimate estimate(const OpConfig& config, const Board& board, CostModel cost, const RunOptions& options) {
  Parts parts;
  const auto plan = plan_call(config, board);
  for (const Argument& argument : config.args)
    for_each_tensor(argument.value, [&](const TensorSpec& spec) { add_input(spec, parts); });
  if (plan)
    for (const OutputSpec& output : plan->outputs) add_output(*plan, output.spec, options, parts);
  CaseEstimate out;
  out.outputs_known = plan.has_value();
  out.elements = parts.inputs + parts.outputs;
  out.features = features_of(config, out.elements);
  out.bytes = kCaseBytes;
  out.seconds = kRefusedSeconds;
  const bool computed = cost == CostModel::kExternal || (cost == CostModel::kSimulated && plan && options.compute);
  if (!computed) return out;
  if (!plan) {  // an external device may run what we know no outputs of: take them to be as large as the inputs
    parts.outputs = parts.inputs;
    parts.output_bytes = parts.input_bytes;
  }
  // Outputs lie there twice for a moment: as the device computes them and as they are handed over.
  out.bytes += parts.input_bytes + 2 * parts.output_bytes + kJudgedBytes * static_cast<std::int64_t>(parts.judged);
  out.seconds = kCaseSeconds + kInputSeconds * static_cast<double>(parts.inputs) +
                kOutputSeconds * static_cast<double>(parts.outputs) + kJudgedSeconds * parts.judged +
                kWorkSeconds * parts.work;
  return out;
}

}  // namespace opwright
