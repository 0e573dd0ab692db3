#include "shrink/numbers.h"

#include <cmath>

#include "shrink/steps.h"

namespace opwright::shrink {
namespace {

constexpr double kLargest = 1e6;  // beyond it whole numbers say no more than others

Subject keeping(const Subject& subject, KeptNumbers kept) {
  Subject out = subject;
  out.recipe.kept = std::move(kept);
  return out;
}

}  // namespace

std::optional<Subject> with_kept_numbers(const Subject& subject, const Rules& rules, Trials& trials) {
  for (const Rules::Input& input : rules.inputs_of(subject.config)) {
    if (input.elements < 1) continue;
    KeptNumbers kept{input.name, 0, input.elements - 1, std::nullopt};
    if (!trials.fails(keeping(subject, kept), kData)) continue;
    while (kept.first < kept.last && !trials.spent()) {
      const std::int64_t middle = kept.first + (kept.last - kept.first) / 2;
      const KeptNumbers front{kept.input, kept.first, middle, std::nullopt};
      const KeptNumbers back{kept.input, middle + 1, kept.last, std::nullopt};
      if (trials.fails(keeping(subject, front), kData))
        kept = front;
      else if (trials.fails(keeping(subject, back), kData))
        kept = back;
      else
        break;
    }
    return keeping(subject, kept);
  }
  return std::nullopt;
}

std::optional<Subject> with_one_number(const Subject& subject, const Rules& rules, Trials& trials) {
  const auto found = with_kept_numbers(subject, rules, trials);
  if (!found || found->recipe.kept->first != found->recipe.kept->last) return std::nullopt;
  KeptNumbers kept = *found->recipe.kept;
  const auto drawn = rules.drawn(subject.config, subject.recipe, kept.input, kept.first);
  if (!drawn || !std::isfinite(*drawn)) return std::nullopt;
  kept.first = kept.last = 0;
  kept.value = drawn;
  if (!trials.fails(keeping(subject, kept), kData)) return std::nullopt;
  const double sign = *drawn < 0 ? -1 : 1;
  const auto fails = [&](double size) {
    KeptNumbers whole = kept;
    whole.value = sign * size;
    return trials.fails(keeping(subject, whole), kData);
  };
  double high = std::ceil(std::abs(*drawn)), low = 0;  // zeros pass
  if (high > kLargest || !fails(high)) return keeping(subject, kept);
  while (high - low > 1 && !trials.spent()) {
    const double middle = std::floor((low + high) / 2);
    (fails(middle) ? high : low) = middle;
  }
  kept.value = sign * high;
  return keeping(subject, kept);
}

}  // namespace opwright::shrink
