#include "shrink/trial.h"

namespace opwright::shrink {

Trials::Trials(Ask ask, Budget budget, std::function<double()> clock)
    : ask_(std::move(ask)), budget_(budget), clock_(std::move(clock)), begun_(clock_()) {}

Answer Trials::answer(const Subject& subject, std::string_view kind) {
  const std::string key = key_of(subject);
  if (const auto known = known_.find(key); known != known_.end()) {
    ++cached_;
    return known->second;
  }
  if (error_) return Answer::kOther;
  if (run_ >= budget_.trials || seconds() >= budget_.seconds) {
    spent_ = true;
    return Answer::kOther;
  }
  ++run_;
  auto answered = ask_(subject);
  if (!answered) {
    error_ = std::move(answered).error();
    return Answer::kOther;
  }
  known_.emplace(key, *answered);
  Count& count = counts_[std::string(kind)];
  ++count.tried;
  count.failed += *answered == Answer::kFails ? 1 : 0;
  return *answered;
}

}  // namespace opwright::shrink
