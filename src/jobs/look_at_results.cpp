#include "jobs/look_at_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/input.h"
#include "base/near_names.h"
#include "gentest/snippets.h"
#include "jobs/question.h"
#include "model/case_line.h"
#include "report/case_history.h"
#include "report/html.h"
#include "select/evaluate.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr std::array<std::string_view, 4> kFormats{"csv", "junit", "jsonl", "sweep"};

Result<report::Exported> export_one(const ResultsTarget& target, const RunResults& results, bool is_strict) {
  if (target.format == "csv") return report::write_csv(target.path, results.stream());
  if (target.format == "junit") return report::write_junit(target.path, results.run(), results.stream(), is_strict);
  if (target.format == "jsonl") return report::write_jsonl(target.path, results.run(), results.stream());
  return report::write_sweep(target.path, results.run(), results.stream());
}

// Earlier runs that the page of a run tells of: the newest of them, and no more results than a minute can read.
constexpr std::size_t kMostPastRuns = 12;
constexpr std::int64_t kMostPastResults = 500'000;

// Runs from the one after the oldest that is read to the one before `run`.
Result<report::CaseHistory> history_before(store::ResultsReader& reader, std::span<const RunRecord> earlier) {
  report::CaseHistory history;
  std::int64_t results = 0;
  std::size_t first = earlier.size();
  while (first > 0 && earlier.size() - first < kMostPastRuns) {
    OPWRIGHT_TRY_ASSIGN(const auto outcomes, reader.outcomes(earlier[first - 1].uid));
    for (const auto& [outcome, count] : outcomes) results += count;
    if (results > kMostPastResults) break;
    --first;
  }
  history.runs_left_out = static_cast<std::int64_t>(first);
  for (const RunRecord& run : earlier.subspan(first)) {
    history.begin(run);
    OPWRIGHT_TRY(reader.for_each(run.uid, [&](CaseRecord&& record) -> Status {
      history.add(record);
      return {};
    }));
  }
  return history;
}

report::CaseTexts spelled(const CaseRecord& record) {
  Result<OpConfig> config = parse_case(record.line);
  if (!config) return {"", "", "its case line cannot be read"};
  gentest::Recorded recorded{
      .config = *std::move(config), .key = record.key, .calls = record.calls, .models = record.models};
  gentest::Snippets made = gentest::snippets_of(recorded);
  return {std::move(made.pytest), std::move(made.ttnn), std::move(made.refused)};
}

}  // namespace

Result<std::function<bool(const CaseRecord&)>> results_where(const std::string& where, const std::string& store,
                                                             int wait_ms) {
  if (where.empty()) return std::function<bool(const CaseRecord&)>();
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(where));
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(store, wait_ms));
  std::set<std::string> keys;
  OPWRIGHT_TRY(select::for_each_selected(*reader, selector, {}, [&](select::Selected&& found) -> Status {
    keys.insert(to_hex(found.config.key));
    return {};
  }));
  const bool of_calls = select::needs_provenance(selector);
  return std::function<bool(const CaseRecord&)>([selector, keys, of_calls](const CaseRecord& record) {
    if (!record.key.empty()) return keys.contains(record.key);
    const auto config = of_calls ? Result<OpConfig>(fail(ErrorCode::kNotFound, "")) : parse_case(record.line);
    return config && select::matches(selector, {.config = *config});
  });
}

Result<std::vector<RunOverview>> runs_of(const ResultsQuestion& question) {
  OPWRIGHT_TRY_ASSIGN(auto reader, store::open_results(question.store, question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(std::vector<RunRecord> runs, reader->runs());
  std::vector<RunOverview> out;
  for (RunRecord& run : runs) {
    OPWRIGHT_TRY_ASSIGN(const auto outcomes, reader->outcomes(run.uid));
    out.push_back({std::move(run), {outcomes.begin(), outcomes.end()}});
  }
  return out;
}

Result<RunResults> RunResults::open(const ResultsQuestion& question, const std::string& name) {
  OPWRIGHT_TRY_ASSIGN(auto reader, store::open_results(question.store, question.wait_ms));
  RunResults out;
  out.reader_ = std::move(reader);
  OPWRIGHT_TRY_ASSIGN(out.run_, out.reader_->find_run(name));
  out.is_filtered_ = !question.filter.empty();
  out.stream_ = report::filtered(
      [reader = out.reader_, uid = out.run_.uid](const report::UseResult& use) { return reader->for_each(uid, use); },
      question.filter);
  return out;
}

Result<report::Analysis> RunResults::analyse(std::size_t worst) const {
  report::Analyser analyser(run_, {.worst = worst, .filtered = is_filtered_});
  OPWRIGHT_TRY(stream_([&](CaseRecord&& record) -> Status {
    analyser.add(record);
    return {};
  }));
  return analyser.finish();
}

Result<report::Coverage> RunResults::coverage() const {
  report::Coverage coverage;
  OPWRIGHT_TRY(stream_([&](CaseRecord&& record) -> Status {
    coverage.add(record);
    return {};
  }));
  return coverage;
}

Result<report::RunDiff> diff_results(const ResultsQuestion& question, const std::string& a, const std::string& b) {
  OPWRIGHT_TRY_ASSIGN(auto reader, store::open_results(question.store, question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run_a, reader->find_run(a));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run_b, reader->find_run(b));
  // The filter may leave one side empty.
  const auto lenient = [&](const RunRecord& run) -> report::ResultStream {
    return [&reader, &question, uid = run.uid](const report::UseResult& use) {
      return reader->for_each(uid, [&](CaseRecord&& record) {
        return question.filter.matches(record) ? use(std::move(record)) : Status();
      });
    };
  };
  return report::diff_runs(run_a, lenient(run_a), run_b, lenient(run_b));
}

Result<ResultsTarget> parse_results_target(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string format = text.substr(0, colon);
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end())
    return fail(ErrorCode::kUsage, fmt::format("--export {}: no format '{}'{}; sweep:FOLDER, csv:FILE, junit:FILE or "
                                               "jsonl:FILE",
                                               text, format, did_you_mean(near_names(format, kFormats))));
  if (colon == std::string::npos || colon + 1 == text.size())
    return fail(ErrorCode::kUsage,
                fmt::format("--export {}: name the file: {}:{}", text, format, format == "sweep" ? "FOLDER" : "FILE"));
  return ResultsTarget{format, text.substr(colon + 1)};
}

Result<std::vector<report::Exported>> export_results(const RunResults& results,
                                                     const std::vector<ResultsTarget>& targets, bool is_strict) {
  std::vector<report::Exported> done;
  for (const ResultsTarget& target : targets) {
    OPWRIGHT_TRY_ASSIGN(report::Exported one, export_one(target, results, is_strict));
    done.push_back(std::move(one));
  }
  return done;
}

Result<WrittenPage> write_page(const ResultsQuestion& question, const std::string& name, const std::string& folder,
                               const std::vector<std::string>& tables) {
  std::vector<report::SideTable> beside;
  for (const std::string& path : tables) {
    OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
    OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
    OPWRIGHT_TRY_ASSIGN(report::SideTable table, report::parse_side_table(text.view(), path));
    beside.push_back(std::move(table));
  }
  OPWRIGHT_TRY_ASSIGN(const RunResults results, RunResults::open(question, name));
  OPWRIGHT_TRY_ASSIGN(auto reader, store::open_results(question.store, question.wait_ms));
  OPWRIGHT_TRY_ASSIGN(std::vector<RunRecord> earlier, reader->runs());
  const auto self = std::ranges::find(earlier, results.run().uid, &RunRecord::uid);
  earlier.erase(self, earlier.end());
  OPWRIGHT_TRY_ASSIGN(const report::CaseHistory history, history_before(*reader, earlier));
  std::optional<report::RunDiff> since;
  // The last one on this device; where there is none, the last that computes as this one does: the page warns.
  const auto newest = [&](auto&& like) { return std::ranges::find_if(earlier.rbegin(), earlier.rend(), like); };
  const RunRecord& run = results.run();
  auto last = newest([&](const RunRecord& one) { return one.device == run.device && one.against == run.against; });
  if (last == earlier.rend())
    last = newest([&](const RunRecord& one) { return one.numerics == run.numerics && one.against == run.against; });
  if (last != earlier.rend()) {
    OPWRIGHT_TRY_ASSIGN(since, diff_results(question, last->uid, results.run().uid));
  }
  OPWRIGHT_TRY_ASSIGN(
      const report::Page page,
      report::make_page(results.run(), results.stream(),
                        {.tables = beside, .since = since ? &*since : nullptr, .history = &history, .spell = spelled}));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::kIo,
                fmt::format("{}: cannot make this folder: {}; --html needs a folder that can be written", folder,
                            error.message()));
  OPWRIGHT_TRY(write_into(folder, "index.html", page.html));
  return WrittenPage{results.run(), page.results, static_cast<std::int64_t>(page.html.size()),
                     (std::filesystem::path(folder) / "index.html").string()};
}

}  // namespace opwright::jobs
