#include <algorithm>
#include <limits>

#include "fuse/match.h"

namespace opwright::fuse {
namespace {

// Candidates that are tried for one match: parts that look alike (slices of one tensor) may be taken for each other.
constexpr int kMostTries = 2000;
// A tensor that so many calls take tells nothing about who belongs together.
constexpr std::size_t kMostTakers = 256;
// Calls of one function do not lie further apart.
constexpr NodeIndex kWidest = 20'000;

}  // namespace

Template::Template(const CallGraph& graph, std::vector<NodeIndex> calls, std::vector<bool> skipped)
    : graph_(graph), calls_(std::move(calls)), skipped_(std::move(skipped)) {
  find_links();
  order_steps();
}

std::vector<Use> Template::seen_uses(NodeIndex node) const {
  std::vector<Use> out;
  for (const Use& use : graph_.uses(node)) out.push_back(look_through(graph_, use, skipped_));
  return out;
}

void Template::find_links() {
  struct Taken {
    std::uint32_t tensor;
    std::size_t part;
    std::uint32_t slot;
  };
  std::vector<Taken> outside;
  for (std::size_t part = 0; part < calls_.size(); ++part) {
    const std::vector<Use> uses = seen_uses(calls_[part]);
    for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
      const auto maker = std::ranges::find(calls_, uses[slot].maker);
      if (maker != calls_.end()) {
        inside_.push_back({part, static_cast<std::size_t>(maker - calls_.begin()), slot, uses[slot].result});
        continue;
      }
      const auto same = std::ranges::find(outside, uses[slot].tensor, &Taken::tensor);
      if (same != outside.end())
        shared_.push_back({same->part, part, same->slot, slot});
      else
        outside.push_back({uses[slot].tensor, part, slot});
    }
  }
}

// From a call of the rarest operation on, each hangs on one before it.
void Template::order_steps() {
  std::vector<std::size_t> counts(graph_.ops().size(), 0);
  for (NodeIndex node = 0; node < graph_.size(); ++node) ++counts[graph_[node].op];
  std::vector<bool> there(calls_.size(), false);
  std::vector<std::size_t> place(calls_.size(), 0);
  const auto op_of = [&](std::size_t part) { return graph_[calls_[part]].op; };
  const auto add = [&](std::size_t part, const Link& link) {
    place[part] = steps_.size();
    there[part] = true;
    steps_.push_back({part, op_of(part), link});
  };
  std::size_t rarest = 0;
  for (std::size_t part = 1; part < calls_.size(); ++part)
    if (counts[op_of(part)] < counts[op_of(rarest)]) rarest = part;
  add(rarest, {});
  for (bool grew = true; grew;) {
    grew = false;
    for (const Inside& edge : inside_) {
      if (there[edge.part] == there[edge.maker]) continue;
      if (there[edge.part])  // a tensor has one maker: nothing to choose
        add(edge.maker, {Link::Kind::kMakes, place[edge.part], edge.slot, edge.result, 0});
      else
        add(edge.part, {Link::Kind::kTakes, place[edge.maker], edge.slot, edge.result, 0});
      grew = true;
      break;
    }
    for (const Shared& pair : shared_) {
      if (grew) break;
      if (there[pair.a] == there[pair.b]) continue;
      if (there[pair.a])
        add(pair.b, {Link::Kind::kShares, place[pair.a], pair.slot_b, 0, pair.slot_a});
      else
        add(pair.a, {Link::Kind::kShares, place[pair.b], pair.slot_a, 0, pair.slot_b});
      grew = true;
    }
  }
}

// Calls that take a tensor, straight or by other names of it.
void Template::takers(NodeIndex maker, std::uint32_t result, std::uint32_t tensor, std::vector<NodeIndex>& out) const {
  const auto after = graph_.after(maker);
  if (after.size() > kMostTakers) return;
  for (const NodeIndex node : after) {
    for (const Use& use : graph_.uses(node)) {
      if (use.maker != maker || (tensor == kNoTensor ? use.result != result : use.tensor != tensor)) continue;
      if (skipped_[graph_[node].kind] && !graph_.results(node).empty())
        takers(node, 0, kNoTensor, out);
      else
        out.push_back(node);
      break;
    }
  }
}

void Template::candidates(const std::vector<NodeIndex>& found, const Step& step, std::vector<NodeIndex>& out) const {
  const NodeIndex other = found[steps_[step.link.other].part];
  switch (step.link.kind) {
    case Link::Kind::kTakes:
      takers(other, step.link.result, kNoTensor, out);
      break;
    case Link::Kind::kMakes: {
      const auto uses = graph_.uses(other);
      if (step.link.slot < uses.size()) {
        const Use use = look_through(graph_, uses[step.link.slot], skipped_);
        if (use.maker != kNoNode) out.push_back(use.maker);
      }
      break;
    }
    case Link::Kind::kShares: {
      const auto uses = graph_.uses(other);
      if (step.link.other_slot < uses.size()) {
        const Use use = look_through(graph_, uses[step.link.other_slot], skipped_);
        if (use.maker != kNoNode) takers(use.maker, use.result, kNoTensor, out);
      }
      break;
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  // Where several fit, the one with the very arguments of the template is meant.
  const std::uint32_t kind = graph_[calls_[step.part]].kind;
  std::ranges::stable_partition(out, [&](NodeIndex node) { return graph_[node].kind == kind; });
}

// Whether `node` may be that part beside those that are found.
bool Template::fits(const std::vector<NodeIndex>& found, std::size_t part, NodeIndex node) const {
  if (graph_[node].op != graph_[calls_[part]].op) return false;
  if (graph_.uses(node).size() != graph_.uses(calls_[part]).size()) return false;
  if (graph_.results(node).size() != graph_.results(calls_[part]).size()) return false;
  const std::vector<Use> uses = seen_uses(node);
  for (const Inside& edge : inside_) {
    if (edge.part == part && found[edge.maker] != kNoNode &&
        (uses[edge.slot].maker != found[edge.maker] || uses[edge.slot].result != edge.result))
      return false;
    if (edge.maker == part && found[edge.part] != kNoNode) {
      const Use use = look_through(graph_, graph_.uses(found[edge.part])[edge.slot], skipped_);
      if (use.maker != node || use.result != edge.result) return false;
    }
  }
  for (const Shared& pair : shared_) {
    const bool is_a = pair.a == part, is_b = pair.b == part;
    if (!is_a && !is_b) continue;
    const std::size_t other = is_a ? pair.b : pair.a;
    if (other != part && found[other] == kNoNode) continue;
    const std::uint32_t slot = is_a ? pair.slot_a : pair.slot_b, other_slot = is_a ? pair.slot_b : pair.slot_a;
    const NodeIndex there = other == part ? node : found[other];
    if (uses[slot].tensor != look_through(graph_, graph_.uses(there)[other_slot], skipped_).tensor) return false;
  }
  return true;
}

bool Template::search(std::vector<NodeIndex>& found, std::size_t at, const std::vector<std::uint32_t>& owner,
                      int& tries) const {
  if (at == steps_.size()) return true;
  const Step& step = steps_[at];
  std::vector<NodeIndex> some;
  candidates(found, step, some);
  const NodeIndex anchor = found[steps_.front().part];
  for (const NodeIndex node : some) {
    if (++tries > kMostTries) return false;
    if (owner[node] != UINT32_MAX || std::ranges::find(found, node) != found.end()) continue;
    if ((node > anchor ? node - anchor : anchor - node) > kWidest || !fits(found, step.part, node)) continue;
    found[step.part] = node;
    if (search(found, at + 1, owner, tries)) return true;
    found[step.part] = kNoNode;
  }
  return false;
}

std::vector<Place> Template::find_all(std::size_t most) const {
  std::vector<Place> out;
  overlapping_ = refused_ = 0;
  if (steps_.size() != calls_.size()) return out;  // parts that nothing joins
  constexpr std::uint32_t kNobody = UINT32_MAX;
  std::vector<std::uint32_t> owner(graph_.size(), kNobody);  // the match that has the call
  const std::vector<std::uint32_t> nobody(graph_.size(), kNobody);
  const std::size_t anchor = steps_.front().part;
  std::vector<NodeIndex> found;
  const auto search_from = [&](NodeIndex node, const std::vector<std::uint32_t>& owners) {
    found.assign(calls_.size(), kNoNode);
    if (!fits(found, anchor, node)) return false;
    found[anchor] = node;
    int tries = 0;
    return search(found, 1, owners, tries);
  };
  for (NodeIndex node = 0; node < graph_.size() && out.size() < most; ++node) {
    if (graph_[node].op != steps_.front().op) continue;
    if (owner[node] != kNobody || !search_from(node, owner)) {
      // Would it be a match, if others had not taken its calls? One that was found from another of its calls is the
      // same.
      if (!search_from(node, nobody)) continue;
      const std::uint32_t first = owner[found.front()];
      const bool same = std::ranges::all_of(found, [&](NodeIndex each) { return owner[each] == first; });
      if (!same) ++overlapping_;
      continue;
    }
    Closed closed = close(graph_, found, skipped_);
    if (closed.obstacle != Obstacle::kNone) {
      ++refused_;
      continue;
    }
    for (const NodeIndex each : found) owner[each] = static_cast<std::uint32_t>(out.size());
    out.push_back({std::move(found), std::move(closed.nodes)});
  }
  return out;
}

}  // namespace opwright::fuse
