#include "report/analysis.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/message_pattern.h"
#include "base/text.h"
#include "compare/verdict.h"
#include "model/case_name.h"
#include "report/agreement.h"

namespace opwright::report {
namespace {

constexpr std::size_t kMostClusters = 5000;  // distinct messages; a run with more has no clusters worth reading
constexpr std::array<std::string_view, kAllBy.size()> kByNames{"op",    "dtype", "layout",  "memory",
                                                               "model", "suite", "outcome", "blame"};

// "a,b" and "a, b" -> a, b; one empty part when there is none.
template <class Use>
void for_each_part(std::string_view list, char separator, const Use& use) {
  while (true) {
    const std::size_t end = list.find(separator);
    use(trimmed(list.substr(0, end)));
    if (end == std::string_view::npos) return;
    list.remove_prefix(end + 1);
  }
}

// Inserts into a short list whose first entry is the worst. `worse` says whether a is worse than b.
template <class Worse>
void keep(std::vector<Notable>& list, std::size_t most, double value, const CaseRecord& record, const Worse& worse) {
  if (most == 0 || !std::isfinite(value)) return;
  if (list.size() == most && !worse(value, list.back().value)) return;
  if (list.size() == most) list.pop_back();
  const auto place =
      std::find_if(list.begin(), list.end(), [&](const Notable& other) { return worse(value, other.value); });
  list.insert(place, {value, record.index, record.outcome, case_name(record), record.op, record.line, record.repeat});
}

// The time of what never ran would pull every average down.
bool ran(Standing standing) { return standing != Standing::kNoAnswer; }

void add_to(Group& group, const CaseRecord& record, Standing standing) {
  ++group.cases;
  group.calls += record.calls;
  switch (standing) {
    case Standing::kPassed:
      ++group.passed;
      group.calls_passed += record.calls;
      break;
    case Standing::kUndecided:
      ++group.undecided;
      break;
    case Standing::kFailed:
      ++group.failed;
      break;
    case Standing::kNoAnswer:
      ++group.no_answer;
      break;
  }
  if (record.pcc && std::isfinite(*record.pcc)) {
    group.pcc_min = group.pcc_count == 0 ? *record.pcc : std::min(group.pcc_min, *record.pcc);
    group.pcc_max = group.pcc_count == 0 ? *record.pcc : std::max(group.pcc_max, *record.pcc);
    group.pcc_sum += *record.pcc;
    ++group.pcc_count;
  }
  if (record.ulp && std::isfinite(*record.ulp)) {
    group.ulp_max = std::max(group.ulp_max, *record.ulp);
    ++group.ulp_count;
  }
  if (ran(standing)) group.seconds += record.wall_seconds;
}

std::string_view name_in(const CaseRecord& record, By by) {
  switch (by) {
    case By::kOp:
      return record.op;
    case By::kDtype:
      return record.dtype;
    case By::kLayout:
      return record.layout;
    case By::kMemory:
      return record.memory;
    case By::kModel:
      return record.models;
    case By::kSuite:
      return record.suite;
    case By::kOutcome:
      return name_of(record.outcome);
    case By::kBlame:
      return name_of(record.blame);
  }
  return "";
}

std::vector<Cluster> sorted(std::vector<Cluster> clusters) {
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const Cluster& a, const Cluster& b) { return a.count > b.count; });
  return clusters;
}

}  // namespace

std::string_view name_of(By by) { return kByNames[static_cast<std::size_t>(by)]; }
std::optional<By> parse_by(std::string_view name) {
  for (const By by : kAllBy)
    if (name_of(by) == name) return by;
  return std::nullopt;
}

Analyser::Analyser(RunRecord run, Options options) : options_(options) {
  analysis_.run = std::move(run);
  analysis_.filtered = options.filtered;
}

void Analyser::add(const CaseRecord& record) {
  const Standing standing = standing_of(record.outcome);
  count(record, standing);
  measure(record, standing);
  keep_worst(record, standing);
  cluster(record, standing);
  tabulate(record, standing);
}

void Analyser::count(const CaseRecord& record, Standing standing) {
  Analysis& a = analysis_;
  ++a.total;
  ++a.outcomes[record.outcome];
  a.calls += record.calls;
  if (record.calls == 0) ++a.uncounted;
  switch (standing) {
    case Standing::kPassed:
      ++a.passed;
      a.calls_passed += record.calls;
      break;
    case Standing::kUndecided:
      ++a.undecided;
      a.calls_undecided += record.calls;
      break;
    case Standing::kFailed:
      ++a.failed;
      a.calls_failed += record.calls;
      ++a.blames[std::string(name_of(record.blame))];
      break;
    case Standing::kNoAnswer:
      ++a.no_answer;
      a.calls_no_answer += record.calls;
      break;
  }
  if (record.attempts > 1) ++a.repeated;
  if (!record.notes.empty() && a.noted++ == 0) a.note = record.notes;
  if (!record.against.empty()) {
    ++a.against_cases;
    ++a.against_outcomes[record.against];
    const Agreement agreement = agreement_of(record);
    if (agreement == Agreement::kDisagree) ++a.disagreed;
    if (agreement == Agreement::kNotCompared) ++a.not_compared;
  }
}

void Analyser::measure(const CaseRecord& record, Standing standing) {
  Analysis& a = analysis_;
  if (ran(standing)) {
    a.seconds.add(record.wall_seconds);
    a.device_seconds.add(record.device_seconds);
    a.reference_seconds.add(record.reference_seconds);
    a.cold_seconds.add(record.cold_seconds);
    a.kernel_seconds.add(record.kernel_seconds);
  }
  a.pcc.add(record.pcc);
  a.ulp.add(record.ulp);
  a.nrmse.add(record.nrmse);
  a.bound_used.add(record.bound_used);
  if (record.judged > 0) {
    a.judged += record.judged;
    a.elements += record.elements;
  }
  const auto bytes = [](Figures& figures, std::int64_t value) {
    if (value > 0)
      figures.add(static_cast<double>(value));
    else
      figures.miss();
  };
  bytes(a.l1_per_core, record.l1_per_core);
  bytes(a.dram, record.dram);
  bytes(a.host_bytes, record.host_bytes);

  if (record.fields > 0) {
    ++a.compared_cases;
    if (record.fields == record.fields_equal) ++a.equal_cases;
    a.fields += record.fields;
    a.fields_equal += record.fields_equal;
    if (!record.differences.empty()) {
      for_each_part(record.differences, ';', [&](std::string_view difference) {
        ++a.differing_fields[std::string(difference.substr(0, difference.find(':')))];
      });
    }
  }
  if (record.notes.find(kJudgedInPart) != std::string::npos) ++a.in_part;
  if (record.faults > 0) {
    ++a.mutated_cases;
    a.faults += record.faults;
    a.faults_noticed += record.faults_noticed;
    if (!record.unnoticed.empty())
      for_each_part(record.unnoticed, ',', [&](std::string_view name) { ++a.unnoticed[std::string(name)]; });
  }
  misuse_.add(record);
  const std::vector<std::string> blind = blind_classes(record);
  a.blind_cases += blind.empty() ? 0 : 1;
  for (const std::string& name : blind) ++a.blind[name];
  if (record.outcome == Outcome::kPassed)
    if (const auto off = unseen_factor(record.verdicts)) a.unseen_factor.add(*off);
}

void Analyser::keep_worst(const CaseRecord& record, Standing standing) {
  Analysis& a = analysis_;
  const std::size_t most = options_.worst;
  if (record.pcc) keep(a.least_pcc, most, *record.pcc, record, std::less<>());
  if (record.ulp) keep(a.most_ulp, most, *record.ulp, record, std::greater<>());
  if (record.bound_used) keep(a.nearest_bound, most, *record.bound_used, record, std::greater<>());
  if (ran(standing)) keep(a.slowest, most, record.wall_seconds, record, std::greater<>());
}

std::optional<double> unseen_factor(std::string_view verdicts) {
  std::optional<double> most;
  for (std::size_t at = verdicts.find(kUnseenFactor); at != std::string_view::npos;
       at = verdicts.find(kUnseenFactor, at + 1)) {
    double low = 0, high = 0;
    const char* end = verdicts.data() + verdicts.size();
    const auto first = std::from_chars(verdicts.data() + at + kUnseenFactor.size(), end, low);
    if (first.ec != std::errc() || end - first.ptr < 2) continue;
    if (std::from_chars(first.ptr + 2, end, high).ec != std::errc()) continue;
    most = std::max(most.value_or(0), std::max(1 - low, high - 1));
  }
  return most;
}

std::int64_t unproven_of(const Analysis& analysis) {
  std::int64_t count = 0;
  for (const auto& [outcome, cases] : analysis.outcomes)
    if (is_unproven(outcome)) count += cases;
  return count;
}

void Analyser::cluster(const CaseRecord& record, Standing standing) {
  if (standing == Standing::kPassed) return;
  auto key = std::pair(record.outcome, message_pattern(record.reason));
  auto found = clusters_.find(key);
  if (found == clusters_.end()) {
    if (clusters_.size() >= kMostClusters) {
      ++analysis_.clusters_cut;
      return;
    }
    found = clusters_.emplace(key, Cluster{}).first;
    Cluster& fresh = found->second;
    fresh.outcome = record.outcome;
    fresh.pattern = key.second;
    fresh.name = case_name(record);
    fresh.reason = record.reason;
    fresh.line = record.line;
    fresh.repeat = record.repeat;
  }
  Cluster& one = found->second;
  ++one.count;
  one.calls += record.calls;
  ++one.ops[record.op];
  if (record.blame != Blame::kNobody) ++one.blames[std::string(name_of(record.blame))];
}

void Analyser::tabulate(const CaseRecord& record, Standing standing) {
  for (const By by : kAllBy) {
    const auto put = [&](std::string_view name) {
      auto& groups = groups_[by];
      auto found = groups.find(name);
      if (found == groups.end()) {
        found = groups.emplace(std::string(name), Group{}).first;
        found->second.name = name;
      }
      add_to(found->second, record, standing);
    };
    if (by == By::kModel)
      for_each_part(record.models, ',', put);  // a case of two models counts for both
    else
      put(name_in(record, by));
  }
}

Analysis Analyser::finish() {
  Analysis& a = analysis_;
  a.misuse = misuse_.finish();
  if (!a.filtered) a.unreached = std::max<std::int64_t>(0, a.run.planned - a.total);
  std::vector<Cluster> failures, unanswered;
  for (auto& [key, one] : clusters_) {
    const Standing standing = standing_of(one.outcome);
    (standing == Standing::kFailed ? failures : unanswered).push_back(std::move(one));
  }
  a.failures = sorted(std::move(failures));
  a.unanswered = sorted(std::move(unanswered));
  for (auto& [by, groups] : groups_) {
    std::vector<Group>& table = a.tables[by];
    for (auto& [name, group] : groups) table.push_back(std::move(group));
    std::stable_sort(table.begin(), table.end(), [](const Group& x, const Group& y) { return x.cases > y.cases; });
  }
  return std::move(analysis_);
}

}  // namespace opwright::report
