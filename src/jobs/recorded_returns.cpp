#include "jobs/recorded_returns.h"

#include <algorithm>

#include "base/hash.h"
#include "exec/traced_board.h"
#include "format/native/call_stream.h"
#include "format/native/native_calls.h"
#include "model/call_json.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"

namespace opwright::jobs {
namespace {

bool same_outputs(const std::vector<OutputSpec>& a, const std::vector<OutputSpec>& b) {
  return std::ranges::equal(
      a, b, [](const OutputSpec& x, const OutputSpec& y) { return encode_output(x) == encode_output(y); });
}

struct Seen {
  std::string key;  // "" it says nothing
  std::vector<OutputSpec> outputs;
  std::int64_t calls = 0;
};

}  // namespace

Result<RecordedReturns> RecordedReturns::read(store::Reader& reader) {
  RecordedReturns all;
  OPWRIGHT_TRY_ASSIGN(const std::vector<store::SequenceRow> rows, reader.sequences());
  for (const store::SequenceRow& row : rows) OPWRIGHT_TRY(all.add_trace(reader, row));
  for (auto& [key, returns] : all.returns_) std::ranges::stable_sort(returns, std::greater{}, &RecordedReturn::calls);
  return all;
}

Status RecordedReturns::add_trace(store::Reader& reader, const store::SequenceRow& row) {
  OPWRIGHT_TRY_ASSIGN(std::string bytes, reader.trace_bytes(row));
  OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace,
                      format::NativeTrace::from_bytes(std::move(bytes), "trace " + row.sequence.name));
  format::NativeCalls calls(trace);
  format::CallStream stream(trace);
  // A model makes few different calls very often: each is understood once.
  std::unordered_map<Hash128, Seen, Hash128Hasher> known;
  std::string label;
  while (const format::NativeCall* recorded = stream.next()) {
    if (!recorded->finished || recorded->raised() || recorded->result == 0) continue;
    const auto [entry, added] = known.try_emplace(format::same_call(*recorded));
    Seen& seen = entry->second;
    ++seen.calls;
    if (!added) continue;
    format::LiftNotes notes;
    auto call = calls.call(*recorded, notes);
    if (!call || !call->has_result || !tensors_of(call->result, seen.outputs) || seen.outputs.empty()) continue;
    if (label.empty()) label = normalize::name_machine(call->machine);
    seen.key = to_hex(normalize::config_of(*std::move(call)).key);
    trace.values().forget();
  }
  const auto board = traced_board(label);
  for (auto& [same, seen] : known)
    if (!seen.key.empty()) add(seen.key, {std::move(seen.outputs), seen.calls, board ? board->name : ""});
  return {};
}

void RecordedReturns::add(const std::string& key, RecordedReturn found) {
  std::vector<RecordedReturn>& returns = returns_[key];
  const auto same = std::ranges::find_if(returns, [&](const RecordedReturn& one) {
    return one.board == found.board && same_outputs(one.outputs, found.outputs);
  });
  if (same != returns.end())
    same->calls += found.calls;
  else
    returns.push_back(std::move(found));
}

const std::vector<RecordedReturn>& RecordedReturns::of(const std::string& key) const {
  static const std::vector<RecordedReturn> kNone;
  const auto found = returns_.find(key);
  return found == returns_.end() ? kNone : found->second;
}

}  // namespace opwright::jobs
