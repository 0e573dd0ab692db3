// Exchanges between the chips of a mesh, a row each: what they refuse and return on one chip. What they compute is told
// by collectives.cpp. all_gather_async, whose arguments changed with time, has a file of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "dialect/dialect.h"
#include "dialect/ttnn/collective_calls.h"
#include "ops/collectives.h"
#include "ops/families.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

struct Row {
  std::string_view name;
  std::string_view buffer = "output_tensor";  // given for the result
  bool needs_dim = false;
};
constexpr std::array kRows{
    Row{.name = "ttnn.all_broadcast", .buffer = ""},
    Row{.name = "ttnn.all_gather", .needs_dim = true},
    Row{.name = "ttnn.all_reduce", .buffer = ""},
    Row{.name = "ttnn.broadcast", .buffer = ""},
    Row{.name = "ttnn.experimental.all_gather_async_reversed", .buffer = "persistent_output_buffer", .needs_dim = true},
    Row{.name = "ttnn.experimental.all_reduce_async", .buffer = "buffer_tensor"},
    Row{.name = "ttnn.experimental.high_bw_all_gather", .needs_dim = true},
    Row{.name = "ttnn.experimental.reduce_scatter_minimal_async", .buffer = "", .needs_dim = true},
    Row{.name = "ttnn.experimental.reduce_scatter_minimal_direct", .buffer = "", .needs_dim = true},
    Row{.name = "ttnn.experimental.strided_all_gather_async", .buffer = "persistent_output_buffer", .needs_dim = true},
    Row{.name = "ttnn.mesh_partition", .buffer = "", .needs_dim = true},
    Row{.name = "ttnn.point_to_point"},
    Row{.name = "ttnn.reduce_scatter", .needs_dim = true},
};

// What decides how fast, and by which cables, an exchange runs: it changes no value.
constexpr std::array kHints{
    std::string_view("topology"),
    std::string_view("subdevice_id"),
    std::string_view("multi_device_global_semaphore"),
    std::string_view("barrier_semaphore"),
    std::string_view("barrier_semaphores"),
    std::string_view("rs_global_semaphores"),
    std::string_view("ag_global_semaphores"),
    std::string_view("chunks_per_sync"),
    std::string_view("num_workers_per_link"),
    std::string_view("num_buffers_per_channel"),
    std::string_view("persistent_output_buffers"),
    std::string_view("intermediate_memory_config"),
    std::string_view("sender_coord"),
    std::string_view("receiver_coord"),
    std::string_view("compute_kernel_config"),
    std::string_view("sub_core_grids"),
    std::string_view("sub_core_grid"),
    std::string_view("mesh_device"),
    std::string_view("use_broadcast"),
    std::string_view("intermediate_output_tensor"),
    std::string_view("use_noc1_only"),
    std::string_view("use_optimal_ccl_for_llama"),
    std::string_view("use_l1_small_for_semaphores"),
    std::string_view("intermediate_tensor"),
    std::string_view("math_op"),
    std::string_view("num_devices"),
    std::string_view("fp32_dest_acc"),
};

Param param(const Row& row, std::string_view name) {
  if (name == "input_tensor") return {.name = name, .era1 = 0, .required = true, .role = Role::kPlain};
  if (name == row.buffer) return {.name = name, .role = Role::kBuffer};
  if (name == "dim") return {.name = name, .required = row.needs_dim};
  const bool hint = std::ranges::find(kHints, name) != kHints.end();
  return {.name = name,
          .lost = hint ? Lost::kNoMatter : Lost::kRefuse,
          .role = hint ? std::optional(Role::kBuffer) : std::nullopt};
}

// Those that Python takes by position first.
std::vector<Param> params(const Row& row) {
  std::vector<std::string_view> names;
  for (const auto& name : signature_of(row.name)) names.push_back(name);
  for (const std::string_view name : {"input_tensor", "dim", "cluster_axis", "num_links", "memory_config", "dtype"})
    if (name != "dim" || row.needs_dim) names.push_back(name);
  if (!row.buffer.empty()) names.push_back(row.buffer);
  names.insert(names.end(), kHints.begin(), kHints.end());
  std::vector<Param> out;
  for (const std::string_view name : names)
    if (std::ranges::find(out, name, &Param::name) == out.end()) out.push_back(param(row, name));
  return out;
}

// Numbers of tiles, or of elements where there are none, that lie along a dimension.
std::int64_t units_along(const TensorSpec& input, std::size_t dim) {
  const Shape padded = padded_shape(input);
  const std::size_t from_end = input.shape.size() - dim;
  const std::int64_t size = padded[padded.size() - from_end];
  return tiled(input) && from_end <= 2 ? size / 32 : size;
}

Checked<std::vector<OutputSpec>> infer(const Row& row, const BoundCall& call, const Board& board) {
  const Collective kind = collective_of(row.name);
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const auto links, unsigned_argument(call, "num_links"));
  if (row.needs_dim) OPWRIGHT_CHECK(refuse_none(call, {"dim"}));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  if (dtype != input->dtype.value) return unsupported("dtype", "an exchange that converts");
  const Shape mesh = mesh_of(call, *input, board);
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t chips, ring_size(call, mesh));
  if (kind == Collective::kGather)
    OPWRIGHT_REQUIRE(call.passed("cluster_axis") || mesh[0] == 1 || mesh[1] == 1,
                     "1D fabric on a 2D mesh_device requires cluster_axis to be set");
  OPWRIGHT_REQUIRE(!links || *links > 0, "Error, num_links should be more than 0 but has {}", links.value_or(0));
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  const std::int64_t at = dim < 0 ? dim + rank : dim;
  if (row.needs_dim) {
    if (kind == Collective::kGather)
      OPWRIGHT_REQUIRE(at >= 0 && at < rank, "Invalid gather dim {} for {}D input tensor", dim, rank);
    OPWRIGHT_REQUIRE(at >= 0 && at < rank,
                     "Index is out of bounds for the rank, should be between 0 and {} however is {}", rank - 1, dim);
  }
  Shape shape = input->shape;
  if (kind == Collective::kGather) {
    shape[static_cast<std::size_t>(at)] *= chips;
  } else if (kind == Collective::kReduceScatter || kind == Collective::kPartition) {
    OPWRIGHT_REQUIRE(chips > 0 && units_along(*input, static_cast<std::size_t>(at)) % chips == 0 &&
                         shape[static_cast<std::size_t>(at)] % chips == 0,
                     "Number of tiles at dimension {} must be divisible by ring_size", dim);
    shape[static_cast<std::size_t>(at)] /= chips;
  }
  MemoryConfig memory = asked != nullptr ? *asked : memory_of(*input);
  std::vector<OutputSpec> outputs;
  const std::int64_t count = kind == Collective::kAllBroadcast ? chips : 1;
  for (std::int64_t i = 0; i < count; ++i) OPWRIGHT_CHECK(add_output(outputs, moved(*input, shape, memory), board));
  // What all_reduce_async is given is for what goes between the chips.
  if (row.buffer.empty() || kind == Collective::kAllReduce || call.tensor(row.buffer) == nullptr) return outputs;
  return given_back(*call.tensor(row.buffer), row.buffer);
}

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  return {.name = kRows[At].name,
          .params = params(kRows[At]),
          .ccl = true,
          .infer = [](const BoundCall& call, const Board& board) { return infer(kRows[At], call, board); },
          .reference = collective_reference,
          .budget = collective_budget};
}

}  // namespace

// The mesh that the tensor is spread over, as its trace says; else the whole board, whose chips old traces often took
// as one line.
Shape mesh_of(const BoundCall& call, const TensorSpec& input, const Board& board) {
  if (input.placement && input.placement->mesh.size() == 2) return input.placement->mesh;
  if (call.convention == Convention::kCpp) return {1, board.chips()};
  return board.mesh;
}

// Chips that take part: those along the axis, or all of them.
Checked<std::int64_t> ring_size(const BoundCall& call, const Shape& mesh) {
  OPWRIGHT_CHECK_ASSIGN(const auto axis, unsigned_argument(call, "cluster_axis"));
  if (!axis) return mesh[0] * mesh[1];
  OPWRIGHT_REQUIRE(*axis < 2, "cluster axis {} is out of range for mesh shape rank 2", *axis);
  return mesh[static_cast<std::size_t>(*axis)];
}

std::span<const OpSpec> collective_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright
