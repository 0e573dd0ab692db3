#include "fuse/subgraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace opwright::fuse {
namespace {

bool has(const Nodes& nodes, NodeIndex node) { return std::ranges::binary_search(nodes, node); }

// A call on a way out of the set and back into it; kNoNode: there is none.
NodeIndex on_the_way(const CallGraph& graph, const Nodes& nodes) {
  const NodeIndex first = nodes.front(), last = nodes.back();
  std::vector<NodeIndex> via(last - first + 1, kNoNode);  // the first call outside that a way from the set goes through
  for (NodeIndex node = first; node <= last; ++node) {
    const bool inside = has(nodes, node);
    for (const NodeIndex earlier : graph.before(node)) {
      if (earlier < first) continue;
      const NodeIndex through = has(nodes, earlier) ? kNoNode : via[earlier - first];
      if (inside && through != kNoNode) return through;
      if (!inside && (through != kNoNode || has(nodes, earlier))) via[node - first] = node;
    }
    // What is behind such a call is on the way through it: the nearest to the end of the way decides what is taken in.
  }
  return kNoNode;
}

bool is_connected(const CallGraph& graph, const Nodes& nodes) {
  std::vector<std::size_t> group(nodes.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::vector<std::pair<std::uint32_t, std::size_t>> tensors;  // that a call made, and who takes or returns them
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Use& use : graph.uses(nodes[i]))
      if (use.maker != kNoNode && graph.kind(use.maker).computes) tensors.emplace_back(use.tensor, i);
    for (const std::uint32_t result : graph.results(nodes[i]))
      if (result != kNoTensor) tensors.emplace_back(result, i);
    // Order counts too: a call that writes what another one reads.
    for (const NodeIndex earlier : graph.before(nodes[i])) {
      const auto at = std::ranges::lower_bound(nodes, earlier);
      if (at != nodes.end() && *at == earlier) group[root(i)] = root(static_cast<std::size_t>(at - nodes.begin()));
    }
  }
  std::ranges::sort(tensors);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].first == tensors[i - 1].first) group[root(tensors[i].second)] = root(tensors[i - 1].second);
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (root(i) != root(0)) return false;
  return true;
}

}  // namespace

std::vector<bool> skipped_kinds(const CallGraph& graph, const std::vector<bool>& named_ops) {
  std::vector<bool> out;
  out.reserve(graph.kinds().size());
  for (const CallKind& kind : graph.kinds())
    out.push_back(!named_ops[kind.op] && (kind.is_view || is_transparent(graph.ops()[kind.op])));
  return out;
}

Use look_through(const CallGraph& graph, Use use, const std::vector<bool>& skipped) {
  while (use.maker != kNoNode && skipped[graph[use.maker].kind]) {
    const auto given = graph.uses(use.maker);
    if (given.empty()) break;
    use = given.front();
  }
  return use;
}

Closed close(const CallGraph& graph, Nodes nodes, const std::vector<bool>& skipped) {
  Closed out;
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (NodeIndex through = on_the_way(graph, nodes); through != kNoNode; through = on_the_way(graph, nodes)) {
    if (!skipped[graph[through].kind]) {
      out.nodes = std::move(nodes);
      out.obstacle = Obstacle::kNotConvex;
      out.at = through;
      return out;
    }
    nodes.insert(std::ranges::lower_bound(nodes, through), through);
  }
  out.nodes = std::move(nodes);
  for (const NodeIndex node : out.nodes) {
    const format::NativeCall& example = graph.kind(node).example;
    if (example.raised() || !example.finished) {
      out.obstacle = Obstacle::kRaised;
    } else if (!graph.context(node).in_one_run_with(graph.context(out.nodes.front()))) {
      out.obstacle = Obstacle::kTwoRuns;
    } else {
      continue;
    }
    out.at = node;
    return out;
  }
  if (!is_connected(graph, out.nodes)) {
    out.obstacle = Obstacle::kNotConnected;
    out.at = out.nodes.front();
  }
  return out;
}

std::string words_of(const CallGraph& graph, const Closed& closed) {
  const auto at = [&] { return fmt::format("{} (call {})", graph.op(closed.at), graph[closed.at].seq); };
  switch (closed.obstacle) {
    case Obstacle::kNone:
      return "";
    case Obstacle::kNotConvex:
      return fmt::format(
          "{} takes a result of the sequence and makes something that the sequence takes: it would have "
          "to run in the middle",
          at());
    case Obstacle::kNotConnected:
      return fmt::format("no tensor joins the parts of the sequence that begins with {}", at());
    case Obstacle::kRaised:
      return at() + " raised, or never ended";
    case Obstacle::kTwoRuns:
      return fmt::format("{} is in another phase or test than the beginning of the sequence", at());
  }
  return "";
}

}  // namespace opwright::fuse
