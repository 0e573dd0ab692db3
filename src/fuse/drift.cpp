#include "fuse/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "dialect/ttnn/board.h"
#include "exec/traced_board.h"
#include "fuse/describe.h"
#include "model/config_fields.h"

namespace opwright::fuse {
namespace {

Board board_of(const FusedTest& test) {
  if (auto board = traced_board(test.machine)) return *std::move(board);
  return *find_board("n150");
}

// Results are compared as fields of a call, too.
FlatConfig fields_of(const CallParameters& call) {
  FlatConfig out = flatten(call.config);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    OpConfig result;
    result.args.push_back({fmt::format("result{}", r), Value::tensor(call.results[r])});
    for (auto& field : flatten(result)) out.push_back(std::move(field));
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<Drift> differences(const FusedTest& test, const ParameterSet& ours, const ParameterSet& theirs) {
  std::vector<Drift> out;
  for (std::size_t c = 0; c < test.calls.size() && c < theirs.calls.size(); ++c)
    for (FieldChange& change : changes_between(fields_of(ours.calls[c]), fields_of(theirs.calls[c])))
      out.push_back({ours.id, c, test.calls[c].op, std::move(change.field), std::move(change.from),
                     std::move(change.to), static_cast<std::int64_t>(theirs.matches.size())});
  return out;
}

Result<DriftReport> find_drift(format::NativeTrace& trace, const FusedTest& test) {
  DriftReport out;
  OPWRIGHT_TRY_ASSIGN(const CallGraph graph, CallGraph::build(trace));
  Wanted wanted;
  OPWRIGHT_TRY_ASSIGN(wanted.pattern, Pattern::parse(test.pattern));
  auto matches = find_matches(graph, wanted);
  if (!matches) {
    if (matches.error().code != ErrorCode::kNotFound) return fail(std::move(matches).error());
    out.no_match = matches.error().message;
    return out;
  }
  replay::KnownCalls known(trace, board_of(test));
  OPWRIGHT_TRY_ASSIGN(Described found, describe(trace, graph, *matches, known, test.name));
  // Transparent calls are not part of the pattern; without them the sequences must be one.
  const bool same_calls = std::ranges::equal(found.test.calls, test.calls, [](const FusedCall& a, const FusedCall& b) {
    return a.op == b.op && a.tensors == b.tensors && a.results == b.results;
  });
  if (!same_calls) {
    out.no_match = "the operations of the test are there, with another data flow or other calls between them";
    return out;
  }
  std::set<std::string> had;
  for (const ParameterSet& theirs : found.test.sets) {
    const auto count = static_cast<std::int64_t>(theirs.matches.size());
    const ParameterSet* nearest = nullptr;
    std::vector<Drift> least;
    for (const ParameterSet& ours : test.sets) {
      if (ours.mode != theirs.mode && !ours.mode.empty() && !theirs.mode.empty()) continue;
      std::vector<Drift> differs = differences(test, ours, theirs);
      if (nearest != nullptr && differs.size() >= least.size()) continue;
      nearest = &ours;
      least = std::move(differs);
    }
    if (nearest == nullptr) {
      out.other_modes += count;
      continue;
    }
    out.matches += count;
    had.insert(nearest->id);
    if (least.empty()) out.equal += count;
    out.drifts.insert(out.drifts.end(), least.begin(), least.end());
  }
  for (const ParameterSet& ours : test.sets)
    if (!had.contains(ours.id)) out.missing.push_back(ours.id);
  return out;
}

}  // namespace opwright::fuse
