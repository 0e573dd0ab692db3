// The question that everything rests on: does this fail in the same way? Answers are kept by case line, what was asked
// is counted, and the budget ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "shrink/subject.h"

namespace opwright::shrink {

enum class Answer : std::uint8_t {
  kFails,   // in the same way
  kPasses,  // nothing is wrong with it
  kOther,   // it was refused, or fails in another way: says nothing of the failure looked for
};
// Runs it.
using Ask = std::function<Result<Answer>(const Subject&)>;

struct Budget {
  int trials = 200;
  double seconds = 300;
};

class Trials {
 public:
  Trials(Ask ask, Budget budget, std::function<double()> clock);

  // `kind` is what is tried: "dimensions", "dtypes", … kOther once the budget is spent.
  Answer answer(const Subject& subject, std::string_view kind);
  bool fails(const Subject& subject, std::string_view kind) { return answer(subject, kind) == Answer::kFails; }

  struct Count {
    std::int64_t tried = 0, failed = 0;
  };
  const std::map<std::string, Count, std::less<>>& counts() const { return counts_; }
  std::int64_t run() const { return run_; }        // trials that a device ran
  std::int64_t cached() const { return cached_; }  // … and questions that were answered before
  bool spent() const { return spent_; }            // the budget ended it
  const std::optional<Error>& error() const { return error_; }
  double seconds() const { return clock_() - begun_; }

 private:
  Ask ask_;
  Budget budget_;
  std::function<double()> clock_;
  double begun_ = 0;
  std::unordered_map<std::string, Answer> known_;
  std::map<std::string, Count, std::less<>> counts_;
  std::int64_t run_ = 0, cached_ = 0;
  bool spent_ = false;
  std::optional<Error> error_;
};

}  // namespace opwright::shrink
