#include "fuse/spelled_tensor.h"

#include <fmt/format.h>

#include "fuse/python_parts.h"
#include "gentest/input_fill.h"
#include "gentest/spell_call.h"
#include "gentest/spell_value.h"
#include "ops/all_ops.h"

namespace opwright::fuse {
namespace {

using gentest::Python;

Error at_fault(const ParameterSet& set, const std::string& name, const std::string& why) {
  return {ErrorCode::kUnsupported, fmt::format("tensor {} of {}: {}", name, set.id, why)};
}

// (2, 3), (None, 3): the dimension that is split over each axis of the mesh.
Result<Python> spell_spread(const TensorSpec& spec, const Shape& mesh) {
  Python out = Python::call("");
  if (!spec.placement || spec.placement->dims.size() != mesh.size())
    return fail(ErrorCode::kUnsupported, "the trace does not say how it is spread over the mesh");
  for (const std::string& dim : spec.placement->dims) {
    const auto placed = gentest::spell_placement(dim);
    if (!placed) return fail(ErrorCode::kUnsupported, placed.error().message);
    out.add(placed->items.empty() ? Python::atom("None") : placed->items[0].second);
  }
  return out;
}

Result<Python> spell(const ParameterSet& set, const TensorSpec& spec, const std::string& name) {
  if (!spec.has_shape || !spec.dtype.present() || !spec.layout.present())
    return fail(at_fault(set, name, "the trace lost its shape, dtype or layout"));
  if (spec.tile && *spec.tile != Shape{32, 32}) return fail(at_fault(set, name, "its tiles are not 32x32"));
  const auto dtype = gentest::spell_dtype(spec.dtype);
  const auto layout = gentest::spell_layout(spec.layout);
  if (!dtype || !layout) return fail(at_fault(set, name, (dtype ? layout : dtype).error().message));
  Python out = Python::call("Tensor");
  out.add(gentest::python_tuple(spec.device_shape.value_or(spec.shape))).add(*dtype);
  bool by_position = true;
  if (layout->text == "ttnn.TILE_LAYOUT")
    by_position = false;
  else
    out.add(*layout);
  if (spec.memory) {
    auto memory = gentest::spell_memory(*spec.memory);
    if (!memory) return fail(at_fault(set, name, memory.error().message));
    if (memory->text != "ttnn.DRAM_MEMORY_CONFIG") out.add(*std::move(memory), by_position ? "" : "memory_config");
  }
  return out;
}

// The function of the template: `op_data.positions(64)` is `positions_values(64)` there.
Python values_of(Python fill) {
  constexpr std::string_view kFrom = "op_data.";
  if (!fill.text.starts_with(kFrom)) return fill;
  fill.text = fill.text == "op_data.values" ? "exact_values" : fill.text.substr(kFrom.size()) + "_values";
  return fill;
}

Python fill_of(const FusedTest& test, const ParameterSet& set, std::size_t input) {
  const auto use = first_use(test, input);
  Python fill;
  if (use) {
    gentest::Recorded recorded;
    recorded.config = set.calls[use->call].config;
    recorded.machine = test.machine;
    const gentest::Understood known = gentest::understand(recorded);
    std::size_t tensor = 0;
    for (const Argument& argument : recorded.config.args) {
      std::size_t item = 0;
      for_each_tensor(argument.value, [&](const TensorSpec&) {
        if (tensor++ == use->tensor && known.bound) {
          const Param* param = find_param(*known.op, Convention::kPython, argument.name);
          if (const auto slot =
                  known.bound->slot(param != nullptr ? param->name : std::string_view(argument.name), item))
            fill = gentest::fill_of(*known.op, *known.bound, *slot);
        }
        ++item;
      });
    }
  }
  if (!fill.text.empty()) return values_of(std::move(fill));
  const DType dtype = set.inputs[input].dtype.value;
  if (is_integer(dtype)) return Python::call("integers_values").add(Python::atom("64"));
  return test.inputs[input].role == Role::kWeight ? Python::atom("weight_values") : Python{};
}

}  // namespace

Result<SpelledTensor> spell_input(const FusedTest& test, const ParameterSet& set, std::size_t input) {
  const TensorSpec& spec = set.inputs[input];
  const std::string& name = test.inputs[input].name;
  OPWRIGHT_TRY_ASSIGN(Python text, spell(set, spec, name));
  SpelledTensor out{std::move(text), {}};
  Python fill = fill_of(test, set, input);
  if (!fill.text.empty()) {
    if (!has_part(fill.text)) return fail(at_fault(set, name, "no values for " + fill.text));
    out.fill = fill.text;
    out.text.add(std::move(fill), "fill");
  }
  if (volume(test.mesh) > 1) {
    auto spread = spell_spread(spec, test.mesh);
    if (!spread) return fail(at_fault(set, name, spread.error().message));
    out.text.add(*std::move(spread), "spread");
  }
  if (!set.contents[input].empty()) out.text.add(Python::atom(gentest::python_string(set.contents[input])), "data");
  if (spec.storage.value == StorageType::kHost) out.text.add(Python::atom("True"), "host");
  return out;
}

Result<SpelledTensor> spell_output(const FusedTest& test, const ParameterSet& set, std::size_t output) {
  OPWRIGHT_TRY_ASSIGN(Python text, spell(set, set.outputs[output], test.outputs[output].name));
  SpelledTensor out{std::move(text), {}};
  if (input_of(test, test.outputs[output].source)) out.text.add(Python::atom("True"), "in_place");
  return out;
}

std::optional<std::size_t> input_of(const FusedTest& test, const Source& source) {
  Source at = source;
  while (at.from == Source::From::kResult) {
    const FusedCall& call = test.calls[at.call];
    const std::int32_t shared = at.result < call.shares.size() ? call.shares[at.result] : -1;
    if (shared < 0) return std::nullopt;
    at = call.tensors[static_cast<std::size_t>(shared)];
  }
  return at.input;
}

}  // namespace opwright::fuse
