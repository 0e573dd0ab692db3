#include "shrink/sequence.h"

#include <algorithm>

#include "shrink/steps.h"

namespace opwright::shrink {

Subject shortest_sequence(Subject subject, Trials& trials) {
  // Mostly it is one case, and mostly it stood near the end: how far back the cause lies, by halves.
  const std::vector<OpConfig> all = subject.before;
  const auto last = [&](std::size_t count) {
    Subject out = subject;
    out.before.assign(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    return out;
  };
  std::size_t good = 0, bad = all.size();  // after so many it passes, fails
  while (bad - good > 1 && !trials.spent()) {
    const std::size_t middle = good == 0 ? 1 : (good + bad) / 2;
    (trials.fails(last(middle), kSequence) ? bad : good) = middle;
  }
  subject = last(bad);
  if (subject.before.size() > 1) {  // the first of them alone
    Subject single = subject;
    single.before.resize(1);
    if (trials.fails(single, kSequence)) return single;
  }
  for (std::size_t part = subject.before.size() / 2; part > 0 && !trials.spent();) {
    bool left_out = false;
    for (std::size_t from = 0; from < subject.before.size() && subject.before.size() > 1; from += part) {
      Subject shorter = subject;
      const auto begin = shorter.before.begin() + static_cast<std::ptrdiff_t>(from);
      const auto count = std::min(part, shorter.before.size() - from);
      shorter.before.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      if (shorter.before.empty() || !trials.fails(shorter, kSequence)) continue;
      subject = std::move(shorter);
      left_out = true;
      break;
    }
    if (!left_out) part /= 2;
    part = std::min(part, subject.before.size());
    if (subject.before.size() <= 1) break;
  }
  return subject;
}

}  // namespace opwright::shrink
