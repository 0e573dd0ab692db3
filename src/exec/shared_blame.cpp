#include "exec/shared_blame.h"

#include <fmt/format.h>

#include "base/message_pattern.h"
#include "base/words.h"

namespace opwright {
namespace {

constexpr std::size_t kShownLine = 160;

// A leak, a flake, a machine that is not fit: the next failure with the same words may have another reason.
bool is_of_the_operation(Blame blame) {
  return blame == Blame::kOperator || blame == Blame::kReference || blame == Blame::kHarness;
}

}  // namespace

std::string SharedBlame::name_of_cause(const CaseRecord& failed) {
  // Where another implementation fails as well, the reference is to blame.
  const std::string_view second = failed.second_opinion ? name_of(*failed.second_opinion) : "";
  return fmt::format("{}\n{}\n{}\n{}", failed.op, name_of(failed.outcome), second, message_pattern(failed.reason));
}

SharedBlame::Way SharedBlame::way_of(const CaseRecord& failed) const {
  const auto cause = causes_.find(name_of_cause(failed));
  if (cause == causes_.end()) return Way::kRepeat;
  if (cause->second.blame != Blame::kNobody) return Way::kShare;
  return cause->second.is_repeating ? Way::kWait : Way::kRepeat;
}

void SharedBlame::begin(const CaseRecord& failed) { causes_[name_of_cause(failed)].is_repeating = true; }

void SharedBlame::wait(EndedCase failed) { causes_[name_of_cause(failed.record)].waiting.push_back(std::move(failed)); }

std::pair<std::vector<EndedCase>, bool> SharedBlame::end(const CaseRecord& repeated) {
  Cause& cause = causes_[name_of_cause(repeated)];
  cause.is_repeating = false;
  const bool shares = is_of_the_operation(repeated.blame);
  if (shares) {
    cause.blame = repeated.blame;
    cause.evidence = fmt::format("shared, not repeated itself: another failure of {} with this message, {}: {}",
                                 repeated.op, cut_text(repeated.line, kShownLine), repeated.evidence);
  }
  return {std::exchange(cause.waiting, {}), shares};
}

void SharedBlame::share(CaseRecord& failed) const {
  const Cause& cause = causes_.at(name_of_cause(failed));
  failed.blame = cause.blame;
  if (!failed.evidence.empty()) failed.evidence += "; ";
  failed.evidence += cause.evidence;
}

}  // namespace opwright
