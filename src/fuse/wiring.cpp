#include "fuse/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace opwright::fuse {
namespace {

class Wirer {
 public:
  Wirer(const CallGraph& graph, const Place& place, replay::KnownCalls& known)
      : graph_(graph), place_(place), known_(known) {}

  Result<Wiring> wire(bool with_frees) {
    order();
    if (with_frees) add_frees();
    for (const NodeIndex node : out_.nodes) OPWRIGHT_TRY(add(node));
    find_outputs();
    return std::move(out_);
  }

 private:
  // The calls of the match in its order, each transparent one right before the first that needs it.
  void order() {
    std::vector<NodeIndex> between;
    for (const NodeIndex node : place_.nodes)
      if (std::ranges::find(place_.calls, node) == place_.calls.end()) between.push_back(node);
    std::vector<NodeIndex>& nodes = out_.nodes;
    nodes = place_.calls;
    for (auto node = between.rbegin(); node != between.rend(); ++node) {
      const auto after = graph_.after(*node);
      const auto needs =
          std::ranges::find_if(nodes, [&](NodeIndex other) { return std::ranges::binary_search(after, other); });
      nodes.insert(needs, *node);
    }
  }

  // Frees of tensors that the function makes; and of its inputs, where they stand among its calls.
  void add_frees() {
    const std::vector<NodeIndex> members = out_.nodes;
    const std::set<NodeIndex> inside(members.begin(), members.end());
    const auto [first, last] = std::ranges::minmax(members);
    std::set<NodeIndex> frees;
    for (const NodeIndex node : members)
      for (const NodeIndex later : graph_.after(node)) {
        if (!only_frees(graph_.op(later)) || frees.contains(later)) continue;
        const auto before = graph_.before(later);
        const bool after_all = std::ranges::all_of(
            before, [&, first = first](NodeIndex one) { return inside.contains(one) || one < first; });
        const auto uses = graph_.uses(later);
        const bool own = !uses.empty() && uses.front().maker != kNoNode && inside.contains(uses.front().maker);
        if (after_all && (own || later < last)) frees.insert(later);
      }
    std::vector<NodeIndex>& nodes = out_.nodes;
    for (const NodeIndex free : frees) {  // in their own order
      const auto before = graph_.before(free);
      auto at = nodes.end();
      while (at != nodes.begin() && !std::ranges::binary_search(before, *(at - 1)) && !frees.contains(*(at - 1))) --at;
      nodes.insert(at, free);
    }
  }

  Source source_of(const Use& use, NodeIndex taker, std::uint32_t slot) {
    const auto maker = std::ranges::find(out_.nodes, use.maker);
    const auto at = static_cast<std::size_t>(maker - out_.nodes.begin());
    if (use.maker != kNoNode && at < out_.calls.size()) return Source::of_result(at, use.result);
    for (std::size_t i = 0; i < out_.inputs.size(); ++i)
      if (out_.inputs[i].use.tensor == use.tensor && use.tensor != kNoTensor) return Source::of_input(i);
    out_.inputs.push_back({use, taker, slot, false, false, false});
    return Source::of_input(out_.inputs.size() - 1);
  }

  Status add(NodeIndex node) {
    const format::NativeCall& recorded = graph_.kind(node).example;
    const replay::KnownCall& known = known_.of(recorded);
    if (!known.trouble.empty())
      return fail(ErrorCode::kUnsupported, fmt::format("call {} ({}) cannot be understood: {}", graph_[node].seq,
                                                       graph_.op(node), known.trouble));
    const auto uses = graph_.uses(node);
    FusedCall call;
    call.op = known.config.op;
    call.is_transparent = std::ranges::find(place_.calls, node) == place_.calls.end();
    std::vector<std::uint32_t> place_of(uses.size(), UINT32_MAX);  // recorded slot -> tensor of the call
    for (std::size_t t = 0; t < known.sent_slots.size(); ++t) {
      const std::size_t slot = known.sent_slots[t];
      if (slot >= uses.size())
        return fail(ErrorCode::kUnsupported,
                    fmt::format("call {} ({}) takes a tensor of which the trace does not say which it is; a tensor of "
                                "another library cannot be part of a fused operator",
                                graph_[node].seq, graph_.op(node)));
      const Source source = source_of(uses[slot], node, static_cast<std::uint32_t>(slot));
      if (source.from == Source::From::kInput && t == 0) out_.inputs[source.input].is_first_operand = true;
      place_of[slot] = static_cast<std::uint32_t>(t);
      call.tensors.push_back(source);
    }
    for (const format::TensorWrite& write : recorded.writes)
      if (write.slot < place_of.size() && place_of[write.slot] != UINT32_MAX)
        call.writes.push_back(place_of[write.slot]);
    for (const std::uint32_t slot : recorded.frees)
      if (slot < place_of.size() && place_of[slot] != UINT32_MAX) call.frees.push_back(place_of[slot]);
    const auto results = graph_.results(node);
    call.results = static_cast<std::uint32_t>(known.results.size());
    for (std::uint32_t r = 0; r < call.results; ++r) {
      std::int32_t share = -1;
      for (std::size_t slot = 0; slot < uses.size() && share < 0; ++slot)
        if (r < results.size() && results[r] != kNoTensor && place_of[slot] != UINT32_MAX &&
            graph_.tensors()[results[r]].storage == graph_.tensors()[uses[slot].tensor].storage)
          share = static_cast<std::int32_t>(place_of[slot]);
      call.shares.push_back(share);
    }
    const auto mark = [&](const std::vector<std::uint32_t>& slots, bool WiredInput::* flag) {
      for (const std::uint32_t t : slots)
        if (const Source root = root_of(call.tensors[t]); root.from == Source::From::kInput)
          out_.inputs[root.input].*flag = true;
    };
    mark(call.writes, &WiredInput::is_written);
    mark(call.frees, &WiredInput::is_freed);
    out_.calls.push_back(std::move(call));
    return {};
  }

  // Whose memory a tensor lies in: results that share it are looked through.
  Source root_of(Source source) const {
    while (source.from == Source::From::kResult) {
      const FusedCall& call = out_.calls[source.call];
      const std::int32_t share = call.shares[source.result];
      if (share < 0) break;
      source = call.tensors[static_cast<std::size_t>(share)];
    }
    return source;
  }

  void find_outputs() {
    const auto is_inside = [&](NodeIndex node) { return std::ranges::find(out_.nodes, node) != out_.nodes.end(); };
    for (std::size_t i = 0; i < out_.inputs.size(); ++i)
      if (out_.inputs[i].is_written && !out_.inputs[i].is_freed)
        out_.outputs.push_back({"", Source::of_input(i), true});
    for (std::size_t c = 0; c < out_.nodes.size(); ++c) {
      const auto results = graph_.results(out_.nodes[c]);
      for (std::uint32_t r = 0; r < out_.calls[c].results; ++r) {
        const std::uint32_t tensor = r < results.size() ? results[r] : kNoTensor;
        bool taken_inside = false, taken_outside = false;
        for (const NodeIndex later : graph_.after(out_.nodes[c])) {
          // Freeing is no use: what is freed behind the function is seen by nobody.
          if (only_frees(graph_.op(later)) && !is_inside(later)) continue;
          for (const Use& use : graph_.uses(later))
            if (use.maker == out_.nodes[c] && (tensor == kNoTensor ? use.result == r : use.tensor == tensor))
              (is_inside(later) ? taken_inside : taken_outside) = true;
        }
        if (taken_outside || !taken_inside) {
          const Source root = root_of(Source::of_result(c, r));
          const bool is_state = root.from == Source::From::kInput && out_.inputs[root.input].is_written;
          if (is_state && !taken_outside) continue;  // the state itself is an output already
          out_.outputs.push_back({"", Source::of_result(c, r), taken_outside});
        }
      }
    }
  }

  const CallGraph& graph_;
  const Place& place_;
  replay::KnownCalls& known_;
  Wiring out_;
};

}  // namespace

Result<Wiring> wire(const CallGraph& graph, const Place& place, replay::KnownCalls& known, bool with_frees) {
  return Wirer(graph, place, known).wire(with_frees);
}

bool same_function(const Wiring& a, const Wiring& b) {
  const auto same_call = [](const FusedCall& x, const FusedCall& y) {
    return x.op == y.op && x.tensors == y.tensors && x.results == y.results && x.shares == y.shares &&
           x.writes == y.writes && x.frees == y.frees;
  };
  return a.inputs.size() == b.inputs.size() && std::ranges::equal(a.calls, b.calls, same_call);
}

}  // namespace opwright::fuse
