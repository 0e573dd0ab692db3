// Sequences that are worth a fused operator, out of traces alone: sub-graphs that a model makes often, that can be one
// function, and that keep to themselves much of what they now write and read again.
//
// Sub-graphs grow along the data flow from each kind of pair (who feeds whom, through which argument), the best few of
// each size further. What is looked at while they grow is a sample of the places; at the end each candidate is found
// everywhere. Candidates that cover mostly the same calls are one group, led by its best.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "fuse/call_graph.h"
#include "fuse/op_costs.h"

namespace opwright::fuse {

struct SuggestOptions {
  std::size_t largest = 14;         // calls
  std::size_t groups = 10;          // that are given back
  std::size_t variants = 4;         // of a group, besides the best
  std::vector<std::string> phases;  // globs; empty: any
  std::function<bool()> stop;
};

struct Suggestion {
  std::string name, pattern;
  std::uint64_t key = 0;               // of the graph, whatever the order of calls: the same in every trace
  std::vector<std::uint64_t> example;  // calls of the first place
  std::int64_t matches = 0;
  std::int64_t configurations = 0;  // parameter sets: places with different arguments
  std::set<std::string> phases, sources;
  std::size_t labels = 0;           // different ones: layers
  std::int64_t internal_bytes = 0;  // of one place: written, and read by nobody else
  std::int64_t boundary_bytes = 0;  // activations in and out
  std::int64_t inputs = 0, weights = 0, outputs = 0;
  std::int64_t unmodelled = 0;  // calls whose time is not known
  double kernel_ns = 0;         // of one place
  double saved_ns = 0;          // of one place: not moved, and not waited for between kernels
  double score = 0;
  std::vector<Suggestion> variants;  // of the same group

  double saved_in_all() const { return saved_ns * static_cast<double>(matches); }
};

// Of one trace, best first; each with what it covers, so that groups can be made over traces.
struct Candidate {
  Suggestion what;
  std::vector<std::uint32_t> covered;  // nodes, ascending
};
std::vector<Candidate> find_candidates(const CallGraph& graph, OpCosts& costs, const SuggestOptions& options);

// Candidates of several traces: the same graph is one, what covers mostly the same calls one group.
std::vector<Suggestion> group(std::vector<std::vector<Candidate>> traces, const SuggestOptions& options);

}  // namespace opwright::fuse
