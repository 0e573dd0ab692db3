// The calls of a trace as a graph: who made which tensor, who reads it, and what must come before what.
//
// Nodes are the calls that a model made, in their order; calls inside of another one are part of it, unless nobody
// knows that one: then they stand for it. Tensors that share a storage (views, results written in place) share its
// state: a write makes a new one, which all of them see, and freeing one ends all.
//
// One pass over the trace; what is held is about 100 bytes a call, whatever its arguments take.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/flat_table.h"
#include "base/hash.h"
#include "base/result.h"
#include "format/native/call_stream.h"
#include "format/native/native_trace.h"

namespace opwright::fuse {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = UINT32_MAX;
inline constexpr std::uint32_t kNoTensor = UINT32_MAX;

// A tensor that a call takes: result `result` of call `maker`, or one from outside of the graph.
struct Use {
  NodeIndex maker = kNoNode;
  std::uint32_t result = 0;
  std::uint32_t tensor = 0;  // in CallGraph::tensors
};

struct Node {
  std::uint64_t seq = 0;
  std::uint32_t op = 0;       // in CallGraph::ops
  std::uint32_t kind = 0;     // in CallGraph::kinds: calls with the same arguments, results and changes
  std::uint32_t context = 0;  // in CallGraph::contexts
  std::uint32_t first_use = 0, first_result = 0, first_before = 0;
};

struct GraphTensor {
  std::uint64_t id = 0;  // as recorded; 0 not known
  std::uint32_t storage = 0;
  NodeIndex maker = kNoNode;  // the latest call that returned it
  std::uint32_t result = 0;   // … and which of its results it is
};

// What the calls of one kind have in common, and one of them.
struct CallKind {
  Hash128 same;
  std::uint32_t op = 0;
  bool computes = false;  // on the device, as far as we know
  bool is_view = false;   // its result is another name of its first tensor
  format::NativeCall example;
};

struct GraphContext {
  std::string test, phase, label;
  bool in_one_run_with(const GraphContext& other) const { return test == other.test && phase == other.phase; }
};

class CallGraph {
 public:
  static Result<CallGraph> build(format::NativeTrace& trace);

  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }
  // One for each tensor of the call, in the order in which it was recorded.
  std::span<const Use> uses(NodeIndex node) const;
  // One for each tensor that it returned: in tensors(); kNoTensor where the trace does not say which.
  std::span<const std::uint32_t> results(NodeIndex node) const;
  // Calls that must come before this one; ascending, each once.
  std::span<const NodeIndex> before(NodeIndex node) const;
  // Calls that must come after it; ascending.
  std::span<const NodeIndex> after(NodeIndex node) const;

  const std::vector<std::string>& ops() const { return ops_; }  // one name for operations that are the same
  const std::string& op(NodeIndex node) const { return ops_[nodes_[node].op]; }
  const std::vector<CallKind>& kinds() const { return kinds_; }
  const CallKind& kind(NodeIndex node) const { return kinds_[nodes_[node].kind]; }
  const std::vector<GraphContext>& contexts() const { return contexts_; }
  const GraphContext& context(NodeIndex node) const { return contexts_[nodes_[node].context]; }
  const std::vector<GraphTensor>& tensors() const { return tensors_; }

  // The call with that number, or the first one behind it.
  NodeIndex find(std::uint64_t seq) const;
  // The number of the first call that computes something; calls before it load and place tensors. UINT32_MAX: none.
  NodeIndex first_computation() const { return first_computation_; }
  bool is_inferred() const { return flow_ != DataFlow::kRecorded; }
  DataFlow flow() const { return flow_; }
  std::int64_t ambiguous() const { return ambiguous_; }  // uses of which the trace does not say which tensor it is
  std::size_t inside() const { return inside_; }         // calls inside of others
  std::size_t opened() const { return opened_; }         // calls that nobody knows: those inside stand for them
  std::size_t unreadable() const { return unreadable_; }

 private:
  struct Storage {
    NodeIndex last_write = kNoNode;
    std::uint32_t first_reader = UINT32_MAX;  // in readers_: those since the last write
  };
  struct Reader {
    NodeIndex node;
    std::uint32_t next;
  };
  struct Building;

  void add(format::NativeTrace& trace, const format::NativeCall& call, Building& building);
  std::uint32_t kind_of(format::NativeTrace& trace, const format::NativeCall& call, Building& building);
  std::uint32_t context_of(format::NativeTrace& trace, format::ValueId id, Building& building);
  std::uint32_t tensor_of(const format::NativeTrace& trace, std::uint64_t id, Building& building);
  std::uint32_t result_of(const format::NativeCall& call, std::size_t r, NodeIndex node, Building& building);
  void finish();

  std::vector<Node> nodes_;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> results_;
  std::vector<NodeIndex> before_, after_;
  std::vector<std::uint32_t> first_after_;
  std::vector<std::string> ops_;
  std::vector<CallKind> kinds_;
  std::vector<GraphContext> contexts_;
  std::vector<GraphTensor> tensors_;
  NodeIndex first_computation_ = kNoNode;
  DataFlow flow_ = DataFlow::kNone;
  std::int64_t ambiguous_ = 0;
  std::size_t inside_ = 0, opened_ = 0, unreadable_ = 0;
};

// `ttnn.mul` is `ttnn.multiply`: the name that our description of the operator has, dots, else the name itself.
std::string one_name(std::string_view op);

// Calls that compute nothing on the device: what moves, frees or renames tensors. In a pattern they may stand between
// its operations.
bool is_transparent(std::string_view op);
// Of them those that give memory back and return nothing.
bool only_frees(std::string_view op);

}  // namespace opwright::fuse
