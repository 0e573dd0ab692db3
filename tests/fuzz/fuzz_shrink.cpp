// Any text as a case line and, on the next lines, a condition on which it fails and cases before it: whatever is asked,
// the search ends within its budget, and what it ends with fails as the first case did.
#include <sstream>
#include <string>

#include "exec/call_condition.h"
#include "laws.h"
#include "model/case_line.h"
#include "shrink/shrink_case.h"

namespace {

using namespace opwright;
using fuzz::require;

constexpr int kTrials = 60;
constexpr std::size_t kMostBefore = 6;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(fuzz::text_of(data, size))};
  std::string line, condition;
  std::getline(lines, line);
  std::getline(lines, condition);
  const auto config = parse_case(line);
  const auto fault = parse_condition(condition);
  if (!config || !fault) return 0;
  shrink::Subject subject{*config, {}, {}};
  for (std::string before; subject.before.size() < kMostBefore && std::getline(lines, before);)
    if (const auto one = parse_case(before)) subject.before.push_back(*one);
  const auto fails = [&](const shrink::Subject& asked) {
    return asked.before.empty() == subject.before.empty() && holds(*fault, asked.config.op, asked.config.args);
  };
  if (!fails(subject)) return 0;
  shrink::Rules rules(*find_board("n150"));
  if (!rules.allow(*config)) rules = shrink::Rules();  // as jobs/shrink_one does
  shrink::Trials trials(
      [&](const shrink::Subject& asked) -> Result<shrink::Answer> {
        require(rules.allow(asked.config), "what is tried is allowed", case_line(asked.config));
        return fails(asked) ? shrink::Answer::kFails : shrink::Answer::kPasses;
      },
      {.trials = kTrials}, [] { return 0.0; });
  const shrink::Shrunk shrunk = shrink_case(subject, rules, trials);
  const std::string smallest = case_line(shrunk.smallest.config);
  require(trials.run() <= kTrials, "the budget is kept", smallest);
  require(fails(shrunk.smallest), "the smallest case fails", smallest);
  require(parse_case(smallest).has_value(), "the smallest case is a case line", smallest);
  require(parse_data(data_text(shrunk.smallest.recipe)).has_value(), "its data can be asked for again", smallest);
  for (const shrink::Needed& needed : shrunk.needs)
    require(!to_text(needed.need).empty(), "a need has a text", smallest);
  return 0;
}
