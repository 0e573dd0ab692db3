#include "fuse/match.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/native/call_filter.h"

namespace opwright::fuse {
namespace {

constexpr std::size_t kMostTried = 10'000;  // places with the right names that are looked at, until one is a function

class Finder {
 public:
  Finder(const CallGraph& graph, const Wanted& wanted) : graph_(graph), wanted_(wanted) {
    for (const GraphContext& context : graph.contexts())
      takes_context_.push_back(wanted.phases.empty() ||
                               std::ranges::any_of(wanted.phases, [&](const std::string& phase) {
                                 return format::glob_matches(phase, context.phase);
                               }));
  }

  Result<Matches> find() {
    named_.assign(graph_.ops().size(), false);
    auto first = wanted_.pattern ? by_pattern() : wanted_.label.empty() ? by_range() : by_label();
    if (!first) return fail(std::move(first).error());
    const std::vector<bool> skipped = skipped_kinds(graph_, named_);
    const Template pattern(graph_, first->calls, skipped);
    out_.places.push_back(*std::move(first));
    for (Place& place : pattern.find_all())
      if (takes(place.calls.front()) && place.nodes != out_.places.front().nodes && !overlaps(place))
        out_.places.push_back(std::move(place));
    out_.overlapping += pattern.overlapping();
    if (out_.overlapping > 0) {
      out_.is_ambiguous = true;
      out_.findings.push_back(
          {FindingCode::kAmbiguous,
           {},
           fmt::format("{} more places share calls with a match before them, and are left out", out_.overlapping)});
    }
    if (graph_.is_inferred()) {
      out_.findings.push_back({FindingCode::kEdgeInferred,
                               {},
                               fmt::format("the trace does not name its tensors: who made which follows from their "
                                           "specs where one answer is possible; {} uses stay open",
                                           graph_.ambiguous())});
      if (graph_.ambiguous() > 0) out_.is_ambiguous = true;
    }
    return std::move(out_);
  }

 private:
  bool takes(NodeIndex node) const { return takes_context_[graph_[node].context]; }

  bool overlaps(const Place& place) {
    for (const NodeIndex node : place.calls)
      if (std::ranges::find(out_.places.front().calls, node) != out_.places.front().calls.end()) {
        ++out_.overlapping;
        return true;
      }
    return false;
  }

  void refuse(const Closed& closed) {
    if (out_.refused++ == 0) out_.why_refused = words_of(graph_, closed);
    if (closed.obstacle == Obstacle::kTwoRuns && phase_cuts_++ == 0)
      out_.findings.push_back({FindingCode::kPhaseCut, {graph_[closed.at].seq}, words_of(graph_, closed)});
  }

  tl::unexpected<Error> no_match(const std::string& what) const {
    std::string why = fmt::format("no match: {}", what);
    if (out_.refused > 0)
      why = fmt::format("no match: {} stands {} in the trace, and is no function there: {}", what,
                        out_.refused == 1 ? "once" : fmt::format("{} times", out_.refused), out_.why_refused);
    return fail(ErrorCode::kNotFound, why + "; 'opwright calls TRACE' shows the calls in their order");
  }

  Result<Place> by_pattern() {
    OPWRIGHT_TRY_ASSIGN(const auto meant, wanted_.pattern->resolve(graph_.ops()));
    for (const auto& ops : meant)
      for (const std::uint32_t op : ops) named_[op] = true;
    const std::vector<bool> skipped = skipped_kinds(graph_, named_);
    std::vector<NodeIndex> nodes;
    std::vector<std::uint32_t> ops;
    for (NodeIndex node = 0; node < graph_.size(); ++node) {
      if (!takes(node) || skipped[graph_[node].kind]) continue;
      nodes.push_back(node);
      ops.push_back(graph_[node].op);
    }
    const auto in_row = find_in_row(ops, meant);
    for (std::size_t i = 0; i < in_row.size() && i < kMostTried; ++i)
      if (auto place = try_at({nodes.begin() + static_cast<std::ptrdiff_t>(in_row[i]),
                               nodes.begin() + static_cast<std::ptrdiff_t>(in_row[i] + meant.size())},
                              skipped))
        return *std::move(place);
    if (auto place = in_other_order(nodes, ops, meant, skipped)) return *std::move(place);
    return no_match(fmt::format("'{}'", wanted_.pattern->text()));
  }

  // Calls that do not depend on each other may stand in another order than they were asked for.
  std::optional<Place> in_other_order(const std::vector<NodeIndex>& nodes, const std::vector<std::uint32_t>& ops,
                                      const std::vector<std::vector<std::uint32_t>>& meant,
                                      const std::vector<bool>& skipped) {
    const std::size_t length = meant.size();
    if (ops.size() < length || std::ranges::any_of(meant, [](const auto& set) { return set.size() != 1; })) return {};
    std::vector<int> missing(graph_.ops().size(), 0);
    std::size_t open = 0;  // operations of which the window has too many or too few
    for (const auto& set : meant) ++missing[set[0]];
    for (const int count : missing) open += count != 0 ? 1 : 0;
    const auto change = [&](std::uint32_t op, int by) {
      open -= missing[op] != 0 ? 1 : 0;
      missing[op] += by;
      open += missing[op] != 0 ? 1 : 0;
    };
    std::size_t tried = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      change(ops[i], -1);
      if (i >= length) change(ops[i - length], 1);
      if (open != 0 || i + 1 < length || ++tried > kMostTried) continue;
      const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(i + 1 - length);
      if (auto place = try_at({begin, begin + static_cast<std::ptrdiff_t>(length)}, skipped)) return place;
    }
    return {};
  }

  std::optional<Place> try_at(std::vector<NodeIndex> calls, const std::vector<bool>& skipped) {
    Closed closed = close(graph_, calls, skipped);
    if (closed.obstacle != Obstacle::kNone) {
      refuse(closed);
      return {};
    }
    return Place{std::move(calls), std::move(closed.nodes)};
  }

  // What computes in a stretch; calls that load and read tensors between them are no part of it.
  std::vector<NodeIndex> computing(NodeIndex first, NodeIndex end) const {
    std::vector<NodeIndex> out;
    for (NodeIndex node = first; node < end; ++node)
      if (takes(node) && graph_.kind(node).computes) out.push_back(node);
    return out;
  }

  Result<Place> by_range() {
    const NodeIndex first = graph_.find(wanted_.first), end = graph_.find(wanted_.last + 1);
    const auto calls = computing(first, end);
    const std::string what = fmt::format("--range {}:{}", wanted_.first, wanted_.last);
    if (calls.empty()) return no_match(what + " has no call that computes something");
    return of_stretch(calls, what);
  }

  Result<Place> by_label() {
    std::vector<bool> is_it;
    for (const GraphContext& context : graph_.contexts())
      is_it.push_back(format::glob_matches(wanted_.label, context.label));
    for (NodeIndex first = 0; first < graph_.size(); ++first) {
      if (!is_it[graph_[first].context] || !takes(first)) continue;
      NodeIndex end = first;
      const std::uint32_t context = graph_[first].context;
      while (end < graph_.size() && graph_[end].context == context) ++end;
      const auto calls = computing(first, end);
      if (!calls.empty()) return of_stretch(calls, "--label " + wanted_.label);
      first = end;
    }
    return no_match("--label " + wanted_.label);
  }

  Result<Place> of_stretch(const std::vector<NodeIndex>& calls, const std::string& what) {
    for (const NodeIndex node : calls) named_[graph_[node].op] = true;
    auto place = try_at(calls, skipped_kinds(graph_, named_));
    if (!place) return no_match(what);
    return *std::move(place);
  }

  const CallGraph& graph_;
  const Wanted& wanted_;
  std::vector<bool> takes_context_, named_;
  Matches out_;
  std::int64_t phase_cuts_ = 0;
};

}  // namespace

Result<Matches> find_matches(const CallGraph& graph, const Wanted& wanted) { return Finder(graph, wanted).find(); }

}  // namespace opwright::fuse
