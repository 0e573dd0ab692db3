#include "fuse/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fuse/call_graph.h"
#include "fuse/pattern.h"
#include "model/bound_call.h"
#include "ops/all_ops.h"

namespace opwright::fuse {
namespace {

// What engineers call sequences that are found in many models; `ops` as pattern_of writes them, without collectives.
struct KnownSequence {
  std::string_view ops, name;
};
constexpr auto kKnown = std::to_array<KnownSequence>({
    {"linear*2,multiply,linear", "gated_mlp"},
    {"matmul*2,multiply,matmul", "gated_mlp"},
    {"linear,silu,linear,multiply,linear", "gated_mlp"},
    {"linear,gelu,linear", "mlp"},
    {"rms_norm_pre_all_gather,rms_norm_post_all_gather", "distributed_norm"},
    {"layer_norm_pre_all_gather,layer_norm_post_all_gather", "distributed_norm"},
    {"linear,fast_reduce_nc,slice*3", "wq_kv_a"},
    {"linear,topk,softmax", "router"},
    {"linear,softmax,topk", "router"},
});

std::string short_op(std::string_view op) { return as_name(op.substr(op.rfind('.') + 1)); }

// "input_tensor_b" of a product is its weight; else the parameter without words that say nothing.
std::string word_of(std::string_view op, std::string_view param) {
  const std::string_view name = op.substr(op.rfind('.') + 1);
  if ((name == "linear" || name == "matmul") && (param == "input_tensor_b" || param == "arg1")) return "weight";
  for (const std::string_view front : {"input_tensor_", "input_", "tensor_"})
    if (param.starts_with(front) && param.size() > front.size()) param.remove_prefix(front.size());
  if (param.ends_with("_tensor")) param.remove_suffix(7);
  return as_name(param);
}

class Namer {
 public:
  explicit Namer(FusedTest& test) : test_(test) {
    std::vector<std::string_view> ops;
    for (const FusedCall& call : test.calls) {
      const auto before = std::ranges::count(ops, call.op);
      ops.push_back(call.op);
      const auto all = std::ranges::count(test.calls, call.op, &FusedCall::op);
      call_names_.push_back(short_op(call.op) + (all > 1 ? fmt::format("_{}", before + 1) : ""));
    }
  }

  void give() {
    std::size_t activations = 0;
    for (const FusedInput& input : test_.inputs) activations += input.role == Role::kActivation ? 1 : 0;
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      FusedInput& input = test_.inputs[i];
      if (!input.name.empty())
        taken_.insert(input.name);
      else if (input.role == Role::kActivation && activations == 1)
        input.name = only("x");
      else
        input.name = only(name_of_input(i));
    }
    for (FusedOutput& output : test_.outputs) {
      if (output.source.from == Source::From::kInput)
        output.name = only(test_.inputs[output.source.input].name + "_after");
      else if (test_.outputs.size() == 1)
        output.name = only("out");
      else
        output.name =
            only(call_names_[output.source.call] + "_out" +
                 (test_.calls[output.source.call].results > 1 ? fmt::format("_{}", output.source.result + 1) : ""));
    }
  }

 private:
  std::string name_of_input(std::size_t input) const {
    const auto use = first_use(test_, input);
    if (!use) return "x";
    const OpConfig& config = test_.sets.front().calls[use->call].config;
    const BoundCall call(config.op, config.convention, config.args);
    std::string_view param = call.tensors[use->tensor].param;
    if (const OpSpec* op = find_op(config.op); op != nullptr)
      if (const Param* known = find_param(*op, config.convention, param)) param = known->name;
    const std::string word = word_of(config.op, param);
    const std::size_t item = call.tensors[use->tensor].item;
    return call_names_[use->call] + "_" + (word.empty() ? "in" : word) + (item > 0 ? std::to_string(item + 1) : "");
  }

  std::string only(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }

  FusedTest& test_;
  std::vector<std::string> call_names_;
  std::set<std::string> taken_;
};

bool is_collective_word(std::string_view op) {
  const std::string_view name = op.substr(op.rfind('.') + 1);
  return name.find("gather") != std::string_view::npos
             ? !name.starts_with("rms_norm") && !name.starts_with("layer_norm")
             : name.starts_with("reduce_scatter") || name.starts_with("all_reduce") || name.starts_with("all_to_all");
}

}  // namespace

std::string as_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter || (digit && !out.empty()))
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

void give_names(FusedTest& test) { Namer(test).give(); }

std::string name_proposal(const std::vector<std::string>& ops) {
  std::vector<std::string> own;
  for (const std::string& op : ops)
    if (!is_collective_word(op)) own.push_back(op);
  const std::string sequence = pattern_of(own);
  for (const KnownSequence& known : kKnown) {
    const std::size_t at = sequence.find(known.ops);
    const bool whole_words = at != std::string::npos && (at == 0 || sequence[at - 1] == ',') &&
                             (at + known.ops.size() == sequence.size() || sequence[at + known.ops.size()] == ',');
    if (!whole_words) continue;
    if (known.ops == sequence) return std::string(known.name);
    // With more around it: the first operation that is not part of it says so.
    const bool is_first = at == 0;
    const std::string& other = is_first ? own.back() : own.front();
    return fmt::format("{}_with_{}", known.name, short_op(other));
  }
  std::string out;
  std::size_t words = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (i > 0 && ops[i] == ops[i - 1]) continue;
    const std::string word = short_op(ops[i]);
    if (++words > 4) return out + "_and_more";
    out += (out.empty() ? "" : "_") + word;
  }
  return out;
}

}  // namespace opwright::fuse
