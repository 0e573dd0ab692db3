#include "shrink/shrink_case.h"

#include "shrink/numbers.h"
#include "shrink/search.h"
#include "shrink/sequence.h"

namespace opwright::shrink {
namespace {

// A case that runs before, made smaller while the last one fails: the same search with the roles exchanged.
void shrink_before(Subject& subject, std::size_t which, const Rules& rules, Trials& trials) {
  const auto placed = [&](const Subject& candidate) {
    Subject out = subject;
    out.before[which] = candidate.config;
    return out;
  };
  Trials inner([&](const Subject& candidate) -> Result<Answer> { return trials.answer(placed(candidate), kSequence); },
               {}, [] { return 0.0; });
  Search search({subject.before[which], {}, {}}, rules, inner);
  search.run();
  subject = placed(search.smallest());
}

}  // namespace

Shrunk shrink_case(const Subject& given, const Rules& rules, Trials& trials) {
  Subject subject = given;
  if (!subject.before.empty()) subject = shortest_sequence(std::move(subject), trials);
  Search search(std::move(subject), rules, trials);
  search.run();
  for (std::size_t i = 0; i < search.smallest().before.size(); ++i) {
    Subject shorter = search.smallest();
    shrink_before(shorter, i, rules, trials);
    search.take(std::move(shorter));
  }
  Shrunk out;
  out.needs = find_needs(search, rules, trials);
  // Last: where a number stands means nothing in another shape.
  const DataRecipe& recipe = search.smallest().recipe;
  const bool is_plain = recipe.distribution == Distribution::kZeros || recipe.distribution == Distribution::kOnes;
  if (!is_plain && !recipe.kept)
    if (auto fewer = with_kept_numbers(search.smallest(), rules, trials)) search.take(*std::move(fewer));
  out.smallest = search.smallest();
  return out;
}

}  // namespace opwright::shrink
