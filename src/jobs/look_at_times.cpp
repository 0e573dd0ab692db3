#include "jobs/look_at_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>

#include "model/case_name.h"
#include "report/case_key.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

using report::Told;

// Times of a result; nothing of one without.
Result<std::optional<CasePerf>> perf_of(const CaseRecord& record) {
  if (record.perf.empty()) return std::optional<CasePerf>();
  auto perf = parse_case_perf(record.perf);
  if (!perf) return fail(perf.error().code, fmt::format("result {}: {}", record.index, perf.error().message));
  return std::optional<CasePerf>(*std::move(perf));
}

bool has_times(const CasePerf& perf) { return perf.refused.empty() && !perf.main().empty(); }

void caution(TimesDiff& diff) {
  const auto differ = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b) diff.cautions.push_back(fmt::format("{} differ: '{}' and '{}'", what, a, b));
  };
  differ("devices", diff.a.device, diff.b.device);
  differ("hosts", diff.a.host, diff.b.host);
}

struct Side {
  CasePerf perf;
  bool is_timed = false;
};

}  // namespace

Result<RunTimes> times_of_run(const RunResults& results) {
  RunTimes out;
  OPWRIGHT_TRY(results.stream()([&](CaseRecord&& record) -> Status {
    OPWRIGHT_TRY_ASSIGN(const auto perf, perf_of(record));
    if (!perf) {
      ++out.not_timed;
      return {};
    }
    out.cases.push_back({.op = std::move(record.op),
                         .line = std::move(record.line),
                         .refused = perf->refused,
                         .is_modelled = perf->is_modelled,
                         .is_forced = perf->is_forced,
                         .device = figures_of(perf->device),
                         .end_to_end = figures_of(perf->end_to_end),
                         .host = figures_of(perf->host)});
    return {};
  }));
  return out;
}

Result<TimesDiff> diff_times(const ResultsQuestion& question, const std::string& a, const std::string& b,
                             const report::TellOptions& options) {
  TimesDiff diff;
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(question.store, question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(diff.a, reader->find_run(a));
  OPWRIGHT_TRY_ASSIGN(diff.b, reader->find_run(b));
  caution(diff);
  std::unordered_map<Hash128, Side, Hash128Hasher> before;
  OPWRIGHT_TRY(reader->for_each(diff.a.uid, [&](CaseRecord&& record) -> Status {
    if (!question.filter.matches(record)) return {};
    OPWRIGHT_TRY_ASSIGN(auto perf, perf_of(record));
    const bool timed = perf && has_times(*perf);
    before[report::case_key(record)] = {timed ? *std::move(perf) : CasePerf{}, timed};
    return {};
  }));
  std::int64_t met = 0;
  OPWRIGHT_TRY(reader->for_each(diff.b.uid, [&](CaseRecord&& record) -> Status {
    if (!question.filter.matches(record)) return {};
    const auto found = before.find(report::case_key(record));
    if (found == before.end()) {
      ++diff.only_one;
      return {};
    }
    ++met;
    OPWRIGHT_TRY_ASSIGN(const auto perf, perf_of(record));
    const auto change = found->second.is_timed && perf && has_times(*perf)
                            ? report::compare_rounds(found->second.perf, *perf)
                            : std::nullopt;
    if (!change) {
      ++diff.not_timed;
      return {};
    }
    const bool device = !found->second.perf.device.empty() && !perf->device.empty();
    const auto median = [device](const CasePerf& of) { return figures_of(device ? of.device : of.end_to_end)->median; };
    diff.cases.push_back({.op = std::move(record.op),
                          .line = std::move(record.line),
                          .repeat = std::move(record.repeat),
                          .median_a = median(found->second.perf),
                          .median_b = median(*perf),
                          .change = *change});
    return {};
  }));
  diff.only_one += std::max<std::int64_t>(0, static_cast<std::int64_t>(before.size()) - met);
  std::vector<double> chances;
  for (const ComparedTimes& one : diff.cases) chances.push_back(one.change.chance);
  const std::vector<double> rates = report::false_discovery_rates(chances);
  for (std::size_t i = 0; i < diff.cases.size(); ++i) {
    ComparedTimes& one = diff.cases[i];
    one.change.most_false = rates[i];
    one.told = report::tell(one.change, options);
    ++(one.told == Told::kSlower   ? diff.slower
       : one.told == Told::kFaster ? diff.faster
       : one.told == Told::kSame   ? diff.same
                                   : diff.cannot_tell);
  }
  std::ranges::stable_sort(diff.cases, [](const ComparedTimes& x, const ComparedTimes& y) {
    const auto order = [](const ComparedTimes& one) {
      const bool found = one.told == Told::kSlower || one.told == Told::kFaster;
      return std::make_tuple(one.told == Told::kSlower ? 0
                             : found                   ? 1
                                                       : 2,
                             found ? -std::abs(std::log(one.change.ratio)) : one.change.chance);
    };
    return order(x) < order(y);
  });
  return diff;
}

namespace {

bool is_wanted(const CaseRecord& record, const std::string& wanted) {
  if (record.line == wanted || is_named(record, wanted)) return true;
  return wanted.size() >= 6 && (record.vector.starts_with(wanted) || record.key.starts_with(wanted));
}

// Changes of level among the entries of one device and one kind of clock.
void mark_changes(std::vector<HistoryEntry*>& entries) {
  std::vector<double> levels;
  for (const HistoryEntry* entry : entries) levels.push_back(std::log(std::max(1.0, entry->time->median)));
  const std::vector<std::size_t> points = report::change_points(levels);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto level = [&](std::size_t from, std::size_t to) {
      return median_of(
          {levels.begin() + static_cast<std::ptrdiff_t>(from), levels.begin() + static_cast<std::ptrdiff_t>(to)});
    };
    const std::size_t before = i == 0 ? 0 : points[i - 1], next = i + 1 < points.size() ? points[i + 1] : levels.size();
    HistoryEntry& entry = *entries[points[i]];
    entry.is_change = true;
    entry.ratio = std::exp(level(points[i], next) - level(before, points[i]));
  }
}

}  // namespace

Result<History> history_of(const ResultsQuestion& question, const std::string& wanted) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(question.store, question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::vector<RunRecord> runs, reader->runs());
  History history;
  std::set<std::string> lines;
  for (const RunRecord& run : runs)
    OPWRIGHT_TRY(reader->for_each(run.uid, [&](CaseRecord&& record) -> Status {
      if (!is_wanted(record, wanted) || !question.filter.matches(record)) return {};
      lines.insert(record.line);
      history.line = record.line;
      history.op = record.op;
      HistoryEntry entry{.run = run, .outcome = record.outcome, .time = {}, .clock = ""};
      OPWRIGHT_TRY_ASSIGN(const auto perf, perf_of(record));
      if (perf && has_times(*perf)) {
        entry.time = figures_of(perf->main());
        entry.clock = perf->is_modelled ? "modelled" : perf->device.empty() ? "end to end" : "device";
      } else if (record.device_seconds > 0) {  // one call, as the run judged it: better than nothing
        const double ns = record.device_seconds * 1e9;
        entry.time = TimeFigures{.count = 1, .median = ns, .mean = ns, .sd = 0, .least = ns, .most = ns};
        entry.clock = "call";
      }
      history.entries.push_back(std::move(entry));
      return {};
    }));
  if (history.entries.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("no run has a case '{}': give its case line, its name @054f8d1b, or six letters or more of "
                            "its vector id or key ('opwright results --list --format json')",
                            wanted));
  if (lines.size() > 1)
    return fail(ErrorCode::kUsage, fmt::format("'{}' is the beginning of {} cases; give more of it, or the case line",
                                               wanted, lines.size()));
  std::ranges::stable_sort(history.entries, {}, [](const HistoryEntry& e) { return std::tie(e.run.device, e.clock); });
  std::vector<HistoryEntry*> alike;
  for (std::size_t i = 0; i <= history.entries.size(); ++i) {
    const bool ends =
        i == history.entries.size() || (!alike.empty() && (alike.back()->run.device != history.entries[i].run.device ||
                                                           alike.back()->clock != history.entries[i].clock));
    if (ends && !alike.empty()) {
      mark_changes(alike);
      alike.clear();
    }
    if (i < history.entries.size() && history.entries[i].time) alike.push_back(&history.entries[i]);
  }
  return history;
}

}  // namespace opwright::jobs
