// ttnn.experimental.nlp_create_qkv_heads_decode: [1, 1, users, (q + 2 kv) x d] -> q [1, users, q, d], k and v
// [1, users, kv, d], one user a core.
#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/matmul_program.h"
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

struct Heads {
  const TensorSpec* input = nullptr;
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t dim = 0;
  std::int64_t users = 0;
};

Checked<Heads> read(const BoundCall& call) {
  Heads heads;
  OPWRIGHT_CHECK(refuse_none(call, {"num_heads"}));
  OPWRIGHT_CHECK_ASSIGN(heads.input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(heads.q_heads, unsigned_argument(call, "num_heads", 0));
  OPWRIGHT_CHECK_ASSIGN(heads.kv_heads, unsigned_argument(call, "num_kv_heads", heads.q_heads));
  const Shape padded = padded_shape(*heads.input);
  OPWRIGHT_CHECK(require_rank(padded, 4));
  OPWRIGHT_CHECK(require_rank(heads.input->shape, 4));
  const std::int64_t parts = heads.q_heads + 2 * heads.kv_heads;
  OPWRIGHT_REQUIRE(heads.q_heads > 0 && padded[3] % parts == 0,
                   "Input shape {} must be divisible by num_heads + 2*num_kv_heads = {}", padded[3], parts);
  heads.dim = padded[3] / parts;
  heads.users = heads.input->shape[2];
  OPWRIGHT_CHECK_ASSIGN(heads.users, unsigned_argument(call, "slice_size", heads.users));
  return heads;
}

Checked<void> check(const BoundCall& call, const Heads& heads, bool overlapping) {
  const TensorSpec& input = *heads.input;
  const Shape& shape = input.shape;
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16, "Unsupported data format");
  OPWRIGHT_REQUIRE(tiled(input), "Only tile layout is supported for input tensor");
  OPWRIGHT_REQUIRE(shape[3] % 32 == 0 && shape[2] <= 32 && shape[1] == 1 && shape[0] == 1,
                   "Unsupported input shape = {}", shape_text(shape));
  if (sharded(input)) {
    OPWRIGHT_REQUIRE(memory_layout(input) == MemoryLayout::kWidthSharded,
                     "Current input memory layout is {}. It must be width sharded", layout_text(*input.memory));
    const ShardSpec* shard = shard_of(input);
    if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
    OPWRIGHT_REQUIRE(shard->shape[0] == physical_shape(input).height, "Shard shape must be correct");
    OPWRIGHT_REQUIRE(shard->orientation.value != Orientation::kColMajor, "Shard orientation must be ROW_MAJOR");
    OPWRIGHT_REQUIRE(overlapping || heads.dim % shard->shape[1] == 0,
                     "We don't support partial heads in shards when q and k heads are not overlapping coregrid");
    OPWRIGHT_REQUIRE(call.passed("batch_offset") == call.passed("slice_size"),
                     "Both batch_offset and slice_size must be provided or neither");
  }
  OPWRIGHT_REQUIRE(heads.q_heads >= heads.kv_heads, "num_q_heads={} must be greater than or equal to num_kv_heads={}",
                   heads.q_heads, heads.kv_heads);
  OPWRIGHT_REQUIRE(heads.users <= shape[2], "Slice size should be less than or equal to num_users");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, read(call));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(bool overlapping, call.flag("overlap_qk_coregrid", true));
  OPWRIGHT_CHECK(optional_device_tensor(call, "batch_offset"));
  OPWRIGHT_CHECK(refuse_unknown(call, {"output_tensors"}));
  // The cores of the users are the first of those that the memory config names, or of all.
  const bool named = asked != nullptr && asked->shard && !asked->shard->grid.empty();
  const std::vector<CoreRange> within =
      named ? asked->shard->grid : std::vector<CoreRange>{{{0, 0}, {board.grid.x - 1, board.grid.y - 1}}};
  OPWRIGHT_CHECK_ASSIGN(const auto users, cores_from(within.front().start, heads.users, within));
  // Interleaved inputs are always read by the first cores of the device, and q and k share them.
  if (!sharded(*heads.input)) {
    overlapping = true;
    OPWRIGHT_REQUIRE(cores_of(users, Orientation::kRowMajor) ==
                         cores_of(first_cores(heads.users, board.grid, true), Orientation::kRowMajor),
                     "Kernel 'reader' is setting runtime_arg_values for nodes that the kernel does not run on");
  }
  std::vector<CoreRange> k_users = users;
  if (!overlapping) {
    const std::int64_t available = core_count(within);
    OPWRIGHT_REQUIRE(available >= 2 * heads.users,
                     "Input coregrid size is {}. Need cores atleast double of num_users for decode when q and k heads "
                     "are not overlapping coregrid",
                     available);
    OPWRIGHT_CHECK_ASSIGN(const auto next, cores_from(within.front().start, heads.users + 1, within));
    OPWRIGHT_CHECK_ASSIGN(k_users, cores_from(next.back().end, heads.users, within));
  }
  const auto output = [&](std::int64_t count, const std::vector<CoreRange>& grid) {
    MemoryConfig memory = interleaved(BufferType::kL1);
    memory.layout.value = MemoryLayout::kHeightSharded;
    memory = with_shard(memory, ShardSpec{.grid = grid,
                                          .shape = {round_up(count, 32), heads.dim},
                                          .orientation = {.value = Orientation::kRowMajor},
                                          .distribution = {},
                                          .more = {}});
    return moved(*heads.input, {heads.input->shape[0], heads.users, count, heads.dim}, memory);
  };
  OPWRIGHT_CHECK(check(call, heads, overlapping));
  std::vector<OutputSpec> outputs;
  OPWRIGHT_CHECK(add_output(outputs, output(heads.q_heads, users), board));
  OPWRIGHT_CHECK(add_output(outputs, output(heads.kv_heads, k_users), board));
  OPWRIGHT_CHECK(add_output(outputs, output(heads.kv_heads, users), board));
  return outputs;
}

// Old traces have the arguments in one of two orders; in the older one the memory config stands where the newer has
// the slice size.
Checked<void> rebind(BoundCall& call) {
  if (call.memory("slice_size") == nullptr) return {};
  const auto value = [&](std::string_view param) { return call.find(param) == nullptr ? Value() : *call.find(param); };
  const Value memory = value("slice_size");
  const Value slice = value("batch_offset");
  const Value offset = value("overlap_qk_coregrid");
  const Value overlapping = value("output_tensors");
  call.set("memory_config", memory);
  call.set("slice_size", slice);
  call.set("batch_offset", offset);
  call.set("overlap_qk_coregrid", overlapping);
  call.erase("output_tensors");
  return {};
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Heads heads, read(job.call));
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* offset = job.input("batch_offset");
  const std::int64_t first = offset == nullptr || offset->size() == 0 ? 0 : static_cast<std::int64_t>(offset->at(0));
  const std::int64_t width = input.spec.shape[3];
  const std::int64_t count = job.output == 0 ? heads.q_heads : heads.kv_heads;
  const std::int64_t before = job.output == 0 ? 0 : job.output == 1 ? heads.q_heads : heads.q_heads + heads.kv_heads;
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t user = std::clamp<std::int64_t>(first + job.rows.at(r) / count, 0, input.spec.shape[2] - 1);
    const std::int64_t column = (before + job.rows.at(r) % count) * heads.dim;
    for (std::int64_t i = 0; i < job.rows.length; ++i) exact.value.push_back(input.at(user * width + column + i));
  }
  return exact;
}

// The offset of the slice: so that the slice lies within the users.
bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != "batch_offset") return false;
  const auto heads = read(call);
  const std::int64_t free = heads ? heads->input->shape[2] - heads->users : 0;
  tensor.ints.resize(static_cast<std::size_t>(tensor.size()));
  for (std::int64_t& value : tensor.ints) value = random.below(free + 1);
  return true;
}

}  // namespace

const OpSpec& nlp_create_qkv_heads_decode_op() {
  static const OpSpec spec{
      .name = "ttnn.experimental.nlp_create_qkv_heads_decode",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "num_heads", .era1 = 1, .required = true},
                 {.name = "num_kv_heads", .era1 = 2},
                 {.name = "output_tensors", .era1 = 3, .lost = Lost::kAssumeNone, .role = Role::kBuffer},
                 {.name = "overlap_qk_coregrid", .era1 = 4},
                 {.name = "batch_offset", .era1 = 5, .role = Role::kOffsets},
                 {.name = "slice_size", .era1 = 6},
                 {.name = "memory_config", .era1 = 7}},
      .rebind = rebind,
      .infer = infer,
      .reference = reference,
      .budget = exact_budget,
      .fill = fill};
  return spec;
}

}  // namespace opwright
