#include "fuse/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dialect/ttnn/collective_calls.h"
#include "fuse/call_graph.h"
#include "model/quantize.h"
#include "ops/all_ops.h"
#include "ops/random.h"
#include "replay/exchange.h"
#include "replay/outside_data.h"

namespace opwright::fuse {
namespace {

// A field that no trace has: through binding it says which tensor of the configuration this was.
constexpr std::string_view kTensorField = "@tensor";

Value marked(const Value& value, std::int64_t& next) {
  if (const TensorSpec* spec = value.as_tensor()) {
    TensorSpec out = *spec;
    out.more.emplace_back(std::string(kTensorField), Value(next++));
    return Value::tensor(std::move(out));
  }
  const List* list = value.as_list();
  if (list == nullptr) return value;
  List out;
  for (const Value& item : *list) out.push_back(marked(item, next));
  return Value(std::move(out));
}

std::size_t mark_of(const TensorSpec& spec) {
  for (const auto& [name, value] : spec.more)
    if (name == kTensorField && value.as_int() != nullptr) return static_cast<std::size_t>(*value.as_int());
  return SIZE_MAX;
}

std::vector<std::size_t> result_places(const std::vector<OutputSpec>& outputs, const std::vector<TensorSpec>& results) {
  std::vector<std::size_t> out(outputs.size(), SIZE_MAX);
  std::size_t next = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs.size() == results.size()) {
      out[o] = o;
      continue;
    }
    for (std::size_t r = next; r < results.size(); ++r)
      if (results[r].shape == outputs[o].spec.shape) {
        out[o] = r;
        next = r + 1;
        break;
      }
  }
  return out;
}

bool all_finite(const HostTensor& tensor) {
  return std::ranges::all_of(tensor.floats, [](float value) { return std::isfinite(value); });
}

// Rows that lie one behind the other, each one place further: the first becomes the last.
void shift_rows(HostTensor& tensor, std::size_t begin, std::size_t count) {
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(1, row_length(tensor.spec.shape)));
  const std::size_t step = count > length ? length : count > 16 ? 16 : 1;
  const auto turn = [&](auto& values) {
    if (values.size() < begin + count || count < 2) return;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    std::rotate(first, first + static_cast<std::ptrdiff_t>(step), first + static_cast<std::ptrdiff_t>(count));
  };
  turn(tensor.floats);
  turn(tensor.ints);
}

void permute(HostTensor& tensor) {
  const auto mix = [](auto& values) {
    Random random(values.size());
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  };
  mix(tensor.floats);
  mix(tensor.ints);
  // In another order neighbours share other exponents.
  if (!tensor.integer()) quantize(tensor);
}

Result<Function::Call> prepare_call(const FusedCall& call, const CallParameters& parameters, const Board& board) {
  Function::Call out;
  if (only_frees(call.op)) {
    out.does_nothing = true;
    return out;
  }
  std::int64_t next = 0;
  OpConfig config = parameters.config;
  for (Argument& argument : config.args) argument.value = marked(argument.value, next);
  const auto places_of = [](const BoundCall& bound) {
    std::vector<std::size_t> places;
    for (const TensorSlot& tensor : bound.tensors) places.push_back(mark_of(tensor.spec));
    return places;
  };
  const OpSpec* op = find_op(call.op);
  if (collective_of(call.op) != Collective::kNone) {
    auto planned = replay::plan_exchange(parameters.config, parameters.results);
    if (!planned) return fail(ErrorCode::kUnsupported, planned.error().message);
    out.plan = std::move(planned->plan);
    out.exchange = planned->exchange;
    out.tensors = places_of(BoundCall(config.op, config.convention, config.args));
  } else if (op != nullptr) {
    auto plan = plan_call(parameters.config, board);
    if (!plan) return fail(ErrorCode::kUnsupported, plan.error().message);
    out.plan = *std::move(plan);
    const auto bound = bind(*op, config);
    if (!bound) return fail(ErrorCode::kUnsupported, bound.error().message);
    out.tensors = places_of(*bound);
  } else if (is_transparent(call.op) && call.results == 1 && !call.tensors.empty()) {
    out.carries = true;
    return out;
  } else {
    return fail(ErrorCode::kUnsupported, "nothing is known of this operation");
  }
  out.tensors.resize(out.plan.call.tensors.size(), SIZE_MAX);
  for (const std::size_t place : out.tensors)
    if (place >= call.tensors.size())
      return fail(ErrorCode::kUnsupported, "a tensor of it is not among those that the test describes");
  out.result_of = result_places(out.plan.outputs, parameters.results);
  return out;
}

}  // namespace

Result<Function> Function::prepare(const FusedTest& test, const ParameterSet& set, const Board& board) {
  Function out;
  out.test_ = &test;
  out.set_ = &set;
  for (std::size_t c = 0; c < test.calls.size(); ++c) {
    auto call = prepare_call(test.calls[c], set.calls[c], board);
    if (!call)
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: call {} ({}): {}", set.id, c + 1, test.calls[c].op, call.error().message));
    out.calls_.push_back(*std::move(call));
  }
  return out;
}

// Tensors that share memory share its values.
struct Function::Memory {
  std::vector<HostTensor> held;                      // by storage
  std::vector<std::size_t> of_input;                 // input -> storage
  std::vector<std::vector<std::size_t>> of_results;  // call, result -> storage

  std::size_t storage(const Source& source) const {
    return source.from == Source::From::kInput ? of_input[source.input] : of_results[source.call][source.result];
  }
  std::size_t add(HostTensor tensor) {
    held.push_back(std::move(tensor));
    return held.size() - 1;
  }
  // The values as a tensor of that spec.
  HostTensor as(const Source& source, const TensorSpec& spec) const {
    HostTensor out = held[storage(source)];
    out.spec = spec;
    return out;
  }
};

std::vector<HostTensor> Function::inputs(std::uint64_t seed) const {
  static const OpSpec kPlain{};
  std::vector<HostTensor> out;
  for (std::size_t i = 0; i < test_->inputs.size(); ++i) {
    const DataRecipe recipe{Distribution::kNormal, xxh64(fmt::format("{}:{}", seed, test_->inputs[i].name))};
    const Source wanted = Source::of_input(i);
    std::optional<HostTensor> made;
    for (std::size_t c = 0; c < calls_.size() && !made; ++c) {
      const Call& call = calls_[c];
      for (std::size_t t = 0; t < call.tensors.size() && !made; ++t)
        if (test_->calls[c].tensors[call.tensors[t]] == wanted)
          made = replay::recipe_input(*call.plan.op, call.plan.call, t, recipe);
    }
    if (!made) {  // taken by calls that move tensors alone
      BoundCall alone;
      alone.tensors.push_back({"input", 0, set_->inputs[i]});
      made = replay::recipe_input(kPlain, alone, 0, recipe);
    }
    out.push_back(*std::move(made));
  }
  return out;
}

Ran Function::run(Device& device, std::vector<HostTensor> inputs, const Spoil& spoil) const {
  return walk(std::move(inputs), &device, spoil);
}
Ran Function::exact(std::vector<HostTensor> inputs) const { return walk(std::move(inputs), nullptr, {}); }

// One of them computes each call: the device, or where there is none the operator's reference.
Ran Function::walk(std::vector<HostTensor> inputs, Device* device, const Spoil& spoil) const {
  Ran ran;
  Memory memory;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (spoil.permuted_input == i) permute(inputs[i]);
    if (spoil.shifted_input == i) shift_rows(inputs[i], 0, static_cast<std::size_t>(inputs[i].size()));
    memory.of_input.push_back(memory.add(std::move(inputs[i])));
  }
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const Call& call = calls_[c];
    const FusedCall& wired = test_->calls[c];
    ran.at = c;
    std::vector<std::size_t>& results = memory.of_results.emplace_back(wired.results, SIZE_MAX);
    if (call.does_nothing) continue;
    if (call.carries) {
      HostTensor carried = memory.as(wired.tensors.front(), set_->calls[c].results.front());
      const auto have = static_cast<std::int64_t>(carried.floats.size() + carried.ints.size());
      if (have != carried.size() || carried.integer() == carried.ints.empty()) {
        ran.refused = "it makes another number or kind of elements of its tensor";
        return ran;
      }
      if (!carried.integer() && device != nullptr) quantize(carried);
      results[0] = wired.shares[0] >= 0 ? memory.storage(wired.tensors.front()) : memory.add(std::move(carried));
      continue;
    }
    std::vector<HostTensor> given;
    for (std::size_t t = 0; t < call.tensors.size(); ++t)
      given.push_back(memory.as(wired.tensors[call.tensors[t]], call.plan.call.tensors[t].spec));
    if (call.exchange && !given.empty()) {
      const auto own = static_cast<std::size_t>(given.front().size());
      replay::add_parts(*call.exchange, given.front());
      if (spoil.shifted_call == c) shift_rows(given.front(), own, own);
    }
    std::vector<HostTensor> made;
    if (device != nullptr) {
      const DeviceCall order{.call = call.plan.call, .outputs = call.plan.outputs, .memory = false};
      auto came = device->run(order, given);
      if (!came) {
        ran.refused = came.error().message;
        return ran;
      }
      made = std::move(came->outputs);
    } else {
      if (call.plan.op->reference == nullptr) {
        ran.refused = "it has no reference";
        return ran;
      }
      for (std::size_t o = 0; o < call.plan.outputs.size(); ++o) {
        const TensorSpec& spec = call.plan.outputs[o].spec;
        Rows rows;
        rows.length = std::max<std::int64_t>(1, row_length(spec.shape));
        rows.total = volume(spec.shape) / rows.length;
        auto exact = call.plan.op->reference({call.plan.call, given, call.plan.outputs, o, rows});
        if (!exact) {
          ran.refused = exact.error().message;
          return ran;
        }
        HostTensor tensor{spec, {}, {}};
        replay::Values values = replay::kept_exact(exact->value, tensor.integer());
        tensor.floats = std::move(values.floats);
        tensor.ints = std::move(values.ints);
        made.push_back(std::move(tensor));
      }
    }
    for (std::size_t o = 0; o < made.size() && o < call.plan.outputs.size(); ++o) {
      std::size_t into = SIZE_MAX;
      if (const std::string& alias = call.plan.outputs[o].alias; !alias.empty())
        if (const auto slot = call.plan.call.slot(alias)) into = memory.storage(wired.tensors[call.tensors[*slot]]);
      ran.is_finite = ran.is_finite && all_finite(made[o]);
      if (into == SIZE_MAX) {
        into = memory.add(std::move(made[o]));
      } else {
        memory.held[into].floats = std::move(made[o].floats);
        memory.held[into].ints = std::move(made[o].ints);
      }
      if (call.result_of[o] < results.size()) results[call.result_of[o]] = into;
    }
    for (const std::size_t result : results)
      if (result == SIZE_MAX) {
        ran.refused = "it returns a tensor that our description of the operator does not make";
        return ran;
      }
  }
  for (std::size_t o = 0; o < test_->outputs.size(); ++o)
    ran.outputs.push_back(memory.as(test_->outputs[o].source, set_->outputs[o]));
  return ran;
}

}  // namespace opwright::fuse
