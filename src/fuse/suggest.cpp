#include "fuse/suggest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include "base/hash.h"
#include "dialect/ttnn/collective_calls.h"
#include "format/native/call_filter.h"
#include "fuse/match.h"
#include "fuse/names.h"

namespace opwright::fuse {
namespace {

constexpr std::size_t kSample = 48;      // places that are looked at while a sub-graph grows
constexpr std::size_t kBeam = 8;         // sub-graphs of each size that grow on, from one seed
constexpr std::size_t kSeeds = 300;      // kinds of pairs
constexpr std::size_t kCounted = 160;    // candidates that are counted everywhere
constexpr std::size_t kMostTakers = 64;  // a tensor that more calls take belongs to nobody
constexpr NodeIndex kWidest = 400;       // calls of one function do not lie further apart

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9ULL;
  return x ^ (x >> 29);
}

using Places = std::vector<std::vector<NodeIndex>>;  // calls in the order in which the sub-graph grew

// How a call hangs on the sub-graph: on which part, on which side, through which result and argument.
struct Extension {
  std::size_t part = 0;
  enum class Side : std::uint8_t { kTakes, kMakes, kShares } side = Side::kTakes;
  std::uint32_t result = 0, slot = 0, other_slot = 0, op = 0;
  auto operator<=>(const Extension&) const = default;
};

struct Grown {
  Places places;
  double score = 0;
};

class Miner {
 public:
  Miner(const CallGraph& graph, OpCosts& costs, const SuggestOptions& options)
      : graph_(graph),
        costs_(costs),
        options_(options),
        skipped_(skipped_kinds(graph, std::vector<bool>(graph.ops().size()))) {
    for (const std::string& op : graph.ops()) op_hash_.push_back(xxh64(op));
    for (const GraphContext& context : graph.contexts())
      takes_context_.push_back(options.phases.empty() ||
                               std::ranges::any_of(options.phases, [&](const std::string& phase) {
                                 return format::glob_matches(phase, context.phase);
                               }));
    for (const CallKind& kind : graph.kinds())
      eligible_.push_back(kind.computes && !kind.example.raised() && kind.example.finished);
    for (std::size_t kind = 0; kind < eligible_.size(); ++kind) eligible_[kind] = eligible_[kind] && !skipped_[kind];
  }

  std::vector<Candidate> find() {
    for (const Places& seed : seeds()) {
      if (options_.stop && options_.stop()) break;
      grow(seed);
    }
    std::vector<const Grown*> best;
    for (const auto& [key, grown] : found_) best.push_back(&grown);
    std::ranges::sort(best, [](const Grown* a, const Grown* b) {
      return std::tuple(-a->score, a->places.front()) < std::tuple(-b->score, b->places.front());
    });
    if (best.size() > kCounted) best.resize(kCounted);
    std::vector<Candidate> out;
    for (const Grown* grown : best) {
      if (options_.stop && options_.stop()) break;
      if (auto candidate = counted(*grown)) out.push_back(*std::move(candidate));
    }
    std::ranges::sort(out, [](const Candidate& a, const Candidate& b) {
      return std::tuple(-a.what.score, a.what.key) < std::tuple(-b.what.score, b.what.key);
    });
    return out;
  }

 private:
  bool is_eligible(NodeIndex node) const {
    return eligible_[graph_[node].kind] && takes_context_[graph_[node].context];
  }

  // Pairs of calls, one feeding the other, by kind; the most frequent ones, with a sample of their places.
  std::vector<Places> seeds() const {
    struct Pair {
      NodeIndex maker, taker;
    };
    std::map<std::pair<Extension, std::uint32_t>, std::vector<Pair>> pairs;  // by how, and the maker's op
    for (NodeIndex node = 0; node < graph_.size(); ++node) {
      if (!is_eligible(node)) continue;
      const auto uses = graph_.uses(node);
      for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
        const Use use = look_through(graph_, uses[slot], skipped_);
        if (use.maker == kNoNode || !is_eligible(use.maker) || node - use.maker > kWidest) continue;
        pairs[{{0, Extension::Side::kTakes, use.result, slot, 0, graph_[node].op}, graph_[use.maker].op}].push_back(
            {use.maker, node});
      }
    }
    std::vector<const std::vector<Pair>*> all;
    for (const auto& [how, list] : pairs) all.push_back(&list);
    std::ranges::stable_sort(all, [](const auto* a, const auto* b) { return a->size() > b->size(); });
    if (all.size() > kSeeds) all.resize(kSeeds);
    std::vector<Places> out;
    for (const std::vector<Pair>* list : all) {
      Places& places = out.emplace_back();
      const std::size_t count = std::min(list->size(), kSample);
      for (std::size_t i = 0; i < count; ++i) {
        const Pair& pair = (*list)[i * list->size() / count];
        places.push_back({pair.maker, pair.taker});
      }
    }
    return out;
  }

  // The same for the same graph, in whatever order its calls were found.
  std::uint64_t key_of(const std::vector<NodeIndex>& calls) const {
    std::vector<std::uint64_t> name, next;
    for (const NodeIndex node : calls) name.push_back(op_hash_[graph_[node].op]);
    for (int round = 0; round < 4; ++round) {
      next = name;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto uses = graph_.uses(calls[i]);
        for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
          const Use use = look_through(graph_, uses[slot], skipped_);
          const auto maker = std::ranges::find(calls, use.maker);
          if (use.maker == kNoNode || maker == calls.end()) continue;
          const auto m = static_cast<std::size_t>(maker - calls.begin());
          next[i] += mixed(mixed(name[m], slot * 31 + use.result), 1);
          next[m] += mixed(mixed(name[i], slot * 31 + use.result), 2);
        }
      }
      for (std::size_t i = 0; i < name.size(); ++i) name[i] = mixed(next[i], static_cast<std::uint64_t>(round));
    }
    std::uint64_t key = calls.size();
    for (const std::uint64_t one : name) key += mixed(one, 3);
    return key;
  }

  void takers_of(NodeIndex maker, std::uint32_t result, std::vector<std::pair<NodeIndex, std::uint32_t>>& out) const {
    const auto after = graph_.after(maker);
    if (after.size() > kMostTakers) return;
    for (const NodeIndex node : after) {
      const auto uses = graph_.uses(node);
      for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
        if (uses[slot].maker != maker || uses[slot].result != result) continue;
        if (skipped_[graph_[node].kind])
          takers_of(node, 0, out);
        else if (is_eligible(node))
          out.emplace_back(node, slot);
        break;
      }
    }
  }

  // All ways to grow one place.
  void extensions(const std::vector<NodeIndex>& place, std::map<Extension, NodeIndex>& out) const {
    std::vector<std::pair<NodeIndex, std::uint32_t>> takers;
    const auto offer = [&](const Extension& how, NodeIndex node) {
      if (std::ranges::find(place, node) != place.end()) return;
      const NodeIndex near = place.front();
      if ((node > near ? node - near : near - node) > kWidest) return;
      out.try_emplace(how, node);
    };
    for (std::size_t part = 0; part < place.size(); ++part) {
      const auto results = static_cast<std::uint32_t>(std::min<std::size_t>(graph_.results(place[part]).size(), 4));
      for (std::uint32_t r = 0; r < results; ++r) {
        takers.clear();
        takers_of(place[part], r, takers);
        for (const auto& [node, slot] : takers)
          offer({part, Extension::Side::kTakes, r, slot, 0, graph_[node].op}, node);
      }
      const auto uses = graph_.uses(place[part]);
      for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
        const Use use = look_through(graph_, uses[slot], skipped_);
        if (use.maker == kNoNode || !is_eligible(use.maker)) continue;
        offer({part, Extension::Side::kMakes, use.result, slot, 0, graph_[use.maker].op}, use.maker);
        takers.clear();
        takers_of(use.maker, use.result, takers);
        for (const auto& [node, other] : takers)
          offer({part, Extension::Side::kShares, use.result, slot, other, graph_[node].op}, node);
      }
    }
  }

  void grow(const Places& seed) {
    std::vector<Grown> beam;
    if (see(seed)) beam.push_back({seed, 0});
    for (std::size_t size = 2; size < options_.largest && !beam.empty(); ++size) {
      std::vector<Grown> next;
      for (const Grown& from : beam) {
        std::map<Extension, Places> ways;
        std::map<Extension, NodeIndex> one;
        for (const std::vector<NodeIndex>& place : from.places) {
          one.clear();
          extensions(place, one);
          for (const auto& [how, node] : one) {
            ways[how].push_back(place);
            ways[how].back().push_back(node);
          }
        }
        for (auto& [how, places] : ways) {
          // What is there in few of the places is another sequence.
          if (2 * places.size() < from.places.size()) continue;
          const double score = see(places);
          if (score > 0) next.push_back({std::move(places), score});
        }
      }
      std::ranges::stable_sort(next, [](const Grown& a, const Grown& b) { return a.score > b.score; });
      if (next.size() > kBeam) next.resize(kBeam);
      beam = std::move(next);
    }
  }

  // Keeps a sub-graph that was not seen yet; 0: it was, or no place of it can be one function on the way to one.
  double see(const Places& places) {
    const std::uint64_t key = key_of(places.front());
    if (!seen_.insert(key).second) return 0;
    for (std::size_t i = 0; i < places.size() && i < 4; ++i) {
      const Closed closed = close(graph_, places[i], skipped_);
      if (closed.obstacle == Obstacle::kTwoRuns || closed.obstacle == Obstacle::kRaised) continue;
      Suggestion what = measured(closed.nodes);
      what.matches = static_cast<std::int64_t>(places.size());
      const double value = score(what, closed.nodes);
      // One that is not convex may become so when what is between its parts joins it.
      if (closed.obstacle == Obstacle::kNone) {
        Grown& kept = found_[key];
        kept.places = {places[i]};
        kept.score = value;
      }
      return std::max(value, 1e-9);
    }
    return 0;
  }

  // Bytes and times of one place.
  Suggestion measured(const Nodes& nodes) {
    Suggestion out;
    std::set<std::uint32_t> inputs;
    std::int64_t kernels = 0;
    double moved_ns = 0;
    const auto is_inside = [&](NodeIndex node) { return std::ranges::binary_search(nodes, node); };
    for (const NodeIndex node : nodes) {
      const CallCosts& costs = costs_.of(node);
      if (skipped_[graph_[node].kind]) continue;
      out.kernel_ns += costs.kernel_ns;
      kernels += 1;
      out.unmodelled += costs.is_known ? 0 : 1;
      for (std::uint32_t r = 0; r < costs.results.size(); ++r) {
        bool inside = false, outside = false;
        see_takers(node, r, is_inside, inside, outside);
        if (inside && !outside) {
          out.internal_bytes += costs.results[r];
          moved_ns += costs.move_ns / static_cast<double>(costs.results.size());
        } else {
          out.boundary_bytes += costs.results[r];
          ++out.outputs;
        }
      }
      const auto uses = graph_.uses(node);
      for (std::uint32_t slot = 0; slot < uses.size(); ++slot) {
        const Use use = look_through(graph_, uses[slot], skipped_);
        if (use.maker != kNoNode && is_inside(use.maker)) continue;
        if (!inputs.insert(use.tensor).second) continue;
        const bool computed = use.maker != kNoNode && graph_.kind(use.maker).computes;
        if (computed || slot == 0) {
          ++out.inputs;
          out.boundary_bytes += slot < costs.arguments.size() ? costs.arguments[slot] : 0;
        } else {
          ++out.weights;
        }
      }
    }
    out.saved_ns = moved_ns + static_cast<double>(std::max<std::int64_t>(0, kernels - 1)) * costs_.gap_ns();
    return out;
  }

  template <class IsInside>
  void see_takers(NodeIndex maker, std::uint32_t result, const IsInside& is_inside, bool& inside, bool& outside) const {
    for (const NodeIndex node : graph_.after(maker)) {
      if (only_frees(graph_.op(node))) continue;
      for (const Use& use : graph_.uses(node)) {
        if (use.maker != maker || use.result != result) continue;
        if (is_inside(node) && skipped_[graph_[node].kind])
          see_takers(node, 0, is_inside, inside, outside);
        else
          (is_inside(node) ? inside : outside) = true;
        break;
      }
    }
  }

  // What a fused operator of it would be worth: the time that it saves, less where it would be hard to build or is torn
  // out of a whole. docs/how-to/fuse-operators.md says why each factor is there.
  double score(const Suggestion& what, const Nodes& nodes) {
    const double moved = static_cast<double>(what.internal_bytes);
    const double cohesion = (moved + 1) / (moved + static_cast<double>(what.boundary_bytes) + 1);
    double value = what.saved_in_all() * cohesion;
    // Tensors that cross the boundary: one in and one out is a whole, more is a piece of something.
    value /= std::sqrt(static_cast<double>(std::max<std::int64_t>(1, what.inputs + what.outputs - 1)));
    // Each further operator is more work for whoever writes the kernel.
    value /= std::sqrt(static_cast<double>(nodes.size()));
    std::int64_t heavy = 0;
    std::set<std::string_view> labels;
    for (const NodeIndex node : nodes) {
      const CallCosts& costs = costs_.of(node);
      heavy += costs.is_heavy ? 1 : 0;
      if (costs.is_attention) value *= 0.2;
      if (collective_of(graph_.op(node)) != Collective::kNone) value *= 0.8;
      if (!graph_.context(node).label.empty()) labels.insert(graph_.context(node).label);
    }
    if (heavy > 3) value *= 3.0 / static_cast<double>(heavy * heavy);
    if (labels.size() > 1) value *= 0.2;  // the program itself says that they are two things
    return value;
  }

  std::optional<Candidate> counted(const Grown& grown) {
    std::vector<NodeIndex> calls = grown.places.front();
    std::ranges::sort(calls);
    const Template pattern(graph_, calls, skipped_);
    const std::vector<Place> places = pattern.find_all();
    if (places.empty()) return std::nullopt;
    Candidate out;
    out.what = measured(places.front().nodes);
    Suggestion& what = out.what;
    std::vector<std::string> ops;
    std::set<std::string> configurations;
    std::set<std::string_view> labels;
    std::vector<NodeIndex> in_order = places.front().calls;
    std::ranges::sort(in_order);
    for (const NodeIndex node : in_order) ops.push_back(graph_.op(node));
    for (const Place& place : places) {
      if (!takes_context_[graph_[place.calls.front()].context]) continue;
      ++what.matches;
      std::string configuration;
      for (const NodeIndex node : place.calls) configuration += costs_.key_of(node);
      configurations.insert(std::move(configuration));
      const GraphContext& context = graph_.context(place.calls.front());
      if (!context.phase.empty()) what.phases.insert(context.phase);
      if (!context.label.empty()) labels.insert(context.label);
      out.covered.insert(out.covered.end(), place.calls.begin(), place.calls.end());
    }
    std::ranges::sort(out.covered);
    what.labels = labels.size();
    what.configurations = static_cast<std::int64_t>(configurations.size());
    what.name = name_proposal(ops);
    what.pattern = pattern_of(ops);
    what.key = key_of(places.front().calls);
    for (const NodeIndex node : in_order) what.example.push_back(graph_[node].seq);
    what.score = score(what, places.front().nodes);
    return out;
  }

  const CallGraph& graph_;
  OpCosts& costs_;
  const SuggestOptions& options_;
  std::vector<bool> skipped_, eligible_, takes_context_;
  std::vector<std::uint64_t> op_hash_;
  std::unordered_set<std::uint64_t> seen_;
  std::map<std::uint64_t, Grown> found_;
};

// The part of all calls of both that both cover.
double overlap(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::size_t both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++both;
      ++i;
      ++j;
    } else {
      ++(a[i] < b[j] ? i : j);
    }
  }
  const std::size_t all = a.size() + b.size() - both;
  return all == 0 ? 0 : static_cast<double>(both) / static_cast<double>(all);
}

}  // namespace

std::vector<Candidate> find_candidates(const CallGraph& graph, OpCosts& costs, const SuggestOptions& options) {
  return Miner(graph, costs, options).find();
}

std::vector<Suggestion> group(std::vector<std::vector<Candidate>> traces, const SuggestOptions& options) {
  constexpr double kSame = 0.5;
  struct Joined {
    Suggestion what;
    std::vector<std::pair<std::size_t, const Candidate*>> in;  // trace, candidate
  };
  std::map<std::uint64_t, Joined> by_key;
  for (std::size_t t = 0; t < traces.size(); ++t)
    for (const Candidate& candidate : traces[t]) {
      Joined& joined = by_key[candidate.what.key];
      if (joined.in.empty()) {
        joined.what = candidate.what;
      } else {
        Suggestion& what = joined.what;
        what.matches += candidate.what.matches;
        what.configurations += candidate.what.configurations;
        what.labels += candidate.what.labels;
        what.score += candidate.what.score;
        what.phases.insert(candidate.what.phases.begin(), candidate.what.phases.end());
        what.sources.insert(candidate.what.sources.begin(), candidate.what.sources.end());
      }
      joined.in.emplace_back(t, &candidate);
    }
  std::vector<const Joined*> best;
  for (const auto& [key, joined] : by_key) best.push_back(&joined);
  std::ranges::sort(best, [](const Joined* a, const Joined* b) {
    return std::tuple(-a->what.score, a->what.key) < std::tuple(-b->what.score, b->what.key);
  });
  std::vector<Suggestion> out;
  std::vector<const Joined*> heads;
  for (const Joined* joined : best) {
    std::size_t of = SIZE_MAX;
    for (std::size_t g = 0; g < heads.size() && of == SIZE_MAX; ++g)
      for (const auto& [trace, candidate] : joined->in)
        for (const auto& [other_trace, other] : heads[g]->in)
          if (trace == other_trace && overlap(candidate->covered, other->covered) >= kSame) of = g;
    if (of != SIZE_MAX) {
      if (out[of].variants.size() < options.variants) out[of].variants.push_back(joined->what);
    } else if (out.size() < options.groups) {
      out.push_back(joined->what);
      heads.push_back(joined);
    }
  }
  return out;
}

}  // namespace opwright::fuse
