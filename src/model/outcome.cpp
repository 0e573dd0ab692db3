#include "model/outcome.h"

#include <array>

namespace opwright {
namespace {

struct OutcomeName {
  Outcome outcome;
  std::string_view name;
  Standing standing;
  std::string_view sweep;
};
// One list of all that is said of an outcome. The existing framework knows no other word for what was never computed
// than NOT_RUN, and calls every refusal and wrong number an assertion.
constexpr std::array kOutcomes{
    OutcomeName{Outcome::kNotRun, "not_run", Standing::kNoAnswer, "NOT_RUN"},
    OutcomeName{Outcome::kPassed, "passed", Standing::kPassed, "PASS"},
    OutcomeName{Outcome::kMistrusted, "mistrusted", Standing::kUndecided, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kVacuous, "vacuous", Standing::kFailed, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kUnproven, "unproven", Standing::kUndecided, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kFailed, "failed", Standing::kFailed, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kAccepted, "accepted", Standing::kUndecided, "NOT_RUN"},
    OutcomeName{Outcome::kRefused, "refused", Standing::kFailed, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kOutOfMemory, "out_of_memory", Standing::kFailed, "FAIL_L1_OUT_OF_MEM"},
    OutcomeName{Outcome::kUnsupported, "unsupported", Standing::kNoAnswer, "NOT_RUN"},
    OutcomeName{Outcome::kLost, "lost", Standing::kNoAnswer, "NOT_RUN"},
    OutcomeName{Outcome::kDeviceError, "device_error", Standing::kFailed, "FAIL_ASSERT_EXCEPTION"},
    OutcomeName{Outcome::kCrashed, "crashed", Standing::kFailed, "FAIL_CRASH_HANG"},
    OutcomeName{Outcome::kTimedOut, "timed_out", Standing::kFailed, "FAIL_CRASH_HANG"},
    OutcomeName{Outcome::kHostMemory, "host_memory", Standing::kFailed, "FAIL_CRASH_HANG"},
    OutcomeName{Outcome::kHarnessError, "harness_error", Standing::kFailed, "NOT_RUN"},
    OutcomeName{Outcome::kXfailed, "xfailed", Standing::kUndecided, "XFAIL"},
    OutcomeName{Outcome::kXpassed, "xpassed", Standing::kFailed, "XPASS"},
    OutcomeName{Outcome::kReferenceWrong, "reference_wrong", Standing::kFailed, "FAIL_ASSERT_EXCEPTION"},
};
static_assert([] {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i)
    if (static_cast<std::size_t>(kOutcomes[i].outcome) != i) return false;
  return true;
}());

constexpr std::array kBlames{
    std::string_view(""),        std::string_view("op"),         std::string_view("reference"),
    std::string_view("harness"), std::string_view("state leak"), std::string_view("flaky"),
    std::string_view("machine"), std::string_view("device"),     std::string_view("not reproduced")};

}  // namespace

std::span<const Outcome> all_outcomes() {
  static const auto list = [] {
    std::array<Outcome, kOutcomes.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = kOutcomes[i].outcome;
    return out;
  }();
  return list;
}

std::string_view name_of(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)].name; }
Standing standing_of(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)].standing; }
std::string_view sweep_status(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)].sweep; }

std::optional<Outcome> parse_outcome(std::string_view name) {
  for (const OutcomeName& entry : kOutcomes)
    if (entry.name == name) return entry.outcome;
  return std::nullopt;
}

std::string_view name_of(Blame blame) { return kBlames[static_cast<std::size_t>(blame)]; }
std::optional<Blame> parse_blame(std::string_view name) {
  for (std::size_t i = 0; i < kBlames.size(); ++i)
    if (kBlames[i] == name) return static_cast<Blame>(i);
  return std::nullopt;
}

}  // namespace opwright
