#include "fuse/substitute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "fuse/function.h"
#include "replay/known_calls.h"
#include "replay/replay.h"

namespace opwright::fuse {
namespace {

Hash128 hash_of(const replay::Values& values) {
  StreamHash hash;
  const auto add = [&](const auto& list) {
    hash.add({reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])});
  };
  add(values.floats);
  add(values.ints);
  return hash.digest();
}

bool is_finite(const replay::Values& values) {
  return std::ranges::all_of(values.floats, [](float value) { return std::isfinite(value); });
}

Result<ModuleRun> replayed(format::NativeTrace& trace, Device& device, const ModuleOptions& options,
                           const replay::Instead* instead) {
  ModuleRun out;
  replay::Options how;
  how.filter.first = options.first;
  how.filter.last = options.last;
  how.run.recipe.seed = options.seed;
  how.chain = false;
  how.judge = false;
  how.most_work = options.most_work;
  how.stop = options.stop;
  how.instead = instead;
  how.on_made = [&](std::uint64_t call, std::uint64_t tensor, const replay::Values& values) {
    out.made.push_back({call, tensor, hash_of(values)});
    if (!is_finite(values) && out.nonfinite++ == 0) out.first_nonfinite = call;
  };
  const auto on_step = [&](const replay::Step& step) {
    ++out.calls;
    if (step.part == replay::Part::kSkipped ||
        (step.part == replay::Part::kRun && step.outcome != Outcome::kAccepted)) {
      if (step.raised) return;
      if (out.not_run++ == 0) out.first_not_run = fmt::format("call {} ({}): {}", step.call, step.op, step.reason);
    } else if (step.part == replay::Part::kRun) {
      ++out.ran;
    }
  };
  OPWRIGHT_TRY_ASSIGN(const replay::Report report, replay::replay(trace, device, how, on_step));
  out.stopped = report.stopped;
  return out;
}

// A call behind the first of the match and before its last that takes what the match makes: the function would have to
// run in the middle of itself.
NodeIndex reads_early(const CallGraph& graph, const std::vector<NodeIndex>& calls) {
  const auto [first, last] = std::ranges::minmax(calls);
  const std::set<NodeIndex> own(calls.begin(), calls.end());
  for (NodeIndex node = first; node < last; ++node) {
    if (own.contains(node) || only_frees(graph.op(node))) continue;
    for (const NodeIndex earlier : graph.before(node))
      if (own.contains(earlier)) return node;
  }
  return kNoNode;
}

// A match replaced: which recorded tensor is which input and output of the function.
struct Replacement {
  const Function* function = nullptr;
  const FusedTest* test = nullptr;
  const ParameterSet* set = nullptr;
  std::vector<std::uint64_t> inputs, outputs;  // recorded numbers
  std::vector<TensorSpec> input_specs;
};

class Substituter {
 public:
  Substituter(format::NativeTrace& trace, const CallGraph& graph, const FusedTest& test, Device& device)
      : trace_(trace), graph_(graph), test_(test), device_(device) {}

  Result<Substitution> run(const ModuleOptions& options, const ModuleRun& baseline) {
    replay::Instead instead;
    functions_.reserve(test_.sets.size());
    for (const ParameterSet& set : test_.sets) {
      auto function = Function::prepare(test_, set, device_.can().board);
      out_.matches += static_cast<std::int64_t>(set.matches.size());
      if (!function) {
        out_.not_replaced["the function cannot run: " + function.error().message] +=
            static_cast<std::int64_t>(set.matches.size());
        continue;
      }
      functions_.push_back(std::make_unique<Function>(*std::move(function)));
      for (const Match& match : set.matches) replace(match, set, *functions_.back(), instead);
    }
    if (instead.groups.empty()) return std::move(out_);
    OPWRIGHT_TRY_ASSIGN(const ModuleRun now, replayed(trace_, device_, options, &instead));
    compare(baseline, now);
    return std::move(out_);
  }

 private:
  void replace(const Match& match, const ParameterSet& set, const Function& function, replay::Instead& instead) {
    std::vector<NodeIndex> nodes;
    for (const std::uint64_t call : match.calls) nodes.push_back(graph_.find(call));
    std::vector<NodeIndex> computing;
    for (std::size_t c = 0; c < nodes.size(); ++c)
      if (!only_frees(test_.calls[c].op)) computing.push_back(nodes[c]);
    if (const NodeIndex early = reads_early(graph_, computing); early != kNoNode) {
      ++out_.not_replaced[fmt::format("{} stands between the calls and takes a result of them", graph_.op(early))];
      return;
    }
    auto replacement = std::make_unique<Replacement>();
    replacement->function = &function;
    replacement->test = &test_;
    replacement->set = &set;
    for (std::size_t i = 0; i < test_.inputs.size(); ++i)
      replacement->inputs.push_back(recorded(Source::of_input(i), nodes));
    for (const FusedOutput& output : test_.outputs) replacement->outputs.push_back(recorded(output.source, nodes));
    const bool known = std::ranges::find(replacement->inputs, 0U) == replacement->inputs.end() &&
                       std::ranges::find(replacement->outputs, 0U) == replacement->outputs.end();
    if (!known) {
      ++out_.not_replaced["the trace does not say which tensor is which"];
      return;
    }
    replay::Instead::Group group;
    const NodeIndex last = *std::ranges::max_element(computing);
    for (const NodeIndex node : nodes)
      if (node <= last) group.calls.push_back(graph_[node].seq);
    std::ranges::sort(group.calls);
    for (const std::uint64_t call : group.calls) replaced_calls_.insert(call);
    group.make = [this, what = replacement.get()](replay::LiveTensors& table, replay::HeldBytes& held) {
      return make(*what, table, held);
    };
    instead.groups.push_back(std::move(group));
    replacements_.push_back(std::move(replacement));
    ++out_.replaced;
  }

  // The recorded number of a tensor of the function, where this match has it.
  std::uint64_t recorded(const Source& source, const std::vector<NodeIndex>& nodes) const {
    if (source.from == Source::From::kResult) {
      const auto results = graph_.results(nodes[source.call]);
      return source.result < results.size() && results[source.result] != kNoTensor
                 ? graph_.tensors()[results[source.result]].id
                 : 0;
    }
    const auto use = first_use(test_, source.input);
    if (!use) return 0;
    // A tensor of the description stands where its configuration has it; the trace has another order.
    const auto uses = graph_.uses(nodes[use->call]);
    const std::size_t slot = slot_of(nodes[use->call], use->tensor);
    return slot < uses.size() ? graph_.tensors()[uses[slot].tensor].id : 0;
  }

  std::size_t slot_of(NodeIndex node, std::size_t tensor) const {
    const std::vector<std::size_t>& slots = known_.of(graph_.kind(node).example).sent_slots;
    return tensor < slots.size() ? slots[tensor] : SIZE_MAX;
  }

  Status make(const Replacement& what, replay::LiveTensors& table, replay::HeldBytes& held) {
    std::vector<HostTensor> inputs;
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
      const replay::Content* content = table.content(what.inputs[i]);
      if (content == nullptr)
        return fail(ErrorCode::kUnsupported,
                    fmt::format("input {} of the function (tensor #{}) is not there when it is due",
                                what.test->inputs[i].name, what.inputs[i]));
      replay::Values values = content->device->expanded();
      inputs.push_back({what.set->inputs[i], std::move(values.floats), std::move(values.ints)});
    }
    Ran ran = what.function->run(device_, std::move(inputs));
    if (!ran.refused.empty())
      return fail(ErrorCode::kUnsupported, fmt::format("call {} of the function: {}", ran.at + 1, ran.refused));
    for (std::size_t o = 0; o < what.outputs.size(); ++o) {
      const TensorSpec& spec = what.set->outputs[o];
      replay::Values values{std::move(ran.outputs[o].floats), std::move(ran.outputs[o].ints)};
      given_.push_back({0, what.outputs[o], hash_of(values)});
      table.declare(what.outputs[o], spec, 0, 0);
      table.write(what.outputs[o], replay::content_of(std::move(values), spec, replay::Origin::kComputed, held));
    }
    return {};
  }

  void compare(const ModuleRun& baseline, const ModuleRun& now) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Hash128> before;  // call and tensor
    std::unordered_map<std::uint64_t, Hash128> by_replaced;  // the last that a replaced call made of a tensor
    for (const ModuleRun::Made& made : baseline.made) {
      before[{made.call, made.tensor}] = made.hash;
      if (replaced_calls_.contains(made.call)) by_replaced[made.tensor] = made.hash;
    }
    const auto one = [&](bool same, const std::string& what) {
      ++out_.compared;
      out_.equal += same ? 1 : 0;
      if (!same && out_.first_difference.empty()) out_.first_difference = what;
    };
    for (const ModuleRun::Made& made : given_) {
      const auto found = by_replaced.find(made.tensor);
      if (found != by_replaced.end())  // else a tensor by another name: who reads it is compared
        one(found->second == made.hash, fmt::format("tensor #{}, an output of the function", made.tensor));
    }
    for (const ModuleRun::Made& made : now.made) {
      const auto found = before.find({made.call, made.tensor});
      const NodeIndex node = graph_.find(made.call);
      one(found != before.end() && found->second == made.hash,
          fmt::format(
              "tensor #{} of call {}{}", made.tensor, made.call,
              node < graph_.size() && graph_[node].seq == made.call ? fmt::format(" ({})", graph_.op(node)) : ""));
    }
  }

  format::NativeTrace& trace_;
  const CallGraph& graph_;
  const FusedTest& test_;
  Device& device_;
  mutable replay::KnownCalls known_{trace_, device_.can().board, Layout::kAbsent, true};
  Substitution out_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Replacement>> replacements_;
  std::set<std::uint64_t> replaced_calls_;
  std::vector<ModuleRun::Made> given_;
};

}  // namespace

Hash128 ModuleRun::digest() const {
  StreamHash hash;
  for (const Made& one : made) hash.add({reinterpret_cast<const char*>(&one), sizeof(one)});
  return hash.digest();
}

Result<ModuleRun> run_module(format::NativeTrace& trace, Device& device, const ModuleOptions& options) {
  return replayed(trace, device, options, nullptr);
}

Result<Substitution> substitute(format::NativeTrace& trace, const CallGraph& graph, const FusedTest& test,
                                Device& device, const ModuleOptions& options, const ModuleRun& baseline) {
  return Substituter(trace, graph, test, device).run(options, baseline);
}

}  // namespace opwright::fuse
