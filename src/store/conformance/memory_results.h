// Runs and results of a MemoryStore.
#pragma once

#include <algorithm>

#include "store/conformance/memory_content.h"
#include "store/run_life.h"

namespace opwright::store {

class MemoryResultsWriter final : public ResultsWriter {
 public:
  MemoryResultsWriter(State state, int wait_ms) : state_(std::move(state)), wait_ms_(wait_ms) {}
  Status begin(const RunRecord& run) override {
    return change([&](MemoryContent& content) -> Status {
      if (find(content, run.uid) != nullptr)
        return fail(ErrorCode::kUsage, "memory: there is such a run; continue it with --resume");
      content.runs.push_back(run);
      return {};
    });
  }
  Status resume(std::string_view uid, std::string_view facts) override {
    return change_run(uid, [&](RunRecord& run) {
      run.status = "running";
      run.ended = "";
      if (!facts.empty()) run.facts = facts;
    });
  }
  using ResultsWriter::add;
  Status add(std::string_view uid, std::span<const CaseRecord> records) override {
    return change([&](MemoryContent& content) -> Status {
      if (find(content, uid) == nullptr) return fail(no_run("memory", uid));
      for (const CaseRecord& record : records) content.results[std::string(uid)].insert_or_assign(record.index, record);
      return {};
    });
  }
  Status end(std::string_view uid, std::string_view status, std::string_view ended) override {
    return change_run(uid, [&](RunRecord& run) {
      run.status = status;
      run.ended = ended;
    });
  }

 private:
  static RunRecord* find(MemoryContent& content, std::string_view uid) {
    for (RunRecord& run : content.runs) {
      if (run.uid == uid) return &run;
    }
    return nullptr;
  }
  template <class Change>
  Status change_run(std::string_view uid, const Change& change_it) {
    return change([&](MemoryContent& content) -> Status {
      RunRecord* run = find(content, uid);
      if (run == nullptr) return fail(no_run("memory", uid));
      change_it(*run);
      return {};
    });
  }
  template <class Work>
  Status change(const Work& work) {
    OPWRIGHT_TRY(take(*state_, wait_ms_));
    MemoryContent content;
    if (state_->content) content = *state_->content;
    const Status done = work(content);
    give(*state_, done ? std::make_shared<const MemoryContent>(std::move(content)) : nullptr);
    return done;
  }
  State state_;
  int wait_ms_;
};

class MemoryResultsReader final : public ResultsReader {
 public:
  explicit MemoryResultsReader(State state) : state_(std::move(state)) {}
  Result<std::vector<RunRecord>> runs() override {
    std::vector<RunRecord> runs = now()->runs;
    for (RunRecord& run : runs) run.status = status_now(run);
    std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.started < b.started; });
    return runs;
  }
  Result<std::vector<std::int64_t>> done(std::string_view uid) override {
    std::vector<std::int64_t> places;
    OPWRIGHT_TRY(for_each(uid, [&](CaseRecord&& record) { return places.push_back(record.index), Status(); }));
    return places;
  }
  Result<std::map<Outcome, std::int64_t>> outcomes(std::string_view uid) override {
    std::map<Outcome, std::int64_t> counts;
    OPWRIGHT_TRY(for_each(uid, [&](CaseRecord&& record) { return ++counts[record.outcome], Status(); }));
    return counts;
  }
  Status for_each(std::string_view uid, const std::function<Status(CaseRecord&&)>& use) override {
    const Content content = now();
    const auto known =
        std::any_of(content->runs.begin(), content->runs.end(), [&](const RunRecord& run) { return run.uid == uid; });
    if (!known) return fail(no_run("memory", uid));
    const auto found = content->results.find(std::string(uid));
    if (found == content->results.end()) return {};
    for (const auto& [place, record] : found->second) OPWRIGHT_TRY(use(CaseRecord(record)));
    return {};
  }
  std::string name() const override { return "memory"; }

 private:
  Content now() const {
    const std::lock_guard lock(state_->mutex);
    return state_->content ? state_->content : std::make_shared<const MemoryContent>();
  }
  State state_;
};

}  // namespace opwright::store
