// Where a sequence stands in a trace: found once by what was asked for, then everywhere by its data flow.
//
// The first match decides what the sequence is: its calls and which result goes where. All others are found along that
// data flow, from a call of its rarest operation on, so the order in which a model makes calls that do not depend on
// each other (slices, branches of a norm) does not matter, nor what other calls stand between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fuse/finding.h"
#include "fuse/pattern.h"
#include "fuse/subgraph.h"

namespace opwright::fuse {

// What was asked for: one of the three ways to say it, and which runs of the trace count.
struct Wanted {
  std::optional<Pattern> pattern;
  std::uint64_t first = 0, last = 0;  // numbers of calls; 0: no range
  std::string label;                  // a glob; all calls of it that stand in a row
  std::vector<std::string> phases;    // globs; empty: any
};

// A place in the trace; `calls` in the order of the first match, so that the same place in two matches is the same
// part.
struct Place {
  std::vector<NodeIndex> calls;
  Nodes nodes;  // with the transparent calls between them
};

struct Matches {
  std::vector<Place> places;  // the first one is the template
  std::vector<Finding> findings;
  std::int64_t refused = 0;      // places with the right names that cannot be one function
  std::string why_refused;       // the first of them
  std::int64_t overlapping = 0;  // places that share calls with an earlier match: left out
  bool is_ambiguous = false;     // more than one reading was possible
};

// Fails with kNotFound where there is no match, and says why.
Result<Matches> find_matches(const CallGraph& graph, const Wanted& wanted);

// The data flow of a set of calls, to be found again. `calls` in any order that keeps producers first.
class Template {
 public:
  Template(const CallGraph& graph, std::vector<NodeIndex> calls, std::vector<bool> skipped);

  // Matches through all of the graph, from the first on; the calls of one match are in no other. At most `most`.
  std::vector<Place> find_all(std::size_t most = SIZE_MAX) const;
  std::int64_t overlapping() const { return overlapping_; }
  std::int64_t refused() const { return refused_; }
  std::size_t size() const { return calls_.size(); }

 private:
  struct Link {  // how a call hangs on one that is found before it
    enum class Kind : std::uint8_t { kTakes, kMakes, kShares } kind = Kind::kTakes;
    std::size_t other = 0;               // in the order of the search
    std::uint32_t slot = 0, result = 0;  // of the taking call, of the making call
    std::uint32_t other_slot = 0;        // kShares: where the other takes the same tensor
  };
  struct Step {
    std::size_t part = 0;  // in calls_
    std::uint32_t op = 0;
    Link link;  // of all but the first
  };
  struct Inside {  // slot of a part <- result of another part
    std::size_t part = 0, maker = 0;
    std::uint32_t slot = 0, result = 0;
  };
  struct Shared {  // two slots that take one tensor from outside
    std::size_t a = 0, b = 0;
    std::uint32_t slot_a = 0, slot_b = 0;
  };

  void find_links();
  void order_steps();
  std::vector<Use> seen_uses(NodeIndex node) const;
  bool fits(const std::vector<NodeIndex>& found, std::size_t part, NodeIndex node) const;
  void candidates(const std::vector<NodeIndex>& found, const Step& step, std::vector<NodeIndex>& out) const;
  void takers(NodeIndex maker, std::uint32_t result, std::uint32_t tensor, std::vector<NodeIndex>& out) const;
  bool search(std::vector<NodeIndex>& found, std::size_t at, const std::vector<std::uint32_t>& owner, int& tries) const;

  const CallGraph& graph_;
  std::vector<NodeIndex> calls_;
  std::vector<bool> skipped_;
  std::vector<Inside> inside_;
  std::vector<Shared> shared_;
  std::vector<Step> steps_;
  mutable std::int64_t overlapping_ = 0, refused_ = 0;
};

}  // namespace opwright::fuse
