#include "shrink/needs.h"

#include <algorithm>

#include "model/case_line.h"
#include "shrink/probe.h"

namespace opwright::shrink {

const Subject& Probe::now() const { return search_.smallest(); }

std::string Probe::fact(const std::string& name) const { return fact_of(now().config.args, name).value_or(""); }

Answer Probe::ask(const OpConfig& config) {
  Subject subject = now();
  subject.config = config;
  return trials_.answer(subject, kNeeds);
}

void Probe::add(std::string name, Is is, std::string value, std::string seen, std::vector<std::string> same) {
  const Need need{std::move(name), is, std::move(value)};
  if (std::ranges::find(needs_, need, &Needed::need) != needs_.end()) return;
  std::erase(same, need.fact);
  needs_.push_back({need, std::move(same), std::move(seen)});
}

bool Probe::has(std::string_view name) const {
  return std::ranges::any_of(needs_, [&](const Needed& needed) { return needed.need.fact == name; });
}

bool Probe::follows(std::string_view name) const {
  return std::ranges::any_of(
      needs_, [&](const Needed& needed) { return std::ranges::find(needed.same, name) != needed.same.end(); });
}

Answer Probe::ask_changed(const OpConfig& config) {
  return case_line(config) == case_line(now().config) ? Answer::kFails : ask(config);
}

std::vector<Needed> find_needs(Search& search, const Rules& rules, Trials& trials) {
  constexpr int kRounds = 12;
  std::vector<Needed> needs;
  for (int round = 0; round < kRounds; ++round) {
    Probe probe(search, rules, trials);
    const bool done = probe.look();
    needs = probe.take();
    if (done || trials.spent()) break;
  }
  return needs;
}

}  // namespace opwright::shrink
