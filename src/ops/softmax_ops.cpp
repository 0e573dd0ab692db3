// The other names of a scaled softmax with a mask: rows over the rules and the reference of
// scale_mask_softmax_in_place.
#include <array>
#include <utility>

#include "ops/all_ops.h"
#include "ops/families.h"
#include "ops/shared/movement.h"

namespace opwright {

const OpSpec& scale_mask_softmax_in_place_op();

namespace {

void rename(BoundCall& call, std::string_view from, std::string_view to) {
  const Value* value = call.find(from);
  if (value == nullptr) return;
  call.set(to, Value(*value));
  call.erase(from);
}

// Attention divides by the root of the head's size, and has names of its own.
Checked<void> from_attention(BoundCall& call) {
  rename(call, "tensor", "input_tensor");
  rename(call, "attention_mask", "mask");
  rename(call, "causal_mask", "is_causal_mask");
  if (!call.passed("head_size")) return {};
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t size, call.integer("head_size", 1));
  OPWRIGHT_REQUIRE(size > 0, "head_size must be positive, got {}", size);
  OPWRIGHT_REQUIRE(call.passed("mask"),
                   "Cannot apply divide by sqrt(head_size) using in-place version when attention_mask is not set.");
  return {};
}

// A result of its own in place of the input.
Checked<std::vector<OutputSpec>> beside(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(auto outputs, scale_mask_softmax_in_place_op().infer(call, board));
  const TensorSpec& input = *call.tensor("input_tensor");
  outputs.clear();
  return made(moved(input, input.shape, asked == nullptr ? memory_of(input) : *asked), board);
}

std::vector<Param> attention_params() {
  std::vector<Param> out = scale_mask_softmax_in_place_op().params;
  for (Param& param : out) param.era1 = -1;
  out.insert(out.begin(), {.name = "tensor", .era1 = 0, .role = Role::kLogits});
  out.push_back({.name = "head_size", .era1 = 1});
  out.push_back({.name = "attention_mask", .era1 = 2, .role = Role::kMask});
  for (Param& param : out)
    if (param.name == "program_config") param.era1 = 3;
  out.push_back({.name = "causal_mask", .era1 = 4});
  out.push_back({.name = "memory_config", .era1 = 5});
  return out;
}

OpSpec attention(std::string_view name, bool in_place) {
  OpSpec out = scale_mask_softmax_in_place_op();
  out.name = name;
  out.params = attention_params();
  out.rebind = from_attention;
  if (!in_place) out.infer = beside;
  return out;
}

OpSpec plain(std::string_view name, bool in_place) {
  OpSpec out = scale_mask_softmax_in_place_op();
  out.name = name;
  if (in_place) return out;
  out.params.push_back({.name = "memory_config"});
  out.infer = beside;
  return out;
}

}  // namespace

std::span<const OpSpec> softmax_ops() {
  static const std::array list{
      plain("ttnn.scale_mask_softmax", false),
      attention("ttnn.transformer.attention_softmax", false),
      attention("ttnn.transformer.attention_softmax_", true),
  };
  return list;
}

}  // namespace opwright
