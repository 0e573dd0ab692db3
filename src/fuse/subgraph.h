// A set of calls of a graph: whether it can be one function, and what belongs to it.
#pragma once

#include <string>
#include <vector>

#include "fuse/call_graph.h"

namespace opwright::fuse {

// Ascending, each once.
using Nodes = std::vector<NodeIndex>;

// Why a set of calls cannot be one function.
enum class Obstacle : std::uint8_t {
  kNone,
  kNotConvex,     // a result leaves, and comes back through another call: that call would have to run in the middle
  kNotConnected,  // no tensor joins its parts
  kRaised,        // a call of it raised, or never ended
  kTwoRuns,       // it goes over the border of a phase or a test
};
struct Closed {
  Nodes nodes;  // with the transparent calls that stand between those that were asked for
  Obstacle obstacle = Obstacle::kNone;
  NodeIndex at = kNoNode;  // the call that is in the way
};
std::string words_of(const CallGraph& graph, const Closed& closed);

// `skipped`: whether a call may be taken in without being asked for. A set may be joined by an input that its parts
// share, as long as a call of the graph made it.
Closed close(const CallGraph& graph, Nodes nodes, const std::vector<bool>& skipped_kinds);

// By kind: transparent calls, views among them, but those of operations that `named` says.
std::vector<bool> skipped_kinds(const CallGraph& graph, const std::vector<bool>& named_ops);

// The tensor where a use comes from when skipped calls are looked through: the use by the first of them, else itself.
Use look_through(const CallGraph& graph, Use use, const std::vector<bool>& skipped_kinds);

}  // namespace opwright::fuse
