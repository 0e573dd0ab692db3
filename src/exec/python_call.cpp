#include "exec/python_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"
#include "model/position_name.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

// Parameters that are flags: C++ traces write them as 0 and 1, Python's bindings take only a bool.
constexpr std::string_view kFlags =
    " accurate_mode ceil_mode correction count_include_pad deallocate_activation fast_and_approximate_mode inplace "
    "is_causal is_causal_mask is_decode_mode is_l1_aligned keep_l1_aligned keepdim largest legacy_tests "
    "numeric_stable overlap_qk_coregrid pad_output return_indices return_output_dim return_weights_and_bias "
    "reverse_order share_cache skip_negative_entries skip_padding_fill sorted transpose_a transpose_b "
    "transpose_k_heads use_2d_core_grid use_legacy use_low_perf use_multicore use_optimal_ccl_for_llama "
    "use_pack_untilize use_welford ";

// C++ traces do not say where a tensor lies: one with a memory config lies on the device. They do say its alignment,
// which Python cannot ask for, and need not where the tensor gets the same padding without.
TensorSpec python_tensor(const TensorSpec& recorded) {
  TensorSpec spec = recorded;
  if (!spec.storage.present() && spec.memory) spec.storage.value = StorageType::kDevice;
  std::erase_if(spec.more, [](const auto& field) { return field.first == "alignment"; });
  if (padded_shape(spec) != padded_shape(recorded)) spec.more = recorded.more;
  return spec;
}

// Fields of configs that Python's constructors call otherwise.
Value python_struct(std::string_view param, const Struct& s) {
  if (param == "core_grid" && s.type == "CoreCoord") return Value::structure("CoreGrid", s.fields);
  Fields fields = s.fields;
  for (auto& [name, value] : fields) {
    if (s.type == "SDPAProgramConfig" && name == "compute_grid") name = "compute_with_storage_grid_size";
    if (name == "hop_cores" && value.as_dict() != nullptr && value.as_dict()->empty())
      value = Value::structure("CoreRangeSet", {{"", Value(List{})}});  // `{}` is how C++ prints a set without ranges
  }
  return Value::structure(s.type, std::move(fields));
}

Value python_value(std::string_view param, const Value& value) {
  if (const TensorSpec* spec = value.as_tensor()) return Value::tensor(python_tensor(*spec));
  if (const Struct* s = value.as_struct()) return python_struct(param, *s);
  if (const List* list = value.as_list()) {
    List out;
    for (const Value& item : *list) out.push_back(python_value("", item));
    return Value(std::move(out));
  }
  const std::int64_t* number = value.as_int();
  if (number != nullptr && (*number == 0 || *number == 1) &&
      kFlags.find(fmt::format(" {} ", param)) != std::string_view::npos)
    return Value(*number == 1);
  return value;
}

// C++ lists every parameter. What says nothing is not passed: nullopt, no activations, and flags that Python has not
// (any more), at the value that they had when nobody set them.
bool says_nothing(const Argument& argument) {
  if (argument.value.is_null()) return true;
  const List* list = argument.value.as_list();
  if (list != nullptr && list->empty() && argument.name.ends_with("activations")) return true;
  const std::int64_t* number = argument.value.as_int();
  if (number == nullptr) return false;
  if (argument.name == "use_pack_untilize") return *number == 1;
  return *number == 0 &&
         (argument.name == "is_l1_aligned" || argument.name == "use_optimal_ccl_for_llama" ||
          argument.name == "use_legacy" || argument.name == "accurate_mode" || argument.name == "reverse_order");
}

// A reshape that is given a padded shape beside its shape: the overload of Python that takes both wants the library's
// own Shape for each. Where the padded shape is what the layout gives anyway, the usual overload says the same.
bool needs_padding(const BoundCall& bound) {
  const auto shape = bound.ints("shape"), padded = bound.ints("padded_shape");
  const TensorSpec* input = bound.tensor("input_tensor");
  if (!shape || !*shape || !padded || !*padded || input == nullptr) return false;
  return volume(**shape) != volume(input->shape) ||
         padded_shape(**shape, input->layout.value, tile_of(*input)) != **padded;
}

// `input_tensor_a`, `input_a`
bool is_operand(std::string_view name, char which) {
  if (name.empty() || name.back() != which) return false;
  name.remove_suffix(1);
  return name == "input_tensor_" || name == "input_";
}

Value library_shape(const Value& list) { return Value::structure("Shape", {{"", list}}); }

std::string_view python_name(const OpSpec& op, const Argument& argument) {
  const auto param = std::ranges::find(op.params, argument.name, &Param::name);
  const bool renamed = param != op.params.end() && !param->list_name.empty() && argument.value.as_list() != nullptr;
  return renamed ? param->list_name : std::string_view(argument.name);
}

}  // namespace

Checked<BoundCall> python_call(const OpConfig& config) {
  const OpSpec* op = find_op(config.op);
  if (op == nullptr)
    return unsupported("", fmt::format("{}: the trace has C++ arguments by position, and nothing here knows what they "
                                       "are called in Python",
                                       config.op));
  OPWRIGHT_CHECK_ASSIGN(const BoundCall bound, bind(*op, config));
  BoundCall call;
  call.op = bound.op;
  call.assumed = bound.assumed;
  const bool both_shapes = needs_padding(bound);
  for (std::size_t i = 0; i < bound.args.size(); ++i) {
    const Argument& argument = bound.args[i];
    // The operands of binary operations: overloads call them otherwise (input_b, value), their places are the same.
    if ((i == 0 && is_operand(argument.name, 'a')) || (i == 1 && is_operand(argument.name, 'b'))) {
      call.set(position_name(i), python_value(argument.name, argument.value));
      continue;
    }
    if (says_nothing(argument) || (argument.name == "padded_shape" && !both_shapes)) continue;
    if (both_shapes && (argument.name == "shape" || argument.name == "padded_shape")) {
      call.set(argument.name == "shape" ? "logical_shape" : "padded_shape", library_shape(argument.value));
      continue;
    }
    call.set(python_name(*op, argument), python_value(argument.name, argument.value));
  }
  // A handle that a trace cannot hold; the operations that take it need it.
  const bool takes_device = std::ranges::any_of(op->params, [](const Param& param) { return param.name == "device"; });
  if (takes_device && !call.passed("device")) call.set("device", Value::opaque("MeshDevice", "device"));
  return call;
}

}  // namespace opwright
