#include "shrink/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "exec/call_facts.h"
#include "shrink/edit.h"
#include "shrink/numbers.h"

namespace opwright::shrink {
namespace {

constexpr std::int64_t kTile = 32;
constexpr int kNearby = 8;  // numbers that are looked at where the rules forbid the middle

std::int64_t whole(const OpConfig& config, const std::string& fact) {
  return static_cast<std::int64_t>(number_of(fact_of(config.args, fact).value_or("")).value_or(0));
}

}  // namespace

Search::Search(Subject subject, const Rules& rules, Trials& trials)
    : rules_(rules), trials_(trials), now_(std::move(subject)) {}

bool Search::try_now(const Subject& candidate, std::string_view kind) {
  if (!trials_.fails(candidate, kind)) return false;
  now_ = candidate;
  return true;
}

void Search::reduce(std::span<const Step> steps) {
  if (steps.empty() || trials_.spent()) return;
  Subject candidate = now_;
  bool changed = false;
  for (const Step& step : steps)
    if (auto made = step.apply(candidate)) {
      candidate = *std::move(made);
      changed = true;
    }
  if (!changed || try_now(candidate, steps.front().kind) || steps.size() == 1) return;
  reduce(steps.first(steps.size() / 2));
  reduce(steps.subspan(steps.size() / 2));
}

void Search::run() {
  reduce_data();  // first: other shapes have other data, and what fails must not depend on that
  reduce(plainer(now_, rules_));
  for (const Place& place : places_of(now_.config))
    if (place.tensor && place.value > 1) lower_dimension(place.fact);
  reduce_ranks();
  reduce_values();
}

void Search::reduce_ranks() {
  for (bool again = true; again;) {
    again = false;
    for (const Step& step : fewer_ranks(now_, rules_))
      if (const auto made = step.apply(now_); made && try_now(*made, kRanks)) {
        again = true;
        break;
      }
  }
}

void Search::reduce_values() {
  std::vector<std::string> facts;
  for_each_value_fact(now_.config, [&](const std::string& name, const Value& value) {
    if (value.as_int() != nullptr || value.as_float() != nullptr || value.as_bool() != nullptr) facts.push_back(name);
  });
  std::vector<Step> steps;
  for (const std::string& fact : facts)
    steps.push_back({kValues, fact, [fact, this](const Subject& subject) -> std::optional<Subject> {
                       const auto old = fact_of(subject.config.args, fact);
                       if (!old) return std::nullopt;
                       const bool has_point = old->find_first_of(".e") != std::string::npos;
                       for (const char* text : {"false", has_point ? "0.0" : "0", has_point ? "1.0" : "1"}) {
                         if (*old == text) return std::nullopt;
                         if ((*old == "true") != (text[0] == 'f')) continue;
                         auto made = with(subject.config, fact, text);
                         if (!made || !rules_.allow(*made)) continue;
                         Subject out = subject;
                         out.config = *std::move(made);
                         return out;
                       }
                       return std::nullopt;
                     }});
  reduce(steps);
  for (const std::string& fact : facts) lower_value(fact);
}

void Search::reduce_data() {
  for (const Step& step : plainer_data(now_))
    if (const auto made = step.apply(now_); made && try_now(*made, kData) && step.fact != "seed") break;
  const Distribution data = now_.recipe.distribution;
  if (data == Distribution::kZeros || data == Distribution::kOnes || now_.recipe.kept) return;
  if (auto made = with_one_number(now_, rules_, trials_)) now_ = *std::move(made);
}

Search::Edge Search::lower_dimension(const std::string& fact) {
  Edge edge;
  edge.fails = whole(now_.config, fact);
  edge.facts = {fact};
  std::int64_t low = 0;  // nothing below is asked for
  // Without rules nobody says what must follow: what stands on the same axis does.
  const Reach reach = rules_.asked() ? Reach::kAlone : Reach::kAxis;
  const bool apart = !meets_another(now_.config, fact);
  const auto ask = [&](std::int64_t size) {
    const auto made = resized(now_.config, fact, size, reach, rules_);
    if (!made || (apart && meets_another(made->config, fact, made->facts))) return false;
    Subject candidate = now_;
    candidate.config = made->config;
    const Answer answer = trials_.answer(candidate, kDimensions);
    if (answer == Answer::kFails) {
      now_ = candidate;
      edge.fails = size;
    } else {
      low = std::max(low, size);
    }
    if (answer == Answer::kPasses && size > edge.passes.value_or(0)) {
      edge.passes = size;
      edge.passing = candidate;
    }
    if (answer != Answer::kFails) edge.facts = made->facts;
    return true;
  };
  if (const auto floor = smallest_size(now_.config, fact, reach, rules_)) ask(whole(floor->config, fact));
  while (edge.fails - low > 1 && !trials_.spent()) {
    const std::int64_t gap = edge.fails - low;
    const std::int64_t step = gap > kTile ? kTile : 1;
    std::int64_t middle = (low + edge.fails) / 2;
    if (step > 1) middle = std::max(middle / step * step, (low / step + 1) * step);
    bool asked = middle > low && middle < edge.fails && ask(middle);
    // Multiples of what the rules want may lie beside.
    for (int i = 1; i <= kNearby && !asked; ++i)
      for (const std::int64_t size : {middle - i * step, middle + i * step})
        if (!asked && size > low && size < edge.fails) asked = ask(size);
    if (!asked) break;
  }
  return edge;
}

Search::Edge Search::lower_value(const std::string& fact) {
  Edge edge;
  edge.facts = {fact};
  const auto name = find_fact(now_.config.args, fact);
  const Value* value = name ? value_at(now_.config.args, name->steps) : nullptr;
  if (value == nullptr) return edge;
  const auto try_text = [&](const std::string& text) {
    auto config = with(now_.config, fact, text);
    if (!config || !rules_.allow(*config)) return Answer::kOther;
    Subject candidate = now_;
    candidate.config = *std::move(config);
    const Answer answer = trials_.answer(candidate, kValues);
    if (answer == Answer::kFails) now_ = candidate;
    if (answer == Answer::kPasses) edge.passing = candidate;
    return answer;
  };
  if (value->as_bool() != nullptr) {
    edge.fails = *value->as_bool() ? 1 : 0;
    if (*value->as_bool() && try_text("false") == Answer::kPasses) edge.passes = 0;
    return edge;
  }
  const bool is_float = value->as_float() != nullptr;
  const auto number = number_of(to_text(*value));
  if (!number || !std::isfinite(*number) || *number == 0) return edge;
  const int sign = *number < 0 ? -1 : 1;
  const auto text = [&](std::int64_t size) { return fmt::format("{}{}", sign * size, is_float ? ".0" : ""); };
  if (std::abs(*number) > 1e9) return edge;
  const auto most = static_cast<std::int64_t>(std::floor(std::abs(*number)));
  std::int64_t low = -1;
  edge.fails = most;
  const auto ask = [&](std::int64_t size) {
    const Answer answer = try_text(text(size));
    if (answer == Answer::kFails) {
      edge.fails = size;
      return;
    }
    low = std::max(low, size);
    if (answer == Answer::kPasses) edge.passes = std::max(edge.passes.value_or(size), size);
  };
  if (static_cast<double>(most) != std::abs(*number)) ask(most);  // a whole number first
  if (edge.fails == low) return edge;
  if (edge.fails > 0) ask(0);
  if (edge.fails > 1 && low == 0) ask(1);
  while (edge.fails - low > 1 && low >= 0 && !trials_.spent()) ask((edge.fails + low) / 2);
  return edge;
}

}  // namespace opwright::shrink
