#include "exec/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "base/words.h"

namespace opwright {
namespace {

// A case's features as places of one table: an operator has a row of slots for all that it can have.
constexpr std::size_t kDTypeSlots = 32;
constexpr std::size_t kLayoutSlots = 4;
constexpr std::size_t kMemorySlots = 64;
constexpr std::array<std::size_t, kCoveredKinds + 1> kFirstSlot{
    0,
    1,
    1 + kDTypeSlots,
    1 + kDTypeSlots + kLayoutSlots,
    1 + kDTypeSlots + kLayoutSlots + kMemorySlots,
    1 + kDTypeSlots + kLayoutSlots + kMemorySlots + kSizeClasses};
constexpr std::size_t kSlots = kFirstSlot.back();
static_assert(static_cast<std::size_t>(DType::kUnknown) < kDTypeSlots);
static_assert(static_cast<std::size_t>(Layout::kUnknown) < kLayoutSlots);
static_assert(static_cast<std::size_t>(BufferType::kUnknown) < 8 &&
              static_cast<std::size_t>(MemoryLayout::kUnknown) < 8);

using Places = std::array<std::size_t, kCoveredKinds>;

Places places_of(const PlannedCase& one) {
  const CaseFeatures& f = one.features;
  const std::size_t row = one.op * kSlots;
  return {row, row + kFirstSlot[1] + static_cast<std::size_t>(f.dtype),
          row + kFirstSlot[2] + static_cast<std::size_t>(f.layout),
          row + kFirstSlot[3] + static_cast<std::size_t>(f.buffer) * 8 + static_cast<std::size_t>(f.memory),
          row + kFirstSlot[4] + static_cast<std::size_t>(f.size)};
}

std::int64_t weight_of(const PlannedCase& one) { return std::max<std::int64_t>(1, one.weight); }

// Longer the longest cases do not wait for their start.
constexpr double kOpeningShare = 0.05;

// An estimate of nothing would be an infinite gain a second.
double seconds_of(const PlannedCase& one) { return std::max(1e-6, static_cast<double>(one.seconds)); }

struct Feature {
  std::int64_t cases = 0;
  std::int64_t calls = 0;
};

// What one way of choosing gives. Better is: operators first, then all features, then calls.
struct Choice {
  std::vector<char> taken;
  std::vector<char> covered;
  std::vector<std::uint32_t> order;                          // as they were taken
  std::size_t first_of_operators = 0, first_of_classes = 0;  // how many of them were taken for that
  double operators = 0;                                      // calls of the operators that are covered
  double features = 0;                                       // calls of all features that are covered
  double calls = 0;                                          // of the cases themselves
  double seconds = 0;
  double longest = 0;

  bool better_than(const Choice& other) const {
    return std::tie(operators, features, calls) > std::tie(other.operators, other.features, other.calls);
  }
};

// Chooses in three passes, each by gain a second, best first, leaving out what does not fit any more. Of the cases with
// the same features only the cheapest is looked at for them, so that a million cases are a few thousand candidates.
class Chooser {
 public:
  explicit Chooser(std::span<const PlannedCase> cases) : cases_(cases), by_calls_(cases.size()) {
    std::size_t ops = 0;
    for (const PlannedCase& one : cases) ops = std::max<std::size_t>(ops, one.op + std::size_t{1});
    features_.resize(ops * kSlots);
    std::vector<std::uint32_t> cheapest_of_op(ops, kNobody);
    std::unordered_map<std::uint64_t, std::uint32_t> cheapest_of_group;
    for (std::uint32_t i = 0; i < cases.size(); ++i) {
      for (const std::size_t place : places_of(cases[i])) {
        ++features_[place].cases;
        features_[place].calls += weight_of(cases[i]);
      }
      keep_cheaper(i, cheapest_of_op[cases[i].op]);
      keep_cheaper(i, cheapest_of_group.try_emplace(group_of(cases[i]), kNobody).first->second);
      by_calls_[i] = i;
    }
    for (const std::uint32_t i : cheapest_of_op)
      if (i != kNobody) by_operator_.push_back(i);
    for (const auto& [group, i] : cheapest_of_group) groups_.push_back(i);
    std::ranges::sort(groups_);  // whatever order the table had
    sort_by_value(by_operator_, [&](std::uint32_t i) { return calls_of(places_of(cases_[i])[0]); });
    sort_by_value(by_calls_, [&](std::uint32_t i) { return static_cast<double>(weight_of(cases_[i])); });
    for (const std::uint32_t i : by_calls_) seconds_by_calls_.push_back(seconds_of(cases_[i]));
  }

  Choice nothing() const {
    Choice choice;
    choice.taken.resize(cases_.size());
    choice.covered.resize(features_.size());
    return choice;
  }

  // Cases of at most `longest` seconds each, at most `room` seconds together.
  Choice choose(double longest, double room) const {
    Choice choice = nothing();
    const auto fit = [&](double seconds) { return seconds <= longest && choice.seconds + seconds <= room; };
    const auto fits = [&](std::uint32_t i) { return fit(seconds_of(cases_[i])); };
    // An operator that is not run at all is what nobody wants to find out later.
    for (const std::uint32_t i : by_operator_)
      if (fits(i)) {
        choice.operators += calls_of(places_of(cases_[i])[0]);
        take(i, choice);
      }
    choice.first_of_operators = choice.order.size();
    take_features(fits, choice);
    choice.first_of_classes = choice.order.size();
    for (std::size_t place = 0; place < by_calls_.size(); ++place)
      if (fit(seconds_by_calls_[place]) && choice.taken[by_calls_[place]] == 0) take(by_calls_[place], choice);
    return choice;
  }

  void take(std::uint32_t index, Choice& choice) const {
    const PlannedCase& one = cases_[index];
    choice.features += gain(index, choice);
    for (const std::size_t place : places_of(one)) choice.covered[place] = 1;
    choice.taken[index] = 1;
    choice.order.push_back(index);
    choice.calls += static_cast<double>(weight_of(one));
    choice.seconds += seconds_of(one);
    choice.longest = std::max(choice.longest, seconds_of(one));
  }

  const std::vector<Feature>& features() const { return features_; }

 private:
  static constexpr std::uint32_t kNobody = ~0U;

  static std::uint64_t group_of(const PlannedCase& one) {
    const Places places = places_of(one);
    std::uint64_t group = one.op;
    for (std::size_t kind = 1; kind < kCoveredKinds; ++kind) group = group << 7 | places[kind] % kSlots;
    return group;
  }
  static_assert(kSlots < 128);

  void keep_cheaper(std::uint32_t i, std::uint32_t& best) const {
    const auto cost = [&](std::uint32_t one) {
      return std::tuple(seconds_of(cases_[one]), -weight_of(cases_[one]), one);
    };
    if (best == kNobody || cost(i) < cost(best)) best = i;
  }

  // Most gain a second first.
  template <class Gain>
  void sort_by_value(std::vector<std::uint32_t>& order, const Gain& gain) const {
    std::vector<std::pair<double, std::uint32_t>> values;  // the value's negative: the smallest is the best
    values.reserve(order.size());
    for (const std::uint32_t i : order) values.emplace_back(-gain(i) / seconds_of(cases_[i]), i);
    std::ranges::sort(values);
    std::ranges::transform(values, order.begin(), &std::pair<double, std::uint32_t>::second);
  }

  double calls_of(std::size_t place) const { return static_cast<double>(features_[place].calls); }

  // Never grows while others are taken: a case only loses what they cover. This is what lets the queue be lazy.
  double gain(std::uint32_t index, const Choice& choice) const {
    double sum = 0;
    for (const std::size_t place : places_of(cases_[index]))
      if (choice.covered[place] == 0) sum += calls_of(place);
    return sum;
  }

  template <class Fits>
  void take_features(const Fits& fits, Choice& choice) const {
    struct Entry {
      double value;  // gain a second when it was last looked at
      std::uint32_t index;
      bool operator<(const Entry& other) const {
        return value != other.value ? value < other.value : index > other.index;
      }
    };
    const auto value = [&](std::uint32_t i) { return gain(i, choice) / seconds_of(cases_[i]); };
    std::vector<Entry> entries;
    for (const std::uint32_t i : groups_)
      if (fits(i)) entries.push_back({value(i), i});
    std::priority_queue queue(std::less<>(), std::move(entries));
    while (!queue.empty()) {
      const Entry top = queue.top();
      queue.pop();
      if (!fits(top.index)) continue;  // room only shrinks
      const double now = value(top.index);
      if (now <= 0) continue;
      if (now < top.value)
        queue.push({now, top.index});
      else
        take(top.index, choice);
    }
  }

  std::span<const PlannedCase> cases_;
  std::vector<Feature> features_;
  std::vector<std::uint32_t> by_operator_;  // the cheapest case of each operator, most calls a second first
  std::vector<std::uint32_t> groups_;       // the cheapest case of each set of features
  std::vector<std::uint32_t> by_calls_;     // all cases, most calls of their own a second first
  std::vector<double> seconds_by_calls_;    // of them: read from end to end for every limit that is tried
};

// Cases on several workers end at the latest after sum/workers + longest*(1 - 1/workers), whoever starts first. So the
// longest case that is allowed costs room, and which is best cannot be said before: each limit of a fixed ladder is
// tried. The ladder does not depend on the budget, and that keeps the promise that a larger one covers at least as
// much.
Choice best_choice(const Chooser& chooser, std::span<const PlannedCase> cases, double seconds, int workers) {
  if (workers <= 1) return chooser.choose(seconds, seconds);
  struct Rung {
    double longest = 0;  // of its cases: the limit
    double seconds = 0;  // of all its cases
  };
  std::map<int, Rung> ladder;  // a rung for each power of two
  for (const PlannedCase& one : cases) {
    Rung& rung = ladder[std::ilogb(seconds_of(one))];
    rung.longest = std::max(rung.longest, seconds_of(one));
    rung.seconds += seconds_of(one);
  }
  const auto room = [&](const Rung& rung) { return workers * seconds - (workers - 1) * rung.longest; };
  std::optional<Choice> best;
  double sum = 0;
  for (auto at = ladder.begin(); at != ladder.end() && at->second.longest <= seconds; ++at) {
    sum += at->second.seconds;
    // Where even all cases up to the next rung fit, those up to this one are only a part of them.
    if (const auto next = std::next(at);
        next != ladder.end() && next->second.longest <= seconds && sum + next->second.seconds <= room(next->second))
      continue;
    Choice choice = chooser.choose(at->second.longest, room(at->second));
    if (!best || choice.better_than(*best)) best = std::move(choice);
  }
  return best ? *std::move(best) : chooser.choose(0, 0);
}

std::string slot_text(Covered kind, std::size_t slot) {
  switch (kind) {
    case Covered::kOperator:
      return "";
    case Covered::kDType:
      return std::string(name_of(static_cast<DType>(slot)));
    case Covered::kLayout:
      return std::string(name_of(static_cast<Layout>(slot)));
    case Covered::kMemory:
      return memory_text({.buffer = static_cast<BufferType>(slot / 8), .memory = static_cast<MemoryLayout>(slot % 8)});
    case Covered::kSize:
      return std::string(name_of(static_cast<SizeClass>(slot)));
  }
  return "";
}

void add_coverage(const std::vector<Feature>& features, const Choice& choice, BudgetPlan& plan) {
  std::array<double, kCoveredKinds> covered{};
  for (std::size_t place = 0; place < features.size(); ++place) {
    if (features[place].cases == 0) continue;
    const std::size_t slot = place % kSlots;
    std::size_t kind = 0;
    while (slot >= kFirstSlot[kind + 1]) ++kind;
    if (choice.covered[place] != 0)
      covered[kind] += static_cast<double>(features[place].calls);
    else
      plan.not_covered.push_back({static_cast<std::uint32_t>(place / kSlots), static_cast<Covered>(kind),
                                  slot_text(static_cast<Covered>(kind), slot - kFirstSlot[kind]), features[place].cases,
                                  features[place].calls});
  }
  // Of an operator that is left out altogether, its dtypes and so on say nothing more.
  std::erase_if(plan.not_covered, [&](const NotCovered& one) {
    return one.kind != Covered::kOperator && choice.covered[one.op * kSlots] == 0;
  });
  std::ranges::stable_sort(plan.not_covered, std::greater<>(), &NotCovered::calls);
  for (std::size_t kind = 0; kind < kCoveredKinds; ++kind)
    plan.share[kind] = plan.calls == 0 ? 1.0 : covered[kind] / static_cast<double>(plan.calls);
}

// What a choice covers, and what it leaves out.
BudgetPlan plan_of(const Chooser& chooser, std::span<const PlannedCase> cases, const Choice& choice, int workers) {
  BudgetPlan plan;
  std::map<std::uint32_t, LeftOut> left_out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    plan.calls += weight_of(cases[i]);
    if (choice.taken[i] != 0) {
      plan.chosen.push_back(static_cast<std::uint32_t>(i));
      plan.chosen_calls += weight_of(cases[i]);
      continue;
    }
    LeftOut& left = left_out[cases[i].op];
    left.op = cases[i].op;
    ++left.cases;
    left.calls += weight_of(cases[i]);
    left.seconds += seconds_of(cases[i]);
  }
  for (const auto& [op, left] : left_out) plan.left_out.push_back(left);
  std::ranges::stable_sort(plan.left_out, std::greater<>(), &LeftOut::calls);
  plan.seconds = choice.seconds;
  const double n = std::max(1, workers);
  plan.wall_seconds = choice.seconds / n + choice.longest * (1 - 1 / n);
  add_coverage(chooser.features(), choice, plan);
  return plan;
}

// Never rounded up: 100.0 % is all of them.
std::string percent(double share) { return fmt::format("{:.1f} %", std::floor(share * 1000 + 1e-9) / 10); }

std::string lists_of(const BudgetPlan& plan, const CaseSpool& spool, std::size_t most, std::string_view unit) {
  std::string text = fmt::format("covered, in {}s: op {}", unit, percent(plan.share[0]));
  for (std::size_t kind = 1; kind < kCoveredKinds; ++kind)
    text += fmt::format(", op and {} {}", name_of(static_cast<Covered>(kind)), percent(plan.share[kind]));
  text += '\n';
  const auto list = [&](std::string_view title, std::size_t size, const auto& line) {
    if (size == 0) return;
    text += fmt::format("{}\n", title);
    for (std::size_t i = 0; i < std::min(size, most); ++i) text += "  " + line(i) + '\n';
    if (size > most) text += fmt::format("  and {} more\n", size - most);
  };
  list("left out:", plan.left_out.size(), [&](std::size_t i) {
    const LeftOut& one = plan.left_out[i];
    return fmt::format("{}  {}, {}, about {:.1f} s", spool.op_name(one.op), plural(one.cases, "case"),
                       plural(one.calls, unit), one.seconds);
  });
  list("not covered by any case:", plan.not_covered.size(), [&](std::size_t i) {
    const NotCovered& one = plan.not_covered[i];
    const std::string what =
        one.kind == Covered::kOperator ? "not at all" : fmt::format("{} {}", name_of(one.kind), one.value);
    return fmt::format("{}  {}  {}, {}", spool.op_name(one.op), what, plural(one.cases, "case"),
                       plural(one.calls, unit));
  });
  return text;
}

// "210 of 6,141 cases"
std::string chosen_text(const BudgetPlan& plan) {
  std::int64_t left = 0;
  for (const LeftOut& one : plan.left_out) left += one.cases;
  const auto chosen = static_cast<std::int64_t>(plan.chosen.size());
  return fmt::format("{} of {}", grouped(chosen), plural(chosen + left, "case"));
}

double share_of_calls(const BudgetPlan& plan) {
  return plan.calls == 0 ? 1.0 : static_cast<double>(plan.chosen_calls) / static_cast<double>(plan.calls);
}

}  // namespace

std::string_view name_of(Covered kind) {
  constexpr std::array<std::string_view, kCoveredKinds> kNames{"op", "dtype", "layout", "memory", "size"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<double> parse_budget(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kUsage, fmt::format("--budget: '{}' is no time; write 60s, 5m, 1h30m or seconds", text));
  };
  double sum = 0;
  double last_unit = 1e9;
  const char* at = text.data();
  const char* end = at + text.size();
  if (at == end) return wrong();
  while (at != end) {
    double number = 0;
    const auto [next, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (error != std::errc() || !(number >= 0) || number > 1e9) return wrong();
    double unit = 1;
    at = next;
    if (at != end) {
      unit = *at == 'h' ? 3600 : *at == 'm' ? 60 : *at == 's' ? 1 : 0;
      ++at;
    }
    if (unit == 0 || unit >= last_unit) return wrong();  // "5m1h", "5s5s"
    last_unit = unit;
    sum += number * unit;
  }
  if (sum <= 0) return wrong();
  return sum;
}

BudgetPlan choose_within(std::span<const PlannedCase> cases, double seconds, int workers) {
  const Chooser chooser(cases);
  return plan_of(chooser, cases, best_choice(chooser, cases, seconds, workers), workers);
}

BudgetPlan coverage_of(std::span<const PlannedCase> cases, const std::vector<bool>& was_run) {
  const Chooser chooser(cases);
  Choice choice = chooser.nothing();
  for (std::uint32_t i = 0; i < cases.size(); ++i)
    if (was_run[i]) chooser.take(i, choice);
  return plan_of(chooser, cases, choice, 1);
}

CoverageOrder coverage_order(std::span<const PlannedCase> cases) {
  constexpr double kAnyTime = 1e300;
  Choice choice = Chooser(cases).choose(kAnyTime, kAnyTime);
  CoverageOrder order{std::move(choice.order), choice.first_of_operators, choice.first_of_classes};
  double spent = 0;
  while (order.opening < order.classes) {
    spent += seconds_of(cases[order.order[order.opening]]);
    if (order.opening >= order.operators && spent > kOpeningShare * choice.seconds) break;
    ++order.opening;
  }
  return order;
}

std::string budget_text(const BudgetPlan& plan, const CaseSpool& spool, std::size_t most, std::string_view unit) {
  return fmt::format("budget: {}, about {:.0f} s, {} of the {}s\n", chosen_text(plan), plan.wall_seconds,
                     percent(share_of_calls(plan)), unit) +
         lists_of(plan, spool, most, unit);
}

std::string covered_text(const BudgetPlan& plan, const CaseSpool& spool, double seconds, std::size_t most,
                         std::string_view unit) {
  return fmt::format("budget: {} in {:.1f} s, {} of the {}s\n", chosen_text(plan), seconds,
                     percent(share_of_calls(plan)), unit) +
         lists_of(plan, spool, most, unit);
}

}  // namespace opwright
