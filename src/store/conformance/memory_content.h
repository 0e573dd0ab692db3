// What a MemoryStore holds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/results.h"
#include "store/rows.h"

namespace opwright::store {

struct MemoryContent {
  struct Form {
    NewForm form;
    std::string error;
  };
  struct Seen {
    std::int64_t count, raised;
    std::string extra;
  };
  using Where = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string, std::string>;
  std::string identity;
  std::map<std::int64_t, NewConfiguration> configurations;
  std::map<ConfigKey, std::int64_t> keys;
  std::map<std::int64_t, Form> forms;
  std::map<Hash128, std::int64_t> fingerprints;
  std::set<std::pair<std::uint64_t, std::int64_t>> postings;
  std::set<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> facts;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::string> words;
  std::vector<NewSource> sources{{"", "", "", "unknown"}};
  std::vector<NewMachine> machines{{"", "unknown"}};
  std::vector<NewTrace> traces;
  std::map<Where, Seen> occurrences;
  std::map<std::string, std::pair<Sequence, std::string>> sequences;
  std::vector<RunRecord> runs;
  std::map<std::string, std::map<std::int64_t, CaseRecord>> results;
};

struct MemoryState {
  std::mutex mutex;
  std::condition_variable free;
  bool writing = false;
  std::shared_ptr<const MemoryContent> content;  // none: no store yet
};

using Content = std::shared_ptr<const MemoryContent>;
using State = std::shared_ptr<MemoryState>;

// One at a time.
inline Status take(MemoryState& state, int wait_ms) {
  std::unique_lock lock(state.mutex);
  if (!state.free.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return !state.writing; }))
    return fail(ErrorCode::kLocked, "memory: the store is locked");
  state.writing = true;
  return {};
}
inline void give(MemoryState& state, std::shared_ptr<const MemoryContent> content) {
  const std::lock_guard lock(state.mutex);
  if (content) state.content = std::move(content);
  state.writing = false;
  state.free.notify_all();
}

}  // namespace opwright::store
