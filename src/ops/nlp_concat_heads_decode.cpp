// ttnn.experimental.nlp_concat_heads_decode: [1, users, heads, d], a user a core -> [1, 1, 32, heads x d], a head a
// core.
#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/matmul_program.h"
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::int64_t kUsers = 32;

Checked<void> check(const TensorSpec& input, std::int64_t heads) {
  const Shape shape = padded_shape(input);
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16, "Unsupported data format");
  OPWRIGHT_REQUIRE(tiled(input), "Input tensor layout must be TILE but got {}", tensor_layout_text(input));
  OPWRIGHT_REQUIRE(shape[0] == 1, "seqlen=1 for decode");
  OPWRIGHT_REQUIRE(shape[1] <= kUsers, "currently only support less than 32 users");
  OPWRIGHT_REQUIRE(shape[2] >= heads, "head_dim must be multiple of TILE_WIDTH");
  OPWRIGHT_REQUIRE(sharded(input), "Input tensor must be sharded");
  OPWRIGHT_REQUIRE(memory_layout(input) == MemoryLayout::kHeightSharded,
                   "Input tensor memory layout must be HEIGHT_SHARDED but got {}", layout_text(*input.memory));
  const ShardSpec* shard = shard_of(input);
  if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
  OPWRIGHT_REQUIRE(shard->shape[1] == from_end(shape, 1),
                   "Shard spec shape[1] ({}) must match input tensor padded shape[-1] ({})", shard->shape[1],
                   from_end(shape, 1));
  OPWRIGHT_REQUIRE(shard->shape[0] == from_end(shape, 2),
                   "Shard spec shape[0] ({}) must match input tensor padded shape[-2] ({})", shard->shape[0],
                   from_end(shape, 2));
  OPWRIGHT_REQUIRE(core_count(shard->grid) == shape[1], "Input core grid num_cores must be equal to num users");
  return {};
}

// {[0-0 - 3-0], ...}: a CoreRangeSet given as an argument.
Checked<std::vector<CoreRange>> core_ranges(const BoundCall& call, std::string_view param) {
  std::vector<CoreRange> out;
  std::vector<std::int64_t> numbers;
  const auto gather = [&](const auto& self, const Value& value) -> void {
    if (const std::int64_t* i = value.as_int()) numbers.push_back(*i);
    if (const List* list = value.as_list())
      for (const Value& item : *list) self(self, item);
    const Struct* s = value.as_struct();
    if (const Fields* fields = s != nullptr ? &s->fields : value.as_dict())
      for (const auto& [name, item] : *fields) self(self, item);
  };
  gather(gather, *call.find(param));
  if (numbers.empty() || numbers.size() % 4 != 0) return type_error(call.op, param, *call.find(param));
  for (std::size_t i = 0; i < numbers.size(); i += 4)
    out.push_back({{numbers[i], numbers[i + 1]}, {numbers[i + 2], numbers[i + 3]}});
  return out;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_none(call, {"num_heads"}));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t heads, unsigned_argument(call, "num_heads", 0));
  OPWRIGHT_CHECK(memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(refuse_unknown(call, {"output_tensor"}));
  const Shape shape = padded_shape(*input);
  OPWRIGHT_CHECK(require_rank(shape, 4));
  OPWRIGHT_CHECK(check(*input, heads));
  const std::vector<CoreRange>& users = shard_of(*input)->grid;
  std::vector<CoreRange> grid;
  if (call.passed("sub_core_grids")) {
    OPWRIGHT_CHECK_ASSIGN(const std::vector<CoreRange> within, core_ranges(call, "sub_core_grids"));
    OPWRIGHT_CHECK_ASSIGN(grid, cores_from(users.front().start, heads, within));
  } else {
    const bool lost = std::ranges::find(call.assumed, "sub_core_grids") != call.assumed.end();
    if (!lost && (users.size() > 1 || users.front().start != CoreCoord{0, 0})) return refuse("bad optional access");
    OPWRIGHT_REQUIRE(heads > 0, "Cannot get bounding_box of an empty CoreRangeSet!");
    OPWRIGHT_REQUIRE(heads <= board.cores(),
                     "Target number of cores {} is greater than total number of cores available {}", heads,
                     board.cores());
    grid = first_cores(heads, board.grid, true);
  }
  MemoryConfig memory = interleaved(BufferType::kL1);
  memory.layout.value = MemoryLayout::kWidthSharded;
  memory = with_shard(memory, ShardSpec{.grid = std::move(grid),
                                        .shape = {kUsers, shape[3]},
                                        .orientation = {.value = Orientation::kRowMajor},
                                        .distribution = {},
                                        .more = {}});
  return made(moved(*input, {shape[0], 1, std::max(shape[1], kUsers), heads * shape[3]}, memory), board);
}

// Rows of users that are not there hold nothing; they are zero here.
Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  const std::int64_t dim = from_end(padded_shape(input.spec), 1);
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t user = job.rows.at(r);
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t head = i / dim;
      const bool there = user < shape[1] && head < shape[2] && i % dim < shape[3];
      exact.value.push_back(there ? input.at((user * shape[2] + head) * shape[3] + i % dim) : 0.0);
    }
  }
  return exact;
}

}  // namespace

const OpSpec& nlp_concat_heads_decode_op() {
  static const OpSpec spec{.name = "ttnn.experimental.nlp_concat_heads_decode",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "num_heads", .era1 = 1, .required = true},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "output_tensor", .era1 = 3, .role = Role::kBuffer},
                                      {.name = "sub_core_grids", .era1 = 4, .lost = Lost::kAssumeNone}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright
