#include "report/run_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/hash.h"
#include "base/words.h"
#include "report/analysis_view.h"
#include "report/case_key.h"

namespace opwright::report {
namespace {

using Key = Hash128;

// What one run says about one case: numbers only.
struct Side {
  std::int64_t results = 0;
  Outcome outcome = Outcome::kNotRun;
  std::optional<double> pcc, ulp;
  std::vector<double> seconds;
  std::int64_t l1 = 0, dram = 0;
  std::uint64_t seed = 0;
  Distribution distribution = Distribution::kNormal;
};
struct Case {
  Side a, b;
  int op = 0;
  std::size_t place = 0;  // order of first appearance
};
using Cases = std::unordered_map<Key, Case, Hash128Hasher>;

int badness(Outcome outcome) {
  switch (standing_of(outcome)) {
    case Standing::kPassed:
      return 0;
    case Standing::kUndecided:
      return 1;
    case Standing::kNoAnswer:
      return 2;
    case Standing::kFailed:
      return 3;
  }
  return 3;
}

void merge(Side& side, const CaseRecord& record) {
  if (side.results++ == 0 || badness(record.outcome) > badness(side.outcome)) side.outcome = record.outcome;
  const auto worst = [](std::optional<double>& to, const std::optional<double>& from, auto pick) {
    if (from && std::isfinite(*from)) to = to ? pick(*to, *from) : *from;
  };
  worst(side.pcc, record.pcc, [](double x, double y) { return std::min(x, y); });
  worst(side.ulp, record.ulp, [](double x, double y) { return std::max(x, y); });
  if (standing_of(record.outcome) == Standing::kPassed && record.device_seconds > 0)
    side.seconds.push_back(record.device_seconds);  // how long a failure took says nothing
  side.l1 = std::max(side.l1, record.l1_per_core);
  side.dram = std::max(side.dram, record.dram);
  side.seed = record.recipe.seed;
  side.distribution = record.recipe.distribution;
}

// The same data gives the same numbers on a deterministic device, so little is noise there; with other data a PCC near
// 1 moves by its own distance from 1.
bool less_accurate(const Side& from, const Side& to, bool same_data) {
  if (from.pcc && to.pcc && (1 - *to.pcc) > (same_data ? 1.2 : 3.0) * (1 - *from.pcc) + (same_data ? 1e-7 : 1e-5))
    return true;
  return from.ulp && to.ulp && *to.ulp > (same_data ? 1.2 : 3.0) * *from.ulp + (same_data ? 0.25 : 1.0);
}

std::string accuracy_of(const Side& side) {
  std::string text = side.pcc ? "PCC " + pcc_text(*side.pcc) : "no PCC";
  if (side.ulp) text += fmt::format(", {:.4g} ULP", *side.ulp);
  return text;
}

double loss_of(const Side& from, const Side& to) {
  double loss = 0;
  if (from.pcc && to.pcc) loss = std::max(loss, (1 - *to.pcc) / std::max(1e-9, 1 - *from.pcc));
  if (from.ulp && to.ulp) loss = std::max(loss, *to.ulp / std::max(0.25, *from.ulp));
  return loss;
}

bool grew(std::int64_t a, std::int64_t b) { return a > 0 && b > a + std::max<std::int64_t>(1024, a / 100); }

// An entry of a list whose texts are not fetched yet.
struct Pending {
  Key key;
  std::size_t place;
  std::vector<Change>* list;
  Change change;
};

void classify(const Key& key, const Case& one, RunDiff& diff, std::vector<Pending>& pending) {
  const auto put = [&](std::vector<Change>& list, std::string from, std::string to, double size = 0) {
    pending.push_back({key, one.place, &list, {.from = std::move(from), .to = std::move(to), .size = size}});
  };
  const auto name = [](const Side& side) { return std::string(name_of(side.outcome)); };
  diff.repeated += std::max<std::int64_t>(0, one.a.results - 1) + std::max<std::int64_t>(0, one.b.results - 1);
  diff.cases_a += one.a.results > 0 ? 1 : 0;
  diff.cases_b += one.b.results > 0 ? 1 : 0;
  if (one.a.results == 0) {
    if (standing_of(one.b.outcome) == Standing::kFailed) put(diff.failing_new_cases, "absent", name(one.b));
    return put(diff.only_b, "absent", name(one.b));
  }
  if (one.b.results == 0) return put(diff.only_a, name(one.a), "absent");
  ++diff.both;
  const Standing a = standing_of(one.a.outcome), b = standing_of(one.b.outcome);
  if (one.a.outcome == one.b.outcome) {
    ++diff.same_outcome;
  } else if (b == Standing::kFailed && a != Standing::kFailed) {
    put(diff.new_failures, name(one.a), name(one.b));
  } else if (a == Standing::kFailed && b == Standing::kPassed) {
    put(diff.fixed, name(one.a), name(one.b));
  } else if (a == Standing::kPassed && b == Standing::kNoAnswer) {
    put(diff.lost_verdicts, name(one.a), name(one.b));
  } else {
    put(diff.changed, name(one.a), name(one.b));
  }
  if (one.a.pcc && one.b.pcc) {
    ++diff.compared_pcc;
    const bool same_data = one.a.seed == one.b.seed && one.a.distribution == one.b.distribution;
    diff.other_data += same_data ? 0 : 1;
    if (less_accurate(one.a, one.b, same_data))
      put(diff.accuracy_drops, accuracy_of(one.a), accuracy_of(one.b), loss_of(one.a, one.b));
    else if (less_accurate(one.b, one.a, same_data))
      put(diff.accuracy_gains, accuracy_of(one.a), accuracy_of(one.b), loss_of(one.b, one.a));
  }
  if ((one.a.l1 > 0 && one.b.l1 > 0) || (one.a.dram > 0 && one.b.dram > 0)) {
    ++diff.compared_memory;
    const auto text = [](const Side& side) {
      return fmt::format("L1 {} a core, DRAM {}", size_text(side.l1), size_text(side.dram));
    };
    if (grew(one.a.l1, one.b.l1) || grew(one.a.dram, one.b.dram)) {
      const auto ratio = [](std::int64_t x, std::int64_t y) {
        return x > 0 ? static_cast<double>(y) / static_cast<double>(x) : 0.0;
      };
      put(diff.memory_growth, text(one.a), text(one.b),
          std::max(ratio(one.a.l1, one.b.l1), ratio(one.a.dram, one.b.dram)));
    }
  }
}

void compare_durations(const std::vector<std::pair<Key, const Case*>>& cases, RunDiff& diff,
                       std::vector<Pending>& pending) {
  std::vector<TimedPair> pairs;
  std::vector<std::pair<Key, std::size_t>> keys;
  for (const auto& [key, one] : cases) {
    if (one->a.seconds.empty() || one->b.seconds.empty()) continue;
    pairs.push_back({one->a.seconds, one->b.seconds, one->op});
    keys.emplace_back(key, one->place);
  }
  diff.times = compare_times(pairs);
  const auto put = [&](std::vector<Change>& list, const std::vector<Slower>& found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& [key, place] = keys[found[i].pair];
      // The order is that of the statistics: the place of the case would change it.
      pending.push_back(
          {key,
           i,
           &list,
           {.from = seconds_text(found[i].seconds_a),
            .to = fmt::format(
                "{} (x{:.2f}, {})", seconds_text(found[i].seconds_b), found[i].ratio,
                found[i].confirmed ? fmt::format("every time apart, chance {:.2g}", found[i].chance) : "suspected")}});
    }
  };
  put(diff.slower, diff.times.slower);
  put(diff.faster, diff.times.faster);
}

void caution(RunDiff& diff) {
  const auto differ = [&](std::string_view what, const std::string& a, const std::string& b, std::string_view so) {
    if (a != b) diff.cautions.push_back(fmt::format("{} differ: '{}' and '{}'{}", what, a, b, so));
  };
  differ("devices", diff.a.device, diff.b.device, "; times and memory are of different machines");
  differ("hosts", diff.a.host, diff.b.host, "; differences of time may be theirs");
  differ("seeds", std::to_string(diff.a.seed), std::to_string(diff.b.seed),
         "; differences of accuracy may be of the data");
  for (const RunRecord* run : {&diff.a, &diff.b})
    if (run->status != "complete") diff.cautions.push_back(fmt::format("run {} is {}", run->uid, run->status));
}

}  // namespace

Result<RunDiff> diff_runs(const RunRecord& a, const ResultStream& results_a, const RunRecord& b,
                          const ResultStream& results_b) {
  RunDiff diff;
  diff.a = a;
  diff.b = b;
  Cases cases;
  std::unordered_map<std::string, int> ops;
  const auto collect = [&](Side Case::* side) {
    return [&, side](CaseRecord&& record) -> Status {
      Case& one = cases.try_emplace(case_key(record), Case{.place = cases.size()}).first->second;
      one.op = ops.try_emplace(record.op, static_cast<int>(ops.size())).first->second;
      merge(one.*side, record);
      return {};
    };
  };
  OPWRIGHT_TRY(results_a(collect(&Case::a)));
  OPWRIGHT_TRY(results_b(collect(&Case::b)));
  for (const auto& [name, number] : ops) diff.operators[number] = name;

  std::vector<std::pair<Key, const Case*>> ordered;
  for (const auto& [key, one] : cases) ordered.emplace_back(key, &one);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& x, const auto& y) { return x.second->place < y.second->place; });
  std::vector<Pending> pending;
  for (const auto& [key, one] : ordered) classify(key, *one, diff, pending);
  compare_durations(ordered, diff, pending);
  caution(diff);

  std::stable_sort(pending.begin(), pending.end(), [](const Pending& x, const Pending& y) {
    return x.change.size != y.change.size ? x.change.size > y.change.size : x.place < y.place;
  });
  std::unordered_map<Key, std::vector<std::size_t>, Hash128Hasher> wanted;
  for (std::size_t i = 0; i < pending.size(); ++i) wanted[pending[i].key].push_back(i);
  // B's texts where B has the case: its repeat line is the one that shows the change.
  const auto fetch = [&](bool only_missing) {
    return [&, only_missing](CaseRecord&& record) -> Status {
      const auto found = wanted.find(case_key(record));
      if (found == wanted.end()) return {};
      for (const std::size_t i : found->second) {
        Change& change = pending[i].change;
        if (only_missing && !change.op.empty()) continue;
        change.op = record.op;
        change.line = record.line;
        change.repeat = record.repeat;
        if (!only_missing && is_failure(record.outcome)) change.reason = record.reason;
      }
      return {};
    };
  };
  OPWRIGHT_TRY(results_b(fetch(false)));
  OPWRIGHT_TRY(results_a(fetch(true)));
  for (Pending& one : pending) one.list->push_back(std::move(one.change));
  return diff;
}

}  // namespace opwright::report
