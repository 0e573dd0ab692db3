#include "ops/shared/attention_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/shared/movement.h"

namespace opwright {

Checked<const TensorSpec*> device_tensor(const BoundCall& call, std::string_view param) {
  if (!call.passed(param))
    return refuse(fmt::format("{}(): incompatible function arguments: '{}' is missing", call.op, param),
                  std::string(param));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const spec, tensor_argument(call, param));
  OPWRIGHT_CHECK(require_on_device(*spec));
  return spec;
}

Checked<const TensorSpec*> optional_device_tensor(const BoundCall& call, std::string_view param) {
  if (!call.passed(param)) return nullptr;
  return device_tensor(call, param);
}

Checked<void> refuse_none(const BoundCall& call, std::initializer_list<std::string_view> params) {
  if (call.convention != Convention::kPython) return {};
  for (const std::string_view param : params)
    if (const Value* value = call.find(param); value != nullptr && value->is_null())
      return type_error(call.op, param, *value);
  return {};
}

Checked<std::optional<std::int64_t>> unsigned_argument(const BoundCall& call, std::string_view param) {
  OPWRIGHT_CHECK_ASSIGN(const auto value, call.integer(param));
  if (value && (*value < 0 || *value > 0xFFFFFFFFLL)) return type_error(call.op, param, *call.find(param));
  return value;
}

Checked<std::int64_t> unsigned_argument(const BoundCall& call, std::string_view param, std::int64_t otherwise) {
  OPWRIGHT_CHECK_ASSIGN(const auto value, unsigned_argument(call, param));
  return value.value_or(otherwise);
}

Checked<void> refuse_unknown(const BoundCall& call, std::initializer_list<std::string_view> params) {
  for (const std::string_view param : params) {
    if (!call.passed(param)) continue;
    const Value& value = *call.find(param);
    const bool* flag = value.as_bool();
    const std::int64_t* number = value.as_int();
    if ((flag != nullptr && !*flag) || (number != nullptr && *number == 0)) continue;
    return unsupported(std::string(param), fmt::format("{} with {} is not modelled", call.op, param));
  }
  return {};
}

Checked<void> require_rank(const Shape& shape, std::int64_t rank) {
  const auto have = static_cast<std::int64_t>(shape.size());
  OPWRIGHT_REQUIRE(have >= rank, "ShapeBase[] index out of range. {} not in [-4, {})", rank - 1, have);
  return {};
}

std::int64_t from_end(const Shape& shape, std::size_t position) {
  return position > shape.size() ? 1 : shape[shape.size() - position];
}

std::string dtype_text(const TensorSpec& spec) { return fmt::format("DataType::{}", name_of(spec.dtype.value)); }
std::string tensor_layout_text(const TensorSpec& spec) { return fmt::format("Layout::{}", name_of(spec.layout.value)); }

MemoryLayout memory_layout(const TensorSpec& spec) {
  if (!spec.memory || spec.memory->layout.value == MemoryLayout::kAbsent) return MemoryLayout::kInterleaved;
  return spec.memory->layout.value;
}

BufferType buffer_type(const TensorSpec& spec) {
  if (!spec.memory || spec.memory->buffer.value == BufferType::kAbsent) return BufferType::kDram;
  return spec.memory->buffer.value;
}

bool is_float16_or_block(const TensorSpec& spec) {
  const DType dtype = spec.dtype.value;
  return dtype == DType::kBfloat16 || dtype == DType::kBfloat8B || dtype == DType::kBfloat4B;
}

bool overlap(const std::vector<CoreRange>& a, const std::vector<CoreRange>& b) {
  return std::ranges::any_of(a, [&](const CoreRange& p) {
    return std::ranges::any_of(b, [&](const CoreRange& q) {
      return p.start.x <= q.end.x && q.start.x <= p.end.x && p.start.y <= q.end.y && q.start.y <= p.end.y;
    });
  });
}

Checked<std::vector<CoreRange>> cores_from(CoreCoord start, std::int64_t count, const std::vector<CoreRange>& ranges) {
  OPWRIGHT_REQUIRE(count > 0, "Target number of cores must be greater than 0");
  std::int64_t available = 0;
  for (const CoreRange& range : ranges)
    available += (range.end.x - range.start.x + 1) * (range.end.y - range.start.y + 1);
  OPWRIGHT_REQUIRE(count <= available, "Target number of cores {} is greater than total available cores {}", count,
                   available);
  std::vector<CoreRange> out;
  bool begun = false;
  for (const CoreRange& range : ranges) {
    const bool here =
        start.x >= range.start.x && start.x <= range.end.x && start.y >= range.start.y && start.y <= range.end.y;
    if (!begun && !here) continue;
    CoreCoord from = begun ? range.start : start;
    begun = true;
    // The rest of the first row, then whole rows as one rectangle, then the start of a last one.
    if (from.x != range.start.x) {
      const std::int64_t taken = std::min(count, range.end.x - from.x + 1);
      out.push_back({from, {from.x + taken - 1, from.y}});
      count -= taken;
      from = {range.start.x, from.y + 1};
    }
    const std::int64_t width = range.end.x - range.start.x + 1;
    const std::int64_t rows = std::min(count / width, range.end.y - from.y + 1);
    if (rows > 0) {
      out.push_back({from, {range.end.x, from.y + rows - 1}});
      count -= rows * width;
      from.y += rows;
    }
    if (count > 0 && from.y <= range.end.y) {
      out.push_back({from, {from.x + count - 1, from.y}});
      count = 0;
    }
    if (count == 0) return out;
  }
  return refuse("Failed to allocate target number of cores");
}

Checked<void> add_output(std::vector<OutputSpec>& outputs, TensorSpec spec, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> one, made(std::move(spec), board));
  outputs.push_back(std::move(one.front()));
  return {};
}

}  // namespace opwright
