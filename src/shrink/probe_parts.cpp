// What else than sizes a failure needs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/case_line.h"
#include "model/tensor_facts.h"
#include "shrink/edit.h"
#include "shrink/probe.h"

namespace opwright::shrink {
namespace {

constexpr int kMostRank = 4;

}  // namespace

OpConfig Probe::lifted() const {
  OpConfig out = now().config;
  for (;;) {
    int most = 0;
    for_each_tensor_fact(out, [&](const std::string&, const TensorSpec& spec) {
      most = std::max(most, static_cast<int>(spec.shape.size()));
    });
    auto more = most < kMostRank ? reranked(out, 1, rules_) : std::nullopt;
    if (!more) return out;
    out = *std::move(more);
  }
}

bool Probe::simplify() {
  std::vector<Step> steps = plainer(now(), rules_);
  for (const Step& step : fewer_ranks(now(), rules_)) steps.push_back(step);
  for (const Step& step : plainer_data(now())) steps.push_back(step);
  for (const Step& step : steps) {
    if (step.kind == kDimensions) continue;
    const auto made = step.apply(now());
    if (!made) continue;
    const Answer answer = trials_.answer(*made, kNeeds);
    if (answer == Answer::kFails) {
      search_.take(*made);
      return false;
    }
    if (answer == Answer::kPasses) note(step, *made);
  }
  return true;
}

void Probe::note(const Step& step, const Subject& passing) {
  if (step.kind == kData && now().recipe.kept) return note_number();
  if (step.kind == kData) return add("data", Is::kUnequal, step.fact);
  if (step.kind == kRanks) return note_rank(step, passing);
  if (step.kind == kArguments) return note_argument(step.fact);
  if (step.kind == kMemories && !step.fact.ends_with(".memory")) return add(step.fact, Is::kEqual, fact(step.fact));
  if (step.kind == kMemories) {
    const std::string tensor = step.fact.substr(0, step.fact.rfind('.'));
    // L1 alone may be it: whoever is sharded there was tried without shards too.
    const bool is_sharded = fact(step.fact) != "INTERLEAVED";
    return is_sharded ? add(step.fact, Is::kEqual, fact(step.fact))
                      : add(tensor + ".buffer", Is::kEqual, fact(tensor + ".buffer"));
  }
  add(step.fact, Is::kEqual, fact(step.fact));
}

void Probe::note_number() {
  const KeptNumbers kept = now().recipe.kept.value_or(KeptNumbers());
  const std::string name = kept.input + ".value";
  if (has(name)) return;
  const double value = kept.value.value_or(0), step = value < 0 ? -1 : 1;
  const auto with_value = [&](double other) {
    Subject subject = now();
    subject.recipe.kept->value = other;
    return trials_.answer(subject, kNeeds);
  };
  const bool is_whole = value == std::floor(value) && value != 0;
  if (!is_whole || (value != step && with_value(value - step) != Answer::kPasses))
    return add(name, Is::kUnequal, "0", fmt::format("one of {} is enough, with all others plain", value));
  const std::string seen = fmt::format("one of {} fails, with all others plain", value);
  if (with_value(value + step) == Answer::kPasses) return add(name, Is::kEqual, fmt::format("{}", value), seen);
  add(name, value < 0 ? Is::kLess : Is::kMore, fmt::format("{}", value - step), seen);
}

void Probe::note_rank(const Step& step, const Subject& passing) {
  std::string name = step.fact;
  if (name.empty())
    for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec&) {
      if (name.empty() && fact_of(passing.config.args, tensor + ".rank") != fact(tensor + ".rank"))
        name = tensor + ".rank";
    });
  if (has(name)) return;
  lower_ = passing.config;
  add(name, Is::kMore, std::to_string(static_cast<int>(number_of(fact(name)).value_or(1)) - 1));
}

void Probe::note_argument(const std::string& name) {
  const auto found = find_fact(now().config.args, name);
  const Value* value = value_at(now().config.args, found->steps);
  if (value == nullptr || value->as_int() != nullptr || value->as_float() != nullptr) {
    passed_.insert(name);
    return;
  }
  const bool has_parts = value->as_tensor() != nullptr || value->as_memory() != nullptr ||
                         value->as_struct() != nullptr || value->as_list() != nullptr;
  if (has_parts) passed_.insert(name);
  if (!has_parts) add(name, Is::kEqual, fact(name));
}

bool Probe::values() {
  std::vector<std::string> facts;
  for_each_value_fact(now().config, [&](const std::string& name, const Value& value) {
    if (value.as_int() != nullptr || value.as_float() != nullptr || value.as_bool() != nullptr) facts.push_back(name);
  });
  for (const std::string& name : facts) {
    if (has(name) || follows(name)) continue;
    const std::string before = fact(name);
    const Search::Edge edge = search_.lower_value(name);
    if (fact(name) != before) return false;
    value_need(name, before, edge);
  }
  return true;
}

bool Probe::passed() {
  std::map<std::string, std::vector<std::string>> lists;
  for (const std::string& name : passed_)
    if (const std::size_t at = name.rfind('#'); at != std::string::npos) lists[name.substr(0, at)].push_back(name);
  for (const auto& [list, items] : lists) {
    const Value* value = value_at(now().config.args, find_fact(now().config.args, list)->steps);
    if (value == nullptr || value->as_list() == nullptr || value->as_list()->size() != items.size()) continue;
    for (const std::string& item : items)
      if (item != fmt::format("{}#{}", list, items.size() - 1)) passed_.erase(item);
  }
  for (const std::string& name : passed_) {  // whatever is in it, no part of it alone is the reason
    const bool part = std::ranges::any_of(needs_, [&](const Needed& needed) {
      const std::string_view fact = needed.need.fact;
      return fact == name ||
             (fact.starts_with(name) && std::string_view(".[#").find(fact[name.size()]) != std::string_view::npos);
    });
    if (!part) add(name, Is::kPassed, "");
  }
  return true;
}

void Probe::value_need(const std::string& name, const std::string& text, const Search::Edge& edge) {
  const auto number = number_of(text);
  const auto other = [&](double value) {
    const bool is_float = text.find_first_of(".e") != std::string::npos;
    const std::string shown = is_float ? fmt::format("{}.0", static_cast<std::int64_t>(value))
                                       : std::to_string(static_cast<std::int64_t>(value));
    const auto made = with(now().config, name, shown);
    if (made && rules_.allow(*made)) return ask(*made);
    const auto higher = with(lifted(), name, shown);  // the number of a dimension may need more of them
    return higher && rules_.allow(*higher) ? ask(*higher) : Answer::kOther;
  };
  if (!number) {  // true, false
    const bool* value = value_at(now().config.args, find_fact(now().config.args, name)->steps)->as_bool();
    if (value == nullptr) return;
    const auto made = with(now().config, name, *value ? "false" : "true");
    if (made && rules_.allow(*made) && ask(*made) == Answer::kPasses) add(name, Is::kEqual, text);
    return;
  }
  const double beyond = *number < 0 ? *number - 1 : *number + 1;
  const Answer above = other(beyond);
  if (!edge.passes) {
    if (above == Answer::kPasses) add(name, Is::kEqual, text, fmt::format("{} passes", beyond));
    return;
  }
  const std::string seen =
      fmt::format("{}{} passes, {} fails", *number < 0 && *edge.passes > 0 ? "-" : "", *edge.passes, text);
  if (above != Answer::kPasses)
    add(name, *number < 0 ? Is::kLess : Is::kMore, fmt::format("{}{}", *number < 0 ? "-" : "", *edge.passes), seen);
  else
    add(name, Is::kEqual, text, seen);
}

bool Probe::away() {
  struct Other {
    std::string_view fact, from, to;
  };
  constexpr std::array kOthers{Other{"dtype", kPlainDtype, "FLOAT32"},     Other{"dtype", kPlainDtype, "BFLOAT8_B"},
                               Other{"dtype", "INT32", "UINT32"},          Other{"dtype", "UINT32", "INT32"},
                               Other{"layout", kPlainLayout, "ROW_MAJOR"}, Other{"memory", kPlainMemory, kNearMemory}};
  std::set<std::pair<std::string_view, std::string_view>> done;  // that were answered
  for (const Other& other : kOthers) {
    if (done.contains({other.fact, other.from})) continue;
    const OpConfig all = set_all(now().config, other.fact, other.from, other.to, rules_);
    if (case_line(all) == case_line(now().config)) continue;
    const Answer answer = ask(all);
    if (answer != Answer::kOther) done.insert({other.fact, other.from});
    if (answer != Answer::kPasses) continue;
    bool found = false;
    for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec&) {
      const std::string name = fmt::format("{}.{}", tensor, other.fact);
      const auto made = with(now().config, name, other.to);
      if (!made || !rules_.allow(*made) || ask_changed(*made) != Answer::kPasses) return;
      const std::string shown = other.fact == "memory" ? tensor + ".buffer" : name;
      add(shown, Is::kEqual, fact(shown));
      found = true;
    });
    if (!found) first_alike(other.fact, all);
  }
  rank_limit();
  return true;
}

void Probe::rank_limit() {
  base_ = lifted();
  const Answer answer = ask_changed(base_);
  if (answer == Answer::kFails) return;
  base_ = now().config;
  if (answer != Answer::kPasses) return;
  for (auto more = reranked(base_, 1, rules_); more; more = reranked(base_, 1, rules_)) {
    if (ask(*more) == Answer::kPasses) return first_alike("rank", *more);
    base_ = *std::move(more);
  }
}

void Probe::first_alike(std::string_view kind, const OpConfig& passing) {
  std::vector<std::string> names;
  for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec&) {
    std::string name = fmt::format("{}.{}", tensor, kind == "memory" ? "buffer" : kind);
    if (fact_of(passing.args, name) != fact(name)) names.push_back(std::move(name));
  });
  if (names.empty()) return;
  const std::string first = names.front();
  if (kind == "rank")
    add(first, Is::kAtMost, fact_of(base_.args, first).value_or(""), "", std::move(names));
  else
    add(first, Is::kEqual, fact(first), "", std::move(names));
}

}  // namespace opwright::shrink
