#include "fuse/call_graph.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "dialect/ttnn/carrying_calls.h"
#include "dialect/ttnn/collective_calls.h"
#include "dialect/ttnn/transparent_calls.h"
#include "format/native/native_arguments.h"
#include "model/op_config.h"
#include "ops/all_ops.h"

namespace opwright::fuse {
namespace {

struct IdHasher {
  std::uint64_t operator()(std::uint64_t id) const {
    std::uint64_t x = id + 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
};
struct HashHasher {
  std::uint64_t operator()(const Hash128& hash) const { return IdHasher()(hash.low ^ IdHasher()(hash.high)); }
};

bool computes(std::string_view op, bool takes_tensors) {
  return takes_tensors && !is_transparent(op) && (find_op(op) != nullptr || collective_of(op) != Collective::kNone);
}

}  // namespace

std::string one_name(std::string_view op) {
  const std::string name = dotted(op);
  const OpSpec* spec = find_op(name);
  return spec != nullptr ? std::string(spec->name) : name;
}

bool only_frees(std::string_view op) { return gives_memory_back(op); }

bool is_transparent(std::string_view op) { return only_frees(op) || renames_shape(op) || carries_values(op); }

// What is needed while the graph grows.
struct CallGraph::Building {
  FlatMap<std::uint64_t, std::uint32_t, IdHasher> tensors;   // recorded number -> tensor
  FlatMap<std::uint64_t, std::uint32_t, IdHasher> storages;  // recorded number -> storage
  FlatMap<Hash128, std::uint32_t, HashHasher> kinds;
  std::unordered_map<std::string, std::uint32_t> ops, spelled;
  std::unordered_map<format::ValueId, std::uint32_t> contexts;
  std::vector<Storage> list;
  std::vector<Reader> readers;
  std::unordered_set<std::uint64_t> opened;   // calls that nobody knows, with others inside
  std::unordered_set<std::uint64_t> covered;  // calls of which those inside are part

  std::uint32_t new_storage() {
    list.emplace_back();
    return static_cast<std::uint32_t>(list.size() - 1);
  }
};

std::span<const Use> CallGraph::uses(NodeIndex node) const {
  const std::size_t first = nodes_[node].first_use;
  const std::size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].first_use : uses_.size();
  return std::span(uses_).subspan(first, end - first);
}
std::span<const std::uint32_t> CallGraph::results(NodeIndex node) const {
  const std::size_t first = nodes_[node].first_result;
  const std::size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].first_result : results_.size();
  return std::span(results_).subspan(first, end - first);
}
std::span<const NodeIndex> CallGraph::before(NodeIndex node) const {
  const std::size_t first = nodes_[node].first_before;
  const std::size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].first_before : before_.size();
  return std::span(before_).subspan(first, end - first);
}
std::span<const NodeIndex> CallGraph::after(NodeIndex node) const {
  return std::span(after_).subspan(first_after_[node], first_after_[node + 1] - first_after_[node]);
}

NodeIndex CallGraph::find(std::uint64_t seq) const {
  const auto at = std::ranges::lower_bound(nodes_, seq, {}, &Node::seq);
  return static_cast<NodeIndex>(at - nodes_.begin());
}

std::uint32_t CallGraph::context_of(format::NativeTrace& trace, format::ValueId id, Building& building) {
  const auto found = building.contexts.find(id);
  if (found != building.contexts.end()) return found->second;
  const format::CallContext context = trace.context(id);
  contexts_.push_back({std::string(context.test), std::string(context.phase), std::string(context.label)});
  return building.contexts[id] = static_cast<std::uint32_t>(contexts_.size() - 1);
}

std::uint32_t CallGraph::kind_of(format::NativeTrace& trace, const format::NativeCall& call, Building& building) {
  const Hash128 same = format::same_call(call);
  if (const std::uint32_t* known = building.kinds.find(same)) return *known;
  const format::NativeValue* value = trace.values().call(call.call);
  if (value == nullptr) return UINT32_MAX;
  const std::string spelled(value->text);
  auto op = building.spelled.find(spelled);
  if (op == building.spelled.end()) {
    const auto [place, is_new] = building.ops.try_emplace(one_name(spelled), static_cast<std::uint32_t>(ops_.size()));
    if (is_new) ops_.push_back(place->first);
    op = building.spelled.emplace(spelled, place->second).first;
  }
  trace.values().forget();
  const auto kind = static_cast<std::uint32_t>(kinds_.size());
  kinds_.push_back({same, op->second, computes(ops_[op->second], !call.tensors.empty()), false, call});
  return building.kinds.add(same, kind);
}

std::uint32_t CallGraph::tensor_of(const format::NativeTrace& trace, std::uint64_t id, Building& building) {
  if (id != 0)
    if (const std::uint32_t* known = building.tensors.find(id)) return *known;
  const auto place = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back({id, 0, kNoNode});
  const format::TensorResult* outside = id == 0 ? nullptr : trace.outside_tensor(id);
  if (outside != nullptr && outside->storage != 0) {
    const std::uint32_t* known = building.storages.find(outside->storage);
    tensors_[place].storage =
        known != nullptr ? *known : building.storages.add(outside->storage, building.new_storage());
  } else {
    tensors_[place].storage = building.new_storage();
  }
  if (id != 0) building.tensors.add(id, place);
  return place;
}

std::uint32_t CallGraph::result_of(const format::NativeCall& call, std::size_t r, NodeIndex node, Building& building) {
  const format::TensorResult& made = call.results[r];
  if (made.id == 0) return kNoTensor;
  if (const std::uint32_t* known = building.tensors.find(made.id)) {  // it gave back what it got, changed or not
    GraphTensor& tensor = tensors_[*known];
    if (building.list[tensor.storage].last_write == node) {
      tensor.maker = node;
      tensor.result = static_cast<std::uint32_t>(r);
    }
    return *known;
  }
  std::uint32_t storage = UINT32_MAX;
  if (made.storage != 0) {
    if (const std::uint32_t* there = building.storages.find(made.storage)) storage = *there;
  } else if (made.view_of != 0) {
    if (const std::uint32_t* base = building.tensors.find(made.view_of)) storage = tensors_[*base].storage;
  }
  if (storage == UINT32_MAX) {
    storage = building.new_storage();
    if (made.storage != 0) building.storages.add(made.storage, storage);
  }
  const auto place = static_cast<std::uint32_t>(tensors_.size());
  building.tensors.add(made.id, place);
  tensors_.push_back({made.id, storage, node, static_cast<std::uint32_t>(r)});
  return place;
}

void CallGraph::add(format::NativeTrace& trace, const format::NativeCall& call, Building& building) {
  const std::uint32_t kind = kind_of(trace, call, building);
  if (kind == UINT32_MAX) {
    ++unreadable_;
    return;
  }
  const auto node = static_cast<NodeIndex>(nodes_.size());
  nodes_.push_back({call.seq, kinds_[kind].op, kind, context_of(trace, call.context, building),
                    static_cast<std::uint32_t>(uses_.size()), static_cast<std::uint32_t>(results_.size()),
                    static_cast<std::uint32_t>(before_.size())});
  if (first_computation_ == kNoNode && kinds_[kind].computes) first_computation_ = node;
  const std::size_t first_before = before_.size();
  const auto after_of = [&](NodeIndex other) {
    if (other != kNoNode && other != node) before_.push_back(other);
  };
  const auto writes_to = [&](std::uint32_t storage_at) {
    Storage& storage = building.list[storage_at];
    after_of(storage.last_write);
    for (std::uint32_t at = storage.first_reader; at != UINT32_MAX; at = building.readers[at].next)
      after_of(building.readers[at].node);
    storage = {node, UINT32_MAX};
  };
  for (const format::TensorUse& use : call.tensors) {
    if (use.id == 0) ++ambiguous_;
    const std::uint32_t place = tensor_of(trace, use.id, building);
    const GraphTensor& tensor = tensors_[place];
    uses_.push_back({tensor.maker, tensor.result, place});
    after_of(tensor.maker);
    Storage& storage = building.list[tensor.storage];
    after_of(storage.last_write);
    building.readers.push_back({node, storage.first_reader});
    storage.first_reader = static_cast<std::uint32_t>(building.readers.size() - 1);
  }
  const std::size_t first_use = nodes_[node].first_use;
  for (const format::TensorWrite& write : call.writes)
    if (write.slot < call.tensors.size()) writes_to(tensors_[uses_[first_use + write.slot].tensor].storage);
  for (const std::uint32_t slot : call.frees)
    if (slot < call.tensors.size()) writes_to(tensors_[uses_[first_use + slot].tensor].storage);
  for (std::size_t r = 0; r < call.results.size(); ++r) results_.push_back(result_of(call, r, node, building));
  if (call.results.size() == 1 && !call.tensors.empty() && call.writes.empty() && results_.back() != kNoTensor)
    kinds_[kind].is_view = tensors_[results_.back()].storage == tensors_[uses_[first_use].tensor].storage;
  std::sort(before_.begin() + static_cast<std::ptrdiff_t>(first_before), before_.end());
  before_.erase(std::unique(before_.begin() + static_cast<std::ptrdiff_t>(first_before), before_.end()), before_.end());
}

void CallGraph::finish() {
  first_after_.assign(nodes_.size() + 1, 0);
  for (const NodeIndex earlier : before_) ++first_after_[earlier + 1];
  for (std::size_t i = 1; i < first_after_.size(); ++i) first_after_[i] += first_after_[i - 1];
  after_.resize(before_.size());
  std::vector<std::uint32_t> next(first_after_.begin(), first_after_.end());
  for (NodeIndex node = 0; node < nodes_.size(); ++node)
    for (const NodeIndex earlier : before(node)) after_[next[earlier]++] = node;
}

Result<CallGraph> CallGraph::build(format::NativeTrace& trace) {
  CallGraph graph;
  Building building;
  graph.flow_ = trace.flow().edges;
  // Which calls have others inside must be known before the first: most traces of real programs have none.
  {
    format::CallStream stream(trace);
    while (const format::NativeCall* call = stream.next())
      if (call->parent != 0) building.opened.insert(call->parent);
  }
  format::CallsInOrder calls(trace);
  while (const format::NativeCall* call = calls.next()) {
    if (call->parent != 0 && building.covered.contains(call->parent)) {
      building.covered.insert(call->seq);
      ++graph.inside_;
      continue;
    }
    if (building.opened.contains(call->seq)) {
      const format::NativeValue* value = trace.values().call(call->call);
      const std::string op = value == nullptr ? std::string() : one_name(value->text);
      const bool described = find_op(op) != nullptr || collective_of(op) != Collective::kNone || is_transparent(op);
      if (!described) {
        ++graph.opened_;
        continue;  // those inside stand for it
      }
      building.covered.insert(call->seq);
    }
    graph.add(trace, *call, building);
  }
  if (graph.nodes_.size() >= kNoNode || graph.uses_.size() >= UINT32_MAX || graph.before_.size() >= UINT32_MAX)
    return fail(ErrorCode::kUnsupported, trace.path() + ": more than 4 billion uses of tensors; trim the trace first");
  graph.finish();
  return graph;
}

}  // namespace opwright::fuse
