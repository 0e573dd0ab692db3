// ttnn.experimental.all_gather_async: every chip along an axis of the mesh gets the parts of all.
#include <fmt/format.h>

#include "ops/collectives.h"
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_none(call, {"dim", "topology", "use_optimal_ccl_for_llama", "use_broadcast"}));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const auto links, unsigned_argument(call, "num_links"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  const Shape mesh = mesh_of(call, *input, board);
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t chips, ring_size(call, mesh));
  for (const std::string_view hint : {"chunks_per_sync", "num_workers_per_link", "num_buffers_per_channel"})
    OPWRIGHT_CHECK(unsigned_argument(call, hint));
  OPWRIGHT_CHECK_ASSIGN(const bool reversed, call.flag("reverse_order", false));
  if (reversed) return unsupported("reverse_order", "gathering in reverse order is not modelled");
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  const std::int64_t at = dim < 0 ? dim + rank : dim;
  OPWRIGHT_REQUIRE(at >= 0 && at < rank, "Dimension input should be in between -{} and {}, but has {}", rank, rank - 1,
                   dim);
  OPWRIGHT_REQUIRE(chips > 1, "all_gather_async op will only work for num_devices > 1, but has {}", chips);
  // A line through all chips of a mesh with two axes has no cables for its turns.
  OPWRIGHT_REQUIRE(
      call.passed("cluster_axis") || mesh[0] == 1 || mesh[1] == 1,
      "Could not find any forwarding direction: 1D fabric on a 2D mesh_device requires cluster_axis to be set");
  OPWRIGHT_REQUIRE(rank >= 2, "AllGatherAsync requires tensor of rank 2 or greater");
  OPWRIGHT_REQUIRE(!links || *links > 0, "Error, num_links should be more than 0 but has {}", links.value_or(0));
  OPWRIGHT_REQUIRE(!links || *links <= board.grid.y, "Worker cores used by links are parallelizaed over rows");
  const MemoryConfig out = asked != nullptr ? *asked : memory_of(*input);
  for (const MemoryConfig* memory : {&out, input->memory ? &*input->memory : &out})
    OPWRIGHT_REQUIRE(memory->layout.value != MemoryLayout::kBlockSharded || in_l1(*memory),
                     "We don't support DRAM block sharding");
  Shape shape = input->shape;
  shape[static_cast<std::size_t>(at)] *= chips;
  std::vector<OutputSpec> outputs;
  OPWRIGHT_CHECK(add_output(outputs, moved(*input, std::move(shape), out), board));
  for (const std::string_view buffer : {"persistent_output_buffer", "persistent_output_tensor"}) {
    OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const given, optional_device_tensor(call, buffer));
    if (given == nullptr) continue;
    OPWRIGHT_REQUIRE(given->layout.value == input->layout.value,
                     "Error, Output tensor layout should be same as input tensor layout but has {}",
                     tensor_layout_text(*given));
    OPWRIGHT_REQUIRE(given->dtype.value == input->dtype.value,
                     "Error, Output tensor dtype should be same as input tensor dtype but has {}", dtype_text(*given));
    outputs = given_back(*given, buffer);
  }
  return outputs;
}

// The overload without a buffer for the output has the dimension in its place.
Checked<void> rebind(BoundCall& call) {
  const Value* first = call.find("persistent_output_buffer");
  if (first == nullptr || first->as_int() == nullptr) return {};
  const Value dim = *first;
  call.erase("persistent_output_buffer");
  call.set("dim", dim);
  return {};
}

}  // namespace

const OpSpec& all_gather_async_op() {
  constexpr Lost kHint = Lost::kNoMatter;
  static const OpSpec spec{
      .name = "ttnn.experimental.all_gather_async",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "persistent_output_buffer", .era1 = 1, .place = 1, .role = Role::kBuffer},
                 {.name = "dim", .era1 = 2, .required = true, .place = 2},
                 {.name = "multi_device_global_semaphore", .era1 = 3, .lost = kHint, .place = 3},
                 {.name = "num_links", .era1 = 4},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "topology", .era1 = 6, .lost = kHint},
                 {.name = "subdevice_id", .era1 = 7, .lost = kHint},
                 {.name = "cluster_axis", .era1 = 8},
                 {.name = "use_optimal_ccl_for_llama", .era1 = 9},
                 {.name = "barrier_semaphore", .era1 = 10, .lost = kHint},
                 {.name = "chunks_per_sync", .era1 = 11},
                 {.name = "num_workers_per_link", .era1 = 12},
                 {.name = "num_buffers_per_channel", .era1 = 13},
                 {.name = "reverse_order", .era1 = 14},
                 {.name = "sub_core_grids", .era1 = 15, .lost = kHint},
                 {.name = "mesh_device", .lost = kHint},
                 {.name = "use_broadcast"},
                 {.name = "persistent_output_tensor", .role = Role::kBuffer}},
      .ccl = true,
      .rebind = rebind,
      .infer = infer,
      .reference = collective_reference,
      .budget = collective_budget};
  return spec;
}

}  // namespace opwright
