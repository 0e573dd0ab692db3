#include "fuse/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "dialect/ttnn/collective_calls.h"
#include "dialect/ttnn/tensor_layout.h"
#include "format/native/run_facts.h"
#include "fuse/names.h"
#include "fuse/wiring.h"
#include "model/host_tensor.h"
#include "normalize/normalize.h"
#include "ops/all_ops.h"

namespace opwright::fuse {
namespace {

bool is_mesh(const TensorSpec& spec) { return spec.placement && volume(spec.placement->mesh) > 1; }

// Calls that make or move tensors and compute nothing: what comes through them alone was loaded.
bool is_loaded(const CallGraph& graph, Use use) {
  for (int depth = 0; depth < 32; ++depth) {
    if (use.maker == kNoNode) return true;
    if (graph.kind(use.maker).computes) return false;
    const auto uses = graph.uses(use.maker);
    if (uses.empty()) return true;
    use = uses.front();
  }
  return false;
}

Role role_of(const CallGraph& graph, const WiredInput& input, const TensorSpec& spec) {
  if (input.is_written) return Role::kState;
  if (input.is_first_operand || !is_loaded(graph, input.use)) return Role::kActivation;
  return is_integer(spec.dtype.value) ? Role::kConstant : Role::kWeight;
}

class Describer {
 public:
  Describer(format::NativeTrace& trace, const CallGraph& graph, const Matches& matches, replay::KnownCalls& known)
      : trace_(trace), graph_(graph), matches_(matches), known_(known) {}

  Result<Described> describe(const std::string& name) {
    FusedTest& test = out_.test;
    test.name = name;
    const format::RunFacts facts = format::facts_of_run(trace_);
    test.trace = facts.uid;
    test.machine = known_.machine();
    OPWRIGHT_TRY(wire_all());
    const GraphContext& context = graph_.context(first_.nodes.front());
    test.source = facts.source_of(context.test);
    test.calls = first_.calls;
    test.outputs = first_.outputs;
    std::vector<std::string> ops;
    for (const NodeIndex node : matches_.places.front().calls) ops.push_back(graph_.op(node));
    test.pattern = pattern_of(ops);
    for (const Wiring& wiring : wirings_) add(wiring);
    if (test.sets.empty()) return fail(ErrorCode::kUnsupported, "no match of the sequence can be described");
    join_outputs();
    finish();
    test.findings.insert(test.findings.end(), matches_.findings.begin(), matches_.findings.end());
    find_more();
    std::ranges::stable_sort(test.sets, [](const ParameterSet& a, const ParameterSet& b) {
      return std::tuple(a.mode != "decode", a.mode, a.seq_len) < std::tuple(b.mode != "decode", b.mode, b.seq_len);
    });
    name_sets();
    OPWRIGHT_TRY(check(test));
    return std::move(out_);
  }

 private:
  Status wire_all() {
    for (const bool with_frees : {true, false}) {
      wirings_.clear();
      bool all_alike = true;
      std::vector<std::uint64_t> others;
      for (const Place& place : matches_.places) {
        OPWRIGHT_TRY_ASSIGN(Wiring wiring, wire(graph_, place, known_, with_frees));
        if (wirings_.empty()) first_ = wiring;
        if (same_function(wiring, first_)) {
          wirings_.push_back(std::move(wiring));
        } else {
          all_alike = false;
          others.push_back(graph_[place.calls.front()].seq);
        }
      }
      if (with_frees && !all_alike) continue;  // frees may be all that differs
      out_.other_graphs = static_cast<std::int64_t>(others.size());
      if (!others.empty())
        out_.test.findings.push_back(
            {FindingCode::kAmbiguous, others,
             fmt::format("{} more places have the same data flow and other calls that move tensors between them; they "
                         "are left out",
                         others.size())});
      return {};
    }
    return {};
  }

  TensorSpec argument_of(const Use&, NodeIndex taker, std::uint32_t slot) {
    const replay::KnownCall& known = known_.of(graph_.kind(taker).example);
    return slot < known.arguments.size() ? known.arguments[slot] : TensorSpec{};
  }

  void add(const Wiring& wiring) {
    std::string text;
    for (const NodeIndex node : wiring.nodes) text += to_hex(known_.of(graph_.kind(node).example).config.key);
    const GraphContext& context = graph_.context(wiring.nodes.front());
    text += context.phase;
    Match match{{}, context.phase, context.label, context.test};
    for (const NodeIndex node : wiring.nodes) match.calls.push_back(graph_[node].seq);
    const auto [place, is_new] = set_of_.try_emplace(text, out_.test.sets.size());
    if (is_new) make_set(wiring, context);
    out_.test.sets[place->second].matches.push_back(std::move(match));
    all_.push_back(&wiring);
  }

  void make_set(const Wiring& wiring, const GraphContext& context) {
    FusedTest& test = out_.test;
    ParameterSet set;
    std::string signed_text;
    for (const NodeIndex node : wiring.nodes) {
      const replay::KnownCall& known = known_.of(graph_.kind(node).example);
      set.calls.push_back({known.config, known.results});
      signed_text += normalize::canonical_text(known.config) + "\n";
    }
    for (const FusedCall& call : wiring.calls)
      for (const Source& source : call.tensors)
        signed_text +=
            fmt::format("{}.{}.{}.{} ", source.from == Source::From::kInput, source.input, source.call, source.result);
    set.signature = to_hex(sha256(signed_text)).substr(0, 16);
    for (const WiredInput& input : wiring.inputs) {
      set.inputs.push_back(argument_of(input.use, input.first_taker, input.slot));
      set.contents.push_back(contents_of(input));
    }
    if (test.inputs.empty())
      for (std::size_t i = 0; i < wiring.inputs.size(); ++i)
        test.inputs.push_back({"", role_of(graph_, wiring.inputs[i], set.inputs[i]), wiring.inputs[i].is_freed});
    set.mode = context.phase;
    if (set.mode.find("decode") != std::string::npos) set.mode = "decode";
    if (set.mode.find("prefill") != std::string::npos) set.mode = "prefill";
    set.seq_len = sequence_length(set);
    test.sets.push_back(std::move(set));
  }

  // Rows of the first activation; of a decode step one token for each row.
  std::int64_t sequence_length(const ParameterSet& set) const {
    if (set.mode == "decode") return 1;
    for (std::size_t i = 0; i < set.inputs.size(); ++i) {
      const Shape& shape = set.inputs[i].shape;
      if (out_.test.inputs[i].role == Role::kActivation && shape.size() >= 2) return shape[shape.size() - 2];
    }
    return 0;
  }

  std::string contents_of(const WiredInput& input) const {
    const auto find = [&](std::uint64_t seq, bool of_result, std::uint32_t slot) -> std::string {
      for (const format::TensorData& data : trace_.data_of(seq))
        if (data.slot == slot && data.of_result == of_result && data.after == of_result && data.hash &&
            trace_.blob(*data.hash) != nullptr)
          return to_hex(*data.hash);
      return "";
    };
    std::string found = find(graph_[input.first_taker].seq, false, input.slot);
    if (found.empty() && input.use.maker != kNoNode) found = find(graph_[input.use.maker].seq, true, input.use.result);
    return found;
  }

  // An output of one match is an output of the function: what one match keeps, all give back.
  void join_outputs() {
    std::vector<FusedOutput>& outputs = out_.test.outputs;
    for (const Wiring* wiring : all_)
      for (const FusedOutput& output : wiring->outputs) {
        const auto same = std::ranges::find(outputs, output.source, &FusedOutput::source);
        if (same == outputs.end())
          outputs.push_back(output);
        else
          same->is_read_later |= output.is_read_later;
      }
    // A result that one match leaves unread is no output where another match reads all of its results inside.
    std::ranges::stable_sort(outputs, [](const FusedOutput& a, const FusedOutput& b) {
      const auto key = [](const FusedOutput& o) {
        return std::tuple(o.source.from == Source::From::kInput, o.source.input, o.source.call, o.source.result);
      };
      return key(a) < key(b);
    });
  }

  void finish() {
    FusedTest& test = out_.test;
    give_names(test);
    for (ParameterSet& set : test.sets) {
      for (const FusedOutput& output : test.outputs)
        set.outputs.push_back(output.source.from == Source::From::kInput
                                  ? set.inputs[output.source.input]
                                  : set.calls[output.source.call].results[output.source.result]);
      const InternalBytes bytes = internal_bytes(test, set);
      set.internal_bytes = bytes.all;
      set.internal_peak_bytes = bytes.peak;
      for (const auto& list : {set.inputs, set.outputs})
        for (const TensorSpec& spec : list)
          if (is_mesh(spec) && test.mesh.empty()) test.mesh = spec.placement->mesh;
      for (const FusedCall& call : test.calls)
        if (collective_of(call.op) != Collective::kNone && set.no_single_device.empty())
          set.no_single_device = fmt::format("{} exchanges parts between chips", call.op);
    }
    if (test.mesh.empty()) test.mesh = {1, 1};
    if (test.mesh.size() == 1) test.mesh.insert(test.mesh.begin(), 1);
  }

  void name_sets() {
    std::set<std::string> ids;
    for (ParameterSet& set : out_.test.sets) {
      const std::string mode = as_name(set.mode);
      const std::string wanted = fmt::format("{}_{}", mode.empty() ? "rows" : mode, set.seq_len);
      std::string id = wanted;
      for (char letter = 'b'; !ids.insert(id).second; ++letter)
        id = letter <= 'z' ? fmt::format("{}_{}", wanted, letter) : fmt::format("{}_{}", wanted, ids.size());
      set.id = id;
    }
  }

  void find_more() {
    FusedTest& test = out_.test;
    const auto add = [&](FindingCode code, std::vector<std::uint64_t> at, std::string text) {
      test.findings.push_back({code, std::move(at), std::move(text)});
    };
    const std::vector<std::uint64_t>& first = test.sets.front().matches.front().calls;
    for (std::size_t c = 0; c < test.calls.size(); ++c) {
      const FusedCall& call = test.calls[c];
      for (const std::uint32_t t : call.writes)
        add(FindingCode::kInplaceArg, {first[c]},
            fmt::format("{} writes its tensor {} in place{}", call.op, t,
                        call.tensors[t].from == Source::From::kInput
                            ? fmt::format(": {} is state, and an output too", test.inputs[call.tensors[t].input].name)
                            : ""));
      const OpSpec* op = find_op(call.op);
      const bool exchanges = collective_of(call.op) != Collective::kNone;
      if (!call.is_transparent && op == nullptr && !exchanges)
        add(FindingCode::kNoReference, {first[c]},
            fmt::format("nothing is known of {}: no exact result, no numbers on a simulated device", call.op));
      else if (op != nullptr && op->reference == nullptr)
        add(FindingCode::kNoReference, {first[c]}, fmt::format("{} has no reference yet", call.op));
    }
    for (std::size_t i = 0; i < test.inputs.size(); ++i)
      if (test.inputs[i].is_freed)
        add(FindingCode::kDeallocatedInput, {first.front()},
            fmt::format("{} is freed inside: it has to be made again for each run", test.inputs[i].name));
    find_host_calls(first);
    const bool any_prefill = std::ranges::any_of(test.sets, [](const auto& set) { return set.mode == "prefill"; });
    const bool any_decode = std::ranges::any_of(test.sets, [](const auto& set) { return set.mode == "decode"; });
    if (any_decode && !any_prefill)
      add(FindingCode::kNoPrefill, {}, "the sequence has no match in prefill: the test is for decode only");
  }

  // Tensors that go to the host, or come from it, between the calls of the sequence.
  void find_host_calls(const std::vector<std::uint64_t>& first) {
    const auto [low, high] = std::ranges::minmax(first);
    const std::set<std::uint64_t> own(first.begin(), first.end());
    for (NodeIndex node = graph_.find(low); node < graph_.size() && graph_[node].seq <= high; ++node) {
      const std::string& op = graph_.op(node);
      if (own.contains(graph_[node].seq) || graph_.kind(node).computes || only_frees(op)) continue;
      const bool takes_own = std::ranges::any_of(graph_.uses(node), [&](const Use& use) {
        return use.maker != kNoNode && own.contains(graph_[use.maker].seq);
      });
      const bool given_to_own = std::ranges::any_of(graph_.after(node), [&](NodeIndex later) {
        return own.contains(graph_[later].seq) &&
               std::ranges::any_of(graph_.uses(later), [&](const Use& use) { return use.maker == node; });
      });
      if (takes_own)
        out_.test.findings.push_back({FindingCode::kHostFallback,
                                      {graph_[node].seq},
                                      fmt::format("{} takes a result of the sequence in the middle of it: reading or "
                                                  "moving it to the host cannot be part of a trace",
                                                  op)});
      else if (given_to_own)
        out_.test.findings.push_back(
            {FindingCode::kNotTraceable,
             {graph_[node].seq},
             fmt::format("{} makes a tensor of the sequence from the host in the middle of it: "
                         "it is an input of the test, and cannot be part of a trace",
                         op)});
    }
  }

  format::NativeTrace& trace_;
  const CallGraph& graph_;
  const Matches& matches_;
  replay::KnownCalls& known_;
  Described out_;
  Wiring first_;
  std::vector<Wiring> wirings_;
  std::vector<const Wiring*> all_;
  std::map<std::string, std::size_t> set_of_;
};

}  // namespace

std::int64_t device_bytes(const TensorSpec& spec) {
  if (!spec.has_shape || !computed(spec.dtype.value) || spec.storage.value == StorageType::kHost) return 0;
  const Pages pages = pages_of(on_one_chip(spec));
  return pages.bytes * pages.count;
}

TensorSpec on_one_chip(const TensorSpec& spec) {
  TensorSpec out = spec;
  if (spec.device_shape) out.shape = *spec.device_shape;
  out.device_shape.reset();
  out.placement.reset();
  return out;
}

InternalBytes internal_bytes(const FusedTest& test, const ParameterSet& set) {
  InternalBytes out;
  std::int64_t live = 0;
  for (std::size_t c = 0; c < test.calls.size(); ++c) {
    for (std::uint32_t r = 0; r < test.calls[c].results; ++r) {
      const Source result = Source::of_result(c, r);
      const bool leaves =
          std::ranges::any_of(test.outputs, [&](const FusedOutput& output) { return output.source == result; });
      if (leaves || test.calls[c].shares[r] >= 0) continue;
      const std::int64_t bytes = device_bytes(set.calls[c].results[r]);
      out.all += bytes;
      live += bytes;
    }
    out.peak = std::max(out.peak, live);
    // What no later call takes is gone.
    for (std::size_t m = 0; m <= c; ++m)
      for (std::uint32_t r = 0; r < test.calls[m].results; ++r) {
        const Source result = Source::of_result(m, r);
        const bool leaves =
            std::ranges::any_of(test.outputs, [&](const FusedOutput& output) { return output.source == result; });
        if (leaves || test.calls[m].shares[r] >= 0) continue;
        std::size_t last = m;
        for (std::size_t later = m + 1; later < test.calls.size(); ++later)
          if (std::ranges::find(test.calls[later].tensors, result) != test.calls[later].tensors.end()) last = later;
        if (last == c) live -= device_bytes(set.calls[m].results[r]);
      }
  }
  return out;
}

Result<Described> describe(format::NativeTrace& trace, const CallGraph& graph, const Matches& matches,
                           replay::KnownCalls& known, const std::string& name) {
  return Describer(trace, graph, matches, known).describe(name);
}

}  // namespace opwright::fuse
