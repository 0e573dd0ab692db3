#include "gentest/expected.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dialect/ttnn/python_api.h"
#include "gentest/spell_value.h"
#include "ops/all_ops.h"

namespace opwright::embedded {
extern const std::string_view kGentestReferences;
}  // namespace opwright::embedded

namespace opwright::gentest {
namespace {

// The names in `@reference("…")`.
const std::set<std::string_view>& torch_references() {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> found;
    constexpr std::string_view kMark = "\n@reference(\"";
    const std::string_view text = embedded::kGentestReferences;
    for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
      const std::size_t start = at + kMark.size();
      found.insert(text.substr(start, text.find('"', start) - start));
    }
    return found;
  }();
  return names;
}

// None where the trace, or the rules, do not say enough.
std::optional<Python> spell_spec(const OutputSpec& output, bool with_memory) {
  const TensorSpec& spec = output.spec;
  const Checked<Python> dtype = spell_dtype(spec.dtype);
  const Checked<Python> layout = spell_layout(spec.layout);
  if (!spec.has_shape || !dtype || !layout) return std::nullopt;
  Python made = Python::call("Spec").add(python_ints(spec.device_shape.value_or(spec.shape))).add(*dtype).add(*layout);
  if (with_memory && spec.memory)
    if (Checked<Python> memory = spell_memory(*spec.memory)) made.add(*std::move(memory));
  return made;
}

std::optional<Python> spell_returns(const std::vector<OutputSpec>& outputs, bool with_memory) {
  Python list{"lambda: ", '['};
  for (const OutputSpec& output : outputs) {
    std::optional<Python> spec = spell_spec(output, with_memory);
    if (!spec) return std::nullopt;
    list.add(*std::move(spec));
  }
  return list;
}

// One step of a number near 1 of that dtype.
double step_of(DType dtype) { return std::ldexp(1.0, 1 - info(dtype).significand); }

Python number(double value) { return Python::atom(python_float(value)); }

void add_limits(const Understood& understood, const std::vector<OutputSpec>& outputs,
                std::vector<std::pair<std::string, Python>>& out) {
  if (understood.op->budget == nullptr || outputs.empty()) return;
  bool exact = true;
  bool elementwise = true;
  double pcc = 1.0, relative = 0.0, absolute = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ErrorBudget budget = understood.op->budget(*understood.bound, outputs, i);
    const DType dtype = outputs[i].spec.dtype.value;
    const bool kept = budget.kind == ErrorBudget::Kind::kExact || budget.kind == ErrorBudget::Kind::kSelection;
    // A value that the dtype does not hold is rounded, whoever moves it.
    exact = exact && kept && (is_integer(dtype) || dtype == DType::kFloat32);
    elementwise = elementwise && (kept || budget.kind == ErrorBudget::Kind::kElementwise) && !is_block_float(dtype);
    pcc = std::min(pcc, budget.pcc);
    if (is_integer(dtype)) continue;
    const double ulps = kept ? 1.0 : std::max(budget.ulps, 1.0);
    relative = std::max(relative, ulps * step_of(dtype) + budget.relative);
    absolute = std::max(absolute, budget.floor * ulps * step_of(dtype));
  }
  if (exact) {
    out.emplace_back("exact", Python::atom("True"));
    return;
  }
  out.emplace_back("pcc", number(pcc));
  if (!elementwise) return;
  out.emplace_back("rtol", number(relative));
  if (absolute > 0) out.emplace_back("atol", number(absolute));
}

}  // namespace

Reference reference_of(std::string_view op) {
  if (has_golden_function(op)) return Reference::kGolden;
  return torch_references().contains(op) ? Reference::kTorch : Reference::kNone;
}

std::string_view name_of(Reference reference) {
  switch (reference) {
    case Reference::kGolden:
      return "GOLDEN";
    case Reference::kTorch:
      return "TORCH";
    case Reference::kNone:
      break;
  }
  return "None";
}

std::vector<std::pair<std::string, Python>> expectations(const Recorded& recorded, const Understood& understood) {
  std::vector<std::pair<std::string, Python>> out;
  std::vector<OutputSpec> promised;
  if (understood.bound && understood.op->infer != nullptr) {
    const Board board = understood.board.value_or(*find_board("n150"));
    if (auto outputs = understood.op->infer(*understood.bound, board)) promised = *std::move(outputs);
  }
  if (!recorded.raised.empty()) {
    out.emplace_back("raises", Python::atom(python_string(recorded.raised)));
    return out;
  }
  std::optional<Python> returns;
  if (!recorded.returns.empty())
    returns = spell_returns(recorded.returns.front().outputs, true);
  else if (!promised.empty())
    returns = spell_returns(promised, understood.board.has_value());
  if (returns) out.emplace_back("returns", *std::move(returns));
  if (understood.bound) add_limits(understood, promised, out);
  return out;
}

}  // namespace opwright::gentest
