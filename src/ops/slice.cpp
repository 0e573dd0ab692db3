#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

// The third and fourth parameters have other names in other overloads.
Checked<void> rebind(BoundCall& call) {
  for (const auto& [other, name] : {std::pair<std::string_view, std::string_view>{"slice_start", "starts"},
                                    {"slice_end", "ends"},
                                    {"slice_step", "steps"}})
    if (call.find(other) != nullptr) {
      call.set(name, *call.find(other));
      call.erase(other);
    }
  return {};
}

struct Cut {
  Shape begins;
  Shape ends;
  Shape steps;
  Shape shape;
  bool whole = false;
};

bool given_as_tensors(const BoundCall& call) { return call.tensor("starts") != nullptr; }

Checked<Cut> read_cut(const BoundCall& call, const Shape& shape) {
  Cut cut;
  OPWRIGHT_CHECK_ASSIGN(cut.begins, list_argument(call, "starts"));
  OPWRIGHT_CHECK_ASSIGN(cut.ends, list_argument(call, "ends"));
  const std::size_t rank = shape.size();
  OPWRIGHT_REQUIRE(rank == cut.begins.size(), "Input rank {} and begins {} must have the same size", rank,
                   cut.begins.size());
  OPWRIGHT_REQUIRE(cut.begins.size() == cut.ends.size(), "Start {} and end {} must have the same size",
                   cut.begins.size(), cut.ends.size());
  cut.steps.assign(rank, 1);
  if (call.passed("steps")) {
    OPWRIGHT_CHECK_ASSIGN(cut.steps, list_argument(call, "steps"));
  }
  OPWRIGHT_REQUIRE(cut.steps.size() == rank, "Step {} must have the same size as start {} and end", cut.steps.size(),
                   rank);
  cut.whole = cut.ends == shape && std::ranges::all_of(cut.begins, [](std::int64_t n) { return n == 0; }) &&
              std::ranges::all_of(cut.steps, [](std::int64_t n) { return n == 1; });
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t& begin = cut.begins[i];
    std::int64_t& end = cut.ends[i];
    if (begin < 0) begin += shape[i];
    if (end < 0) end += shape[i];
    OPWRIGHT_REQUIRE(cut.steps[i] > 0, "Step({}) = {} should be positive", i, cut.steps[i]);
    OPWRIGHT_REQUIRE(begin >= 0 && end >= begin, "End {} must be greater than or equal to start {}", end, begin);
    cut.shape.push_back(div_up(end - begin, cut.steps[i]));
  }
  return cut;
}

// Whether tiles can be taken as they are: a cut that begins within a tile goes by rows.
bool by_rows(const TensorSpec& input, const Cut& cut) {
  const bool stepped = std::ranges::any_of(cut.steps, [](std::int64_t n) { return n != 1; });
  return !tiled(input) || stepped || cut.begins.size() < 2 || last(cut.begins) % kTile != 0 ||
         last(cut.begins, 2) % kTile != 0;
}

// A spec inherited from the input shrinks with the shape.
MemoryConfig inherited(const TensorSpec& input, const Shape& shape, bool rows) {
  MemoryConfig memory = memory_of(input);
  if (!memory.sharded() || !memory.shard || memory.shard->shape.size() != 2 || shape.size() < 2) return memory;
  Shape sizes = shape;
  const std::int64_t step = rows ? 1 : kTile;
  if (!rows) {
    sizes[sizes.size() - 2] = std::max(kTile, round_up(sizes[sizes.size() - 2], kTile));
    sizes.back() = std::max(kTile, round_up(sizes.back(), kTile));
  }
  ShardSpec shard = *memory.shard;
  const auto share = [&](std::int64_t size, std::int64_t cores) {
    return std::max(step, round_up(div_up(size, std::max<std::int64_t>(1, cores)), step));
  };
  const std::int64_t height = flat_height(sizes);
  const std::int64_t cores = core_count(shard.grid);
  if (memory.layout.value == MemoryLayout::kHeightSharded) {
    shard.shape = {share(height, cores), sizes.back()};
  } else if (memory.layout.value == MemoryLayout::kWidthSharded) {
    shard.shape = {height, share(sizes.back(), cores)};
  } else if (!shard.grid.empty()) {
    const CoreRange& range = shard.grid[0];
    shard.shape = {share(height, range.end.y - range.start.y + 1),
                   share(sizes.back(), range.end.x - range.start.x + 1)};
  }
  return with_shard(memory, std::move(shard));
}

Checked<void> require_within(const TensorSpec& input, const Cut& cut, bool rows) {
  const Shape padded = rows ? input.shape : padded_shape(input);
  for (std::size_t i = 0; i < cut.begins.size(); ++i) {
    const bool in_tiles = !rows && i + 2 >= cut.begins.size();
    const std::int64_t end = in_tiles ? std::max(kTile, round_up(cut.ends[i], kTile)) : cut.ends[i];
    OPWRIGHT_REQUIRE(cut.begins[i] < padded[i], "Slice start[{}] ({}) must be less than input tensor shape[{}] ({})", i,
                     cut.begins[i], i, padded[i]);
    OPWRIGHT_REQUIRE(end <= padded[i], "Ends {} must be less than or equal to the shape of the tensor {}", end,
                     padded[i]);
  }
  return {};
}

// Starts and ends that the device reads itself: the size of the part is known, its place is not.
Checked<std::vector<OutputSpec>> infer_part(const BoundCall& call, const TensorSpec& input, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const auto dim, call.integer("slice_dim"));
  OPWRIGHT_CHECK_ASSIGN(const auto parts, call.integer("num_devices"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* ends, tensor_argument(call, "ends"));
  OPWRIGHT_CHECK(require_on_device(input));
  OPWRIGHT_CHECK(require_on_device(*call.tensor("starts")));
  OPWRIGHT_CHECK(require_on_device(*ends));
  for (const TensorSpec* limits : {call.tensor("starts"), ends})
    OPWRIGHT_REQUIRE(limits->shape.size() == 1 && limits->shape[0] > 0,
                     "The start tensor for slicing must be in 1D shape, but got {}D", limits->shape.size());
  OPWRIGHT_REQUIRE(dim && parts && *parts > 0,
                   "slice_dim and num_devices must be provided for device-only tensor args slice");
  if (!tiled(input)) return unsupported("starts", "slice limits in tensors, for a row-major input");
  const std::size_t rank = input.shape.size();
  OPWRIGHT_REQUIRE(*dim >= 0 && *dim < static_cast<std::int64_t>(rank),
                   "slice_dim ({}) must be less than tensor rank ({})", *dim, rank);
  Shape shape = input.shape;
  std::int64_t& size = shape[static_cast<std::size_t>(*dim)];
  OPWRIGHT_REQUIRE(size % *parts == 0, "Input dimension {} (size={}) must be evenly divisible by num_devices ({})",
                   *dim, size, *parts);
  size /= *parts;
  OPWRIGHT_REQUIRE(last(shape, 2) % kTile == 0,
                   "Can only slice tilized tensor with height begin index aligned to tiles");
  OPWRIGHT_REQUIRE(last(shape) % kTile == 0, "Can only slice tilized tensor with width begin index aligned to tiles");
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  if (call.tensor("output_tensor") != nullptr) return given_back(*call.tensor("output_tensor"), "output_tensor");
  return made(moved(input, std::move(shape), asked == nullptr ? memory_of(input) : *asked), board);
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double pad, call.number("pad_value", 0));
  if (given_as_tensors(call)) return infer_part(call, *input, board);
  if (input->shape.empty()) return given_back(*input, "input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const Cut cut, read_cut(call, input->shape));
  const TensorSpec* given = call.tensor("output_tensor");
  const MemoryConfig own = memory_of(*input);
  if (cut.whole && (on_host(*input) || (given == nullptr && (asked == nullptr || same_memory(*asked, own)))))
    return given_back(*input, "input_tensor");
  OPWRIGHT_CHECK(require_on_device(*input));
  const bool rows = by_rows(*input, cut);
  const bool stepped = std::ranges::any_of(cut.steps, [](std::int64_t n) { return n != 1; });
  OPWRIGHT_REQUIRE(!stepped || input->dtype.value != DType::kBfloat8B,
                   "Strided slice is not supported for BFLOAT8 tensors");
  TensorSpec out = moved(*input, cut.shape, own);
  if (volume(cut.shape) == 0) {
    if (asked != nullptr) out.memory = *asked;
    return made(std::move(out), board);
  }
  OPWRIGHT_CHECK(require_within(*input, cut, rows));
  // Rows have no block floats: what a cut within a tile makes of them stays BFLOAT16.
  if (rows && tiled(*input) && !cut.whole) {
    OPWRIGHT_REQUIRE(input->dtype.value != DType::kBfloat4B, "Only TILE layout is supported for BFLOAT8_B dtype!");
    OPWRIGHT_REQUIRE(input->dtype.value != DType::kUint8 || padded_shape(cut.shape, Layout::kTile) == cut.shape,
                     "Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors");
    out.dtype.value = row_dtype(input->dtype.value);
  }
  const Shape from = padded_shape(*input);
  out.memory = given != nullptr   ? memory_of(*given)
               : asked != nullptr ? completed(*asked, *input, from, padded_shape(cut.shape, input->layout.value), board)
                                  : inherited(*input, cut.shape, rows);
  if (rows && tiled(*input)) {
    TensorSpec as_rows = out;
    as_rows.layout.value = Layout::kRowMajor;
    OPWRIGHT_CHECK(check_tensor(as_rows, board));
  }
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  if (!tiled(*input) && outputs[0].spec.memory->sharded() && outputs[0].padded != outputs[0].spec.shape &&
      asked != nullptr)
    return refuse(
        fmt::format("For valid non-interleaved buffers page size {} must equal buffer size {}. For "
                    "interleaved-buffers, buffer size should be divisible by the page size",
                    last(cut.shape) * element_bytes(input->dtype.value),
                    volume(outputs[0].padded) * element_bytes(input->dtype.value)));
  if (given != nullptr) {
    OPWRIGHT_REQUIRE(padded_shape(*given) == outputs[0].padded,
                     "The preallocated output tensor needs a padded shape of {}, however it is {}",
                     shape_text(outputs[0].padded), shape_text(padded_shape(*given)));
    outputs[0].alias = "output_tensor";
  }
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape own = strides_of(input.spec.shape);
  if (given_as_tensors(job.call)) {
    const HostTensor& starts = *job.input("starts");
    OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("slice_dim", 0));
    const bool each = starts.ints.size() == own.size();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (each || static_cast<std::int64_t>(i) == dim) offset += starts.ints[each ? i : 0] * own[i];
    return strided_elements(job, input, own, offset);
  }
  if (input.spec.shape.empty()) return same_elements(job, input);
  OPWRIGHT_CHECK_ASSIGN(const Cut cut, read_cut(job.call, input.spec.shape));
  // Tiles may be cut beyond the last element: what lies there is padding, and zero.
  const std::int64_t begin = last(cut.begins);
  const std::int64_t step = last(cut.steps);
  const std::int64_t known = std::clamp<std::int64_t>(div_up(last(input.spec.shape) - begin, step), 0, job.rows.length);
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t start = begin;
    bool inside = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t at = cut.begins[i] + index[i] * cut.steps[i];
      inside = inside && at < input.spec.shape[i];
      start += at * own[i];
    }
    if (inside) append_elements(input, start, known, step, out);
    out.insert(out.end(), static_cast<std::size_t>(inside ? job.rows.length - known : job.rows.length), 0.0);
  });
}

// Limits in tensors name the second part, so that a device which ignores them is seen. They have one entry a dimension,
// or one alone for the dimension that is cut.
bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  const TensorSlot& which = call.tensors[slot];
  if (which.param != "starts" && which.param != "ends") return false;
  const auto dim = call.integer("slice_dim");
  const auto parts = call.integer("num_devices");
  const TensorSpec* input = call.tensor("input_tensor");
  if (!dim || !*dim || !parts || !*parts || **parts <= 0 || input == nullptr || tensor.size() == 0) return false;
  tensor.ints.assign(static_cast<std::size_t>(tensor.size()), 0);
  const std::int64_t part = **parts > 1 ? 1 : 0;
  const bool each = tensor.ints.size() == input->shape.size();
  for (std::size_t i = 0; i < input->shape.size(); ++i) {
    const bool cut = static_cast<std::int64_t>(i) == **dim;
    if (!cut && !each) continue;
    const std::int64_t size = cut ? input->shape[i] / **parts : input->shape[i];
    tensor.ints[each ? i : 0] = (cut ? part * size : 0) + (which.param == "ends" ? size : 0);
  }
  return true;
}

}  // namespace

const OpSpec& slice_op() {
  static const OpSpec spec{
      .name = "ttnn.slice",
      .params =
          {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
           {.name = "starts",
            .era1 = 1,
            .required = true,
            .place = 1,
            .role = Role::kBounds,
            .list_name = "slice_start"},
           {.name = "ends", .era1 = 2, .required = true, .place = 2, .role = Role::kBounds, .list_name = "slice_end"},
           {.name = "steps", .era1 = 3, .lost = Lost::kAssumeNone, .place = 3, .list_name = "slice_step"},
           {.name = "memory_config", .era1 = 4},
           {.name = "output_tensor", .era1 = 5, .role = Role::kBuffer},
           {.name = "pad_value", .era1 = 6, .lost = Lost::kNoMatter},
           // The shorter lists of era 1 have sub_core_grids here, the only thing that is
           // ever lost at this place.
           {.name = "slice_dim", .era1 = 7, .lost = Lost::kNoMatter},
           {.name = "num_devices", .era1 = 8},
           {.name = "sub_core_grids", .era1 = 9, .lost = Lost::kNoMatter},
           {.name = "slice_start"},
           {.name = "slice_end"},
           {.name = "slice_step"}},
      .rebind = rebind,
      .infer = infer,
      .reference = reference,
      .budget = exact_budget,
      .fill = fill,
      .reads_part = true};
  return spec;
}

}  // namespace opwright
