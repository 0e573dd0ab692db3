// Operators that work along the lines of one dimension, a row each: sums and products on the way, sorting, picking and
// putting by index.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "ops/families.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/reduce_rules.h"

namespace opwright {
namespace {

using Outputs = Checked<std::vector<OutputSpec>>;

// A line of a tensor: elements `step` apart.
struct Line {
  std::int64_t start = 0, step = 1, size = 1, place = 0;  // `place` of the element that asked, on its line
};
Line line_of(const Shape& shape, std::size_t dim, std::int64_t element) {
  Line out;
  for (std::size_t i = dim + 1; i < shape.size(); ++i) out.step *= shape[i];
  out.size = shape.empty() ? 1 : shape[dim];
  out.place = element / out.step % out.size;
  out.start = element - out.place * out.step;
  return out;
}

std::size_t line_dim(const BoundCall& call, const Shape& shape, std::int64_t otherwise = -1) {
  const std::int64_t dim = call.integer("dim", otherwise).value_or(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  return static_cast<std::size_t>(std::max<std::int64_t>(dim < 0 ? dim + rank : dim, 0));
}

// Calls value(element) for every element that is asked for.
template <class F>
Exact each_element(const ReferenceJob& job, F&& value) {
  Exact out;
  out.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  for (std::int64_t r = 0; r < job.rows.count(); ++r)
    for (std::int64_t i = 0; i < job.rows.length; ++i) out.value.push_back(value(job.rows.at(r) * job.rows.length + i));
  return out;
}

Outputs beside(const TensorSpec& input, const BoundCall& call, const Board& board, std::string_view given = "") {
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  if (!given.empty() && call.tensor(given) != nullptr) return given_back(*call.tensor(given), given);
  return made(moved(input, input.shape, asked == nullptr ? memory_of(input) : *asked), board);
}

// --- sums and products on the way

Outputs infer_scan(const BoundCall& call, const Board& board, std::string_view input_name) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, input_name));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input->dtype.value));
  OPWRIGHT_CHECK(call.flag("reverse_order", false));
  const auto rank = static_cast<std::int64_t>(std::max<std::size_t>(input->shape.size(), 1));
  OPWRIGHT_REQUIRE(dim >= -rank && dim < rank,
                   "The requested accumulation axis is {}, while the input tensor has rank {}.", dim, rank);
  if (on_host(*input)) return refuse("Tensor must already be on device");
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_REQUIRE(tiled(*input), "The provided input tensor has a non-tile layout: ROW_MAJOR.");
  OPWRIGHT_REQUIRE(!sharded(*input),
                   "ttnn accumulation operations (cumprod, cumsum) do not support sharded input tensors.");
  if (is_integer(dtype) != is_integer(input->dtype.value)) return unsupported("dtype", "accumulation that converts");
  TensorSpec as = *input;
  as.dtype.value = dtype;
  return beside(as, call, board, "out");
}

template <bool kProduct>
Checked<Exact> scan(const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& shape = input.spec.shape;
  const std::size_t dim = line_dim(job.call, shape, 0);
  OPWRIGHT_CHECK_ASSIGN(const bool reverse, job.call.flag("reverse_order", false));
  std::vector<double> magnitude;
  Exact out = each_element(job, [&](std::int64_t element) {
    const Line line = line_of(shape, dim, element);
    double held = kProduct ? 1 : 0, size = 0;
    for (std::int64_t k = reverse ? line.size - 1 : 0; reverse ? k >= line.place : k <= line.place;
         k += reverse ? -1 : 1) {
      const double x = input.at(line.start + k * line.step);
      held = kProduct ? held * x : held + x;
      size += std::abs(x);
    }
    magnitude.push_back(kProduct ? std::abs(held) : size);
    return held;
  });
  out.magnitude = std::move(magnitude);
  return out;
}

ErrorBudget scan_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t) {
  const TensorSpec& out = outputs[0].spec;
  if (is_integer(out.dtype.value)) return {.kind = ErrorBudget::Kind::kExact, .why = "integer arithmetic"};
  const std::size_t dim = line_dim(call, out.shape, 0);
  const std::int64_t terms = out.shape.empty() ? 1 : out.shape[dim];
  const bool wide = out.dtype.value == DType::kFloat32;
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .relative = static_cast<double>(terms) * (wide ? 0x1p-20 : 0x1p-9),
          .why = fmt::format("{} steps, rounded at each", terms)};
}

// --- sorting

Outputs infer_sort(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", -1));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(call.flag("descending", false));
  OPWRIGHT_CHECK(call.flag("stable", false));
  if (call.passed("out")) return unsupported("out", "tensors given for the results of a sort");
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  OPWRIGHT_REQUIRE((dim >= -rank && dim < rank) || rank == 0, "Sort dim {} is out of range for rank-{} tensor", dim,
                   rank);
  OPWRIGHT_CHECK(require_on_device(*input));
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kUint16 || dtype == DType::kFloat32,
                   "Input tensor data type must be BFLOAT16, UINT16, or FLOAT32, got {}", eltwise::dtype_text(dtype));
  const MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard || memory.nd_shard, "bad optional access");
  OPWRIGHT_CHECK_ASSIGN(Outputs::value_type out, made(moved(*input, input->shape, memory), board));
  TensorSpec positions = moved(*input, input->shape, memory);
  // 16 bits hold positions up to the 32,768 that one core sorts.
  const std::int64_t size = rank == 0 ? 1 : input->shape[line_dim(call, input->shape)];
  const bool wide = dtype != DType::kBfloat16 || size > 32768;
  positions.dtype.value = wide ? DType::kUint32 : DType::kUint16;
  OPWRIGHT_CHECK_ASSIGN(Outputs::value_type second, made(std::move(positions), board));
  out.push_back(std::move(second.front()));
  return out;
}

Checked<Exact> sort(const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& shape = input.spec.shape;
  const std::size_t dim = line_dim(job.call, shape);
  OPWRIGHT_CHECK_ASSIGN(const bool descending, job.call.flag("descending", false));
  OPWRIGHT_CHECK_ASSIGN(const bool stable, job.call.flag("stable", false));
  std::vector<std::int64_t> order;
  std::int64_t sorted = -1;
  Exact exact = each_element(job, [&](std::int64_t element) {
    const Line line = line_of(shape, dim, element);
    const auto value = [&](std::int64_t k) { return input.at(line.start + k * line.step); };
    if (sorted != line.start) {
      order.resize(static_cast<std::size_t>(line.size));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
        return descending ? value(a) > value(b) : value(a) < value(b);
      });
      sorted = line.start;
    }
    const std::int64_t place = order[static_cast<std::size_t>(line.place)];
    return job.output == 0 ? value(place) : static_cast<double>(place);
  });
  if (job.output == 1 && !stable) {
    exact.same_choice = [&input, shape, dim](std::int64_t element, double expected, double actual) {
      const Line line = line_of(shape, dim, element);
      const auto size = static_cast<double>(line.size);
      if (!(expected >= 0 && expected < size && actual >= 0 && actual < size) || actual != std::trunc(actual))
        return false;
      const auto value = [&](double k) { return input.at(line.start + static_cast<std::int64_t>(k) * line.step); };
      return value(expected) == value(actual);
    };
    exact.choice_of = [shape, dim](std::int64_t element) { return line_of(shape, dim, element).start; };
  }
  return exact;
}

ErrorBudget selects(const BoundCall&, std::span<const OutputSpec>, std::size_t) {
  return {.kind = ErrorBudget::Kind::kSelection, .why = "values of the input and their places"};
}

// --- by index

Checked<std::size_t> indexed_dim(const BoundCall& call, const TensorSpec& input, std::string_view op) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", 0));
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  OPWRIGHT_REQUIRE(dim >= -rank && dim < rank, "{}: dim {} is out of range for tensor rank {}", op, dim, rank);
  return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
}

Outputs infer_gather(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* index, tensor_argument(call, "index"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_REQUIRE(
      input->shape.size() == index->shape.size(),
      "Input and index tensor must have the same number of dimensions. Got input dim: {} and index dim: {}",
      input->shape.size(), index->shape.size());
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, indexed_dim(call, *input, "gather"));
  for (const TensorSpec* tensor : {input, index}) OPWRIGHT_CHECK(require_on_device(*tensor));
  OPWRIGHT_REQUIRE(input->layout.value == index->layout.value,
                   "Input tensor and index tensor must have the same layout. Got input layout: Layout::{} and index "
                   "layout: Layout::{}",
                   input->layout.name(), index->layout.name());
  OPWRIGHT_REQUIRE(index->dtype.value == DType::kUint32 || index->dtype.value == DType::kUint16,
                   "Index tensor must be of type UINT32 or UINT16. Got: {}", eltwise::dtype_text(index->dtype.value));
  for (std::size_t i = 0; i < input->shape.size(); ++i)
    OPWRIGHT_REQUIRE(i == dim || index->shape[i] <= input->shape[i],
                     "Ends {} must be less than or equal to the shape of the tensor {}", index->shape[i],
                     input->shape[i]);
  return made(moved(*input, index->shape, asked == nullptr ? memory_of(*input) : *asked), board);
}

Checked<Exact> gather(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input");
  const HostTensor& index = *job.input("index");
  const std::size_t dim = line_dim(job.call, input.spec.shape);
  const Shape steps = strides_of(input.spec.shape);
  const Shape& shape = index.spec.shape;
  return each_element(job, [&](std::int64_t element) {
    std::int64_t at = 0, rest = element;
    for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i])
      at += (i == dim ? static_cast<std::int64_t>(index.at(element)) : rest % shape[i]) * steps[i];
    return input.at(at);
  });
}

Outputs infer_scatter(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* index, tensor_argument(call, "index"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* source, tensor_argument(call, "src"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const std::string reduce, call.text("reduce", ""));
  if (!reduce.empty() && reduce != "add") return unsupported("reduce", "scattering that multiplies or compares");
  OPWRIGHT_CHECK_ASSIGN(const std::size_t dim, indexed_dim(call, *input, "scatter"));
  OPWRIGHT_REQUIRE(input->shape.size() == source->shape.size(),
                   "input_rank must be equal to source_rank (input_rank == {}, source_rank == {})", input->shape.size(),
                   source->shape.size());
  OPWRIGHT_REQUIRE(input->shape.size() == index->shape.size(),
                   "input_rank must be equal to index_rank (input_rank == {}, index_rank == {})", input->shape.size(),
                   index->shape.size());
  for (const auto& [tensor, name] :
       {std::pair{input, "input_tensor"}, {index, "index_tensor"}, {source, "src_tensor"}}) {
    OPWRIGHT_REQUIRE(!on_host(*tensor), "Expected Tensor with DeviceStorage, got StorageType::HOST");
    OPWRIGHT_CHECK(require_on_device(*tensor));
    OPWRIGHT_REQUIRE(!sharded(*tensor), "Sharded tensors are not supported - {} is sharded.", name);
  }
  for (std::size_t i = 0; i < input->shape.size(); ++i) {
    OPWRIGHT_REQUIRE(index->shape[i] <= source->shape[i],
                     "index_shape[{}] <= source_shape[{}] == false (index_shape: {}, source_shape: {})", i, i,
                     shape_text(index->shape), shape_text(source->shape));
    OPWRIGHT_REQUIRE(i == dim || index->shape[i] <= input->shape[i],
                     "index_shape[{}] <= input_shape[{}] == false (index_shape: {}, input_shape: {})", i, i,
                     shape_text(index->shape), shape_text(input->shape));
  }
  const DType dtype = input->dtype.value;
  const auto row_dtype = [](DType d) { return is_block_float(d) ? DType::kBfloat16 : d; };
  OPWRIGHT_REQUIRE(row_dtype(dtype) == row_dtype(source->dtype.value),
                   "input_dtype differs from src_dtype (input_dtype: {}, src_dtype: {}).", name_of(dtype),
                   name_of(source->dtype.value));
  OPWRIGHT_REQUIRE(is_integer(index->dtype.value), "index_dtype is not integer, it is {}.",
                   name_of(index->dtype.value));
  OPWRIGHT_REQUIRE(dtype != DType::kFloat32 || !tiled(*input),
                   "Scatter doesn't work for fp32 tiled tensors yet (see to_layout issue #) - input tensor is "
                   "DataType::FLOAT32 Layout::TILE.");
  TensorSpec out = moved(*input, input->shape, asked == nullptr ? memory_of(*input) : *asked);
  out.dtype.value = row_dtype(dtype);
  return made(std::move(out), board);
}

bool adds_up(const BoundCall& call) {
  return call.op == "ttnn.scatter_add" || call.text("reduce", "").value_or("") == "add";
}

// The last one that is put somewhere stays there. Sums keep all of them.
Checked<Exact> scatter(const ReferenceJob& job) {
  const bool adds = adds_up(job.call);
  const HostTensor& input = *job.input("input");
  const HostTensor& index = *job.input("index");
  const HostTensor& source = *job.input("src");
  const std::size_t dim = line_dim(job.call, input.spec.shape);
  std::vector<double> all, size;
  for (std::int64_t i = 0; i < input.size(); ++i) all.push_back(input.at(i));
  if (adds)
    for (const double x : all) size.push_back(std::abs(x));
  const Shape to = strides_of(input.spec.shape), from = strides_of(source.spec.shape);
  const Shape& shape = index.spec.shape;
  for (std::int64_t element = 0; element < index.size(); ++element) {
    std::int64_t target = 0, origin = 0, rest = element;
    for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) {
      origin += rest % shape[i] * from[i];
      target += (i == dim ? static_cast<std::int64_t>(index.at(element)) : rest % shape[i]) * to[i];
    }
    double& place = all[static_cast<std::size_t>(target)];
    place = adds ? place + source.at(origin) : source.at(origin);
    if (adds) size[static_cast<std::size_t>(target)] += std::abs(source.at(origin));
  }
  Exact out = each_element(job, [&](std::int64_t element) { return all[static_cast<std::size_t>(element)]; });
  if (adds)
    out.magnitude =
        each_element(job, [&](std::int64_t element) { return size[static_cast<std::size_t>(element)]; }).value;
  return out;
}

ErrorBudget adds_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  if (!adds_up(call) || is_integer(outputs[output].spec.dtype.value)) return exact_budget(call, outputs, output);
  return {.kind = ErrorBudget::Kind::kElementwise, .ulps = 2, .relative = 0x1p-6, .why = "sums, rounded at each step"};
}

Outputs infer_index_fill(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* index, tensor_argument(call, "index"));
  OPWRIGHT_CHECK(call.number("value", 0));
  OPWRIGHT_CHECK(indexed_dim(call, *input, "index_fill"));
  for (const TensorSpec* tensor : {input, index}) OPWRIGHT_CHECK(require_on_device(*tensor));
  OPWRIGHT_REQUIRE(!tiled(*input), "Index fill: Only supporting row major layout");
  OPWRIGHT_REQUIRE(index->dtype.value == DType::kUint32, "Index tensor must be of UINT32 type!");
  OPWRIGHT_REQUIRE(index->shape.size() == 1, "Index tensor must be 1D!");
  return beside(*input, call, board);
}

Checked<Exact> index_fill(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input");
  const HostTensor& index = *job.input("index");
  OPWRIGHT_CHECK_ASSIGN(const double value, job.call.number("value", 0));
  const std::size_t dim = line_dim(job.call, input.spec.shape);
  return each_element(job, [&](std::int64_t element) {
    const std::int64_t place = line_of(input.spec.shape, dim, element).place;
    for (std::int64_t k = 0; k < index.size(); ++k)
      if (static_cast<std::int64_t>(index.at(k)) == place) return value;
    return input.at(element);
  });
}

// Indices lie within the dimension; what is put stands alone, so that its place is known.
bool fill_index(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != "index" || !tensor.integer()) return false;
  const TensorSpec* input = call.tensor("input");
  if (input == nullptr || input->shape.empty()) return false;
  const std::int64_t size = input->shape[line_dim(call, input->shape)];
  const bool put = call.op.find("scatter") != std::string::npos;
  const std::size_t dim = tensor.spec.shape.size() == 1 ? 0 : line_dim(call, tensor.spec.shape);
  tensor.ints.resize(static_cast<std::size_t>(tensor.size()));
  const std::int64_t turn = random.below(std::max<std::int64_t>(size, 1));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t place = line_of(tensor.spec.shape, dim, i).place;
    tensor.ints[static_cast<std::size_t>(i)] = size <= 0 ? 0
                                               : put     ? (place * (size > 2 && size % 3 != 0 ? 3 : 1) + turn) % size
                                                         : random.below(size);
  }
  return true;
}

std::vector<Param> scan_params(std::string_view input) {
  return {{.name = input, .required = true, .role = Role::kPlain},
          {.name = "dim", .required = true},
          {.name = "dtype"},
          {.name = "reverse_order"},
          {.name = "out", .role = Role::kBuffer},
          {.name = "memory_config"},
          {.name = "disable_compensated_sum"}};
}

std::vector<Param> indexed_params(bool source) {
  std::vector<Param> out{{.name = "input", .required = true, .role = Role::kPlain},
                         {.name = "dim", .required = true},
                         {.name = "index", .required = true, .role = Role::kPositions}};
  if (source) out.push_back({.name = "src", .required = true, .role = Role::kPlain});
  for (const std::string_view name : {"sparse_grad", "reduce", "memory_config"}) out.push_back({.name = name});
  out.push_back({.name = "out", .role = Role::kBuffer});
  out.push_back({.name = "sub_core_grids", .lost = Lost::kNoMatter});
  return out;
}

}  // namespace

std::span<const OpSpec> line_ops() {
  static const std::array list{
      OpSpec{.name = "ttnn.cumprod",
             .params = scan_params("input_tensor"),
             .infer = [](const BoundCall& call, const Board& board) { return infer_scan(call, board, "input_tensor"); },
             .reference = scan<true>,
             .budget = scan_budget},
      OpSpec{.name = "ttnn.cumsum",
             .params = scan_params("input"),
             .infer = [](const BoundCall& call, const Board& board) { return infer_scan(call, board, "input"); },
             .reference = scan<false>,
             .budget = scan_budget},
      OpSpec{.name = "ttnn.gather",
             .params = indexed_params(false),
             .infer = infer_gather,
             .reference = gather,
             .budget = exact_budget,
             .fill = fill_index,
             .reads_part = true},
      OpSpec{.name = "ttnn.index_fill",
             .params = {{.name = "input", .required = true, .role = Role::kPlain},
                        {.name = "dim", .required = true},
                        {.name = "index", .required = true, .role = Role::kPositions},
                        {.name = "value", .required = true},
                        {.name = "memory_config"}},
             .infer = infer_index_fill,
             .reference = index_fill,
             .budget = exact_budget,
             .fill = fill_index},
      OpSpec{.name = "ttnn.scatter",
             .params = indexed_params(true),
             .infer = infer_scatter,
             .reference = scatter,
             .budget = adds_budget,
             .fill = fill_index},
      OpSpec{.name = "ttnn.scatter_add",
             .params = indexed_params(true),
             .infer = infer_scatter,
             .reference = scatter,
             .budget = adds_budget,
             .fill = fill_index},
      OpSpec{.name = "ttnn.sort",
             .params = {{.name = "input_tensor", .required = true, .role = Role::kRanked},
                        {.name = "dim"},
                        {.name = "descending"},
                        {.name = "stable"},
                        {.name = "memory_config"},
                        {.name = "out", .role = Role::kBuffer}},
             .infer = infer_sort,
             .reference = sort,
             .budget = selects},
  };
  return list;
}

}  // namespace opwright
