#include "fuse/controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dialect/ttnn/collective_calls.h"
#include "model/bound_call.h"
#include "model/host_tensor.h"

namespace opwright::fuse {
namespace {

struct Mutant {
  std::string what;
  FusedTest test;
  ParameterSet set;
};

bool says_where(std::string_view name) {  // arguments that change no number
  for (const std::string_view word : {"config", "memory", "dtype", "grid", "topology", "links", "axis", "output_tensor",
                                      "queue", "device", "layout", "worker", "chunks", "buffers"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

// Another value that a call may have there.
std::optional<Value> other(const Value& value) {
  if (const double* number = value.as_float()) return Value(*number * 2 + 1);
  if (const std::int64_t* number = value.as_int()) return Value(*number > 0 ? *number - 1 : *number + 1);
  if (const bool* flag = value.as_bool()) return Value(!*flag);
  if (const std::string* text = value.as_string(); text != nullptr && !text->empty())
    return Value(std::string(*text == "relu" ? "silu" : "relu"));
  if (const Enum* word = value.as_enum(); word != nullptr && word->type.find("Unary") != std::string::npos)
    return Value(Enum{word->type, word->name == "RELU" ? "SILU" : "RELU"});
  if (const List* list = value.as_list()) {
    for (std::size_t i = list->size(); i-- > 0;)
      if (auto changed = other((*list)[i])) {
        List out = *list;
        out[i] = *std::move(changed);
        return Value(std::move(out));
      }
  }
  return std::nullopt;
}

class Controls {
 public:
  Controls(const FusedTest& test, const ParameterSet& set, Device& device, std::uint64_t seed)
      : test_(test), set_(set), device_(device), seed_(seed) {}

  std::vector<Control> run() {
    const auto function = Function::prepare(test_, set_, device_.can().board);
    if (!function) return {};
    inputs_ = function->inputs(seed_);
    right_ = function->run(device_, inputs_);
    exact_ = function->exact(inputs_);
    std::vector<Control> out;
    out.push_back(with_mutants("argument_changed", arguments(), "no argument of it changes a number"));
    out.push_back(with_mutants("operator_dropped", dropped(), "each operator is needed for the shape of the others"));
    out.push_back(
        with_mutants("order_swapped", swapped(), "no two tensors or calls that could take each other's place"));
    out.push_back(permuted(*function));
    out.push_back(shifted(*function));
    return out;
  }

 private:
  // Whether the numbers are other ones than without the mistake. What changes none, no test can see.
  bool has_effect(const Ran& ran) const {
    if (!ran.refused.empty()) return true;
    return !std::ranges::equal(ran.outputs, right_.outputs, [](const HostTensor& a, const HostTensor& b) {
      return a.floats == b.floats && a.ints == b.ints;
    });
  }

  Control judged(std::string name, std::string what, const Ran& ran) const {
    return {std::move(name), std::move(what), misses(quality(ran, exact_), *set_.expected), ""};
  }

  // The first mutant that gives other numbers counts; a refusal only where none does.
  Control with_mutants(const std::string& name, std::vector<Mutant> mutants, const std::string& none) {
    std::optional<Control> refused;
    for (const Mutant& mutant : mutants) {
      const auto function = Function::prepare(mutant.test, mutant.set, device_.can().board);
      if (!function) {
        if (!refused) refused = Control{name, mutant.what, function.error().message, ""};
        continue;
      }
      const Ran ran = function->run(device_, inputs_);
      if (!has_effect(ran)) continue;
      Control control = judged(name, mutant.what, ran);
      if (ran.refused.empty()) return control;
      if (!refused) refused = std::move(control);
    }
    if (refused) return *std::move(refused);
    return {name, "", "", none};
  }

  std::vector<Mutant> arguments() const {
    std::vector<Mutant> out;
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      if (collective_of(test_.calls[c].op) != Collective::kNone || test_.calls[c].is_transparent) continue;
      const OpConfig& config = set_.calls[c].config;
      for (std::size_t a = 0; a < config.args.size(); ++a) {
        if (says_where(config.args[a].name)) continue;
        auto changed = other(config.args[a].value);
        if (!changed) continue;
        Mutant mutant{fmt::format("call {} ({}): {} is {} instead of {}", c + 1, config.op, config.args[a].name,
                                  to_text(*changed), to_text(config.args[a].value)),
                      test_, set_};
        mutant.set.calls[c].config.args[a].value = *std::move(changed);
        out.push_back(std::move(mutant));
      }
    }
    // Where no other argument has a number to change: a tensor in the place of another one.
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      const BoundCall bound(set_.calls[c].config.op, set_.calls[c].config.convention, set_.calls[c].config.args);
      if (bound.tensors.size() < 2 || bound.tensors[0].spec.shape != bound.tensors[1].spec.shape ||
          bound.tensors[0].spec.dtype.value != bound.tensors[1].spec.dtype.value)
        continue;
      Mutant mutant{fmt::format("call {} ({}): {} is given as {}, too", c + 1, test_.calls[c].op,
                                bound.tensors[0].param, bound.tensors[1].param),
                    test_, set_};
      mutant.test.calls[c].tensors[1] = mutant.test.calls[c].tensors[0];
      out.push_back(std::move(mutant));
    }
    return out;
  }

  // Who takes the result of a call takes its first tensor instead.
  std::vector<Mutant> dropped() const {
    std::vector<Mutant> out;
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      const FusedCall& call = test_.calls[c];
      if (call.tensors.empty() || call.results != 1 || call.is_transparent) continue;
      const BoundCall bound(set_.calls[c].config.op, set_.calls[c].config.convention, set_.calls[c].config.args);
      if (volume(bound.tensors.front().spec.shape) != volume(set_.calls[c].results.front().shape)) continue;
      Mutant mutant{fmt::format("without call {} ({})", c + 1, call.op), test_, set_};
      const Source result = Source::of_result(c, 0);
      for (std::size_t later = c + 1; later < test_.calls.size(); ++later)
        std::ranges::replace(mutant.test.calls[later].tensors, result, call.tensors.front());
      for (FusedOutput& output : mutant.test.outputs)
        if (output.source == result) output.source = call.tensors.front();
      out.push_back(std::move(mutant));
    }
    return out;
  }

  // Two tensors of one spec, of one call or of two, take each other's place.
  std::vector<Mutant> swapped() const {
    std::vector<Mutant> out;
    struct Place {
      std::size_t call, tensor;
      std::string spec;
    };
    std::vector<Place> places;
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      const BoundCall bound(set_.calls[c].config.op, set_.calls[c].config.convention, set_.calls[c].config.args);
      for (std::size_t t = 0; t < bound.tensors.size(); ++t)
        places.push_back(
            {c, t, fmt::format("{} {}", to_text(bound.tensors[t].spec.shape), bound.tensors[t].spec.dtype.name())});
    }
    for (std::size_t i = 0; i < places.size() && out.size() < 16; ++i)
      for (std::size_t j = i + 1; j < places.size() && out.size() < 16; ++j) {
        const Place &a = places[i], &b = places[j];
        const Source first = test_.calls[a.call].tensors[a.tensor], second = test_.calls[b.call].tensors[b.tensor];
        if (a.spec != b.spec || first == second) continue;
        if (second.from == Source::From::kResult && second.call >= a.call) continue;
        Mutant mutant{fmt::format("tensor {} of call {} ({}) and tensor {} of call {} ({}) swapped", a.tensor,
                                  a.call + 1, test_.calls[a.call].op, b.tensor, b.call + 1, test_.calls[b.call].op),
                      test_, set_};
        mutant.test.calls[a.call].tensors[a.tensor] = second;
        mutant.test.calls[b.call].tensors[b.tensor] = first;
        out.push_back(std::move(mutant));
      }
    for (std::size_t i = 0; i < test_.outputs.size(); ++i)
      for (std::size_t j = i + 1; j < test_.outputs.size(); ++j) {
        if (set_.outputs[i].shape != set_.outputs[j].shape) continue;
        Mutant mutant{fmt::format("outputs {} and {} swapped", test_.outputs[i].name, test_.outputs[j].name), test_,
                      set_};
        std::swap(mutant.test.outputs[i].source, mutant.test.outputs[j].source);
        out.push_back(std::move(mutant));
      }
    // Two calls after one another, each of one tensor.
    for (std::size_t c = 0; c + 1 < test_.calls.size(); ++c) {
      const FusedCall &one = test_.calls[c], &next = test_.calls[c + 1];
      if (one.tensors.size() != 1 || next.tensors != std::vector{Source::of_result(c, 0)} || one.op == next.op ||
          one.results != 1 || next.results != 1)
        continue;
      Mutant mutant{fmt::format("calls {} ({}) and {} ({}) in the other order", c + 1, one.op, c + 2, next.op), test_,
                    set_};
      std::swap(mutant.test.calls[c].op, mutant.test.calls[c + 1].op);
      std::swap(mutant.set.calls[c].config, mutant.set.calls[c + 1].config);
      out.push_back(std::move(mutant));
    }
    return out;
  }

  Control permuted(const Function& function) {
    const std::string name = "weights_permuted";
    std::optional<Control> last;
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      if (test_.inputs[i].role != Role::kWeight) continue;
      const Ran ran = function.run(device_, inputs_, {.permuted_input = i, .shifted_call = {}, .shifted_input = {}});
      if (!has_effect(ran)) continue;
      last = judged(name, "the values of " + test_.inputs[i].name + " in another order", ran);
      if (last->noticed.empty()) return *std::move(last);  // each of them must be noticed
    }
    if (last) return *std::move(last);
    return {name, "", "", "the sequence has no weights"};
  }

  Control shifted(const Function& function) {
    const std::string name = "shard_shifted";
    for (std::size_t c = 0; c < function.calls().size(); ++c) {
      const auto& exchange = function.calls()[c].exchange;
      if (!exchange || exchange->chips < 2) continue;
      const Ran ran = function.run(device_, inputs_, {.permuted_input = {}, .shifted_call = c, .shifted_input = {}});
      if (has_effect(ran))
        return judged(
            name, fmt::format("call {} ({}): the part of the second chip moved on by a row", c + 1, test_.calls[c].op),
            ran);
    }
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      const TensorSpec& spec = set_.inputs[i];
      const bool is_spread =
          spec.placement && volume(spec.placement->mesh) > 1 &&
          std::ranges::any_of(spec.placement->dims, [](const std::string& dim) { return dim.starts_with("Shard"); });
      if (!is_spread) continue;
      const Ran ran = function.run(device_, inputs_, {.permuted_input = {}, .shifted_call = {}, .shifted_input = i});
      if (has_effect(ran))
        return judged(name, fmt::format("the part of {} moved on by a row", test_.inputs[i].name), ran);
    }
    return {name, "", "",
            volume(test_.mesh) > 1 ? "no tensor is spread over the chips" : "one chip: nothing is spread"};
  }

  const FusedTest& test_;
  const ParameterSet& set_;
  Device& device_;
  std::uint64_t seed_;
  std::vector<HostTensor> inputs_;
  Ran right_, exact_;
};

}  // namespace

std::vector<Control> run_controls(const FusedTest& test, const ParameterSet& set, Device& device, std::uint64_t seed) {
  return Controls(test, set, device, seed).run();
}

}  // namespace opwright::fuse
