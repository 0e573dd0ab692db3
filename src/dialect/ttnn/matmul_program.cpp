#include "dialect/ttnn/matmul_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "dialect/ttnn/matmul_choice.h"
#include "dialect/ttnn/matmul_operands.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"

namespace opwright {
namespace {

std::optional<std::int64_t> whole_number(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return *i;
  if (const bool* b = value.as_bool()) return *b ? 1 : 0;
  const std::string* text = value.as_string();
  if (text == nullptr) return std::nullopt;
  if (*text == "True" || *text == "true") return 1;
  if (*text == "False" || *text == "false") return 0;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return out;
}

const Fields* fields_of(const Value& value) {
  if (const Struct* s = value.as_struct()) return &s->fields;
  return value.as_dict();
}

// A core grid in its spellings: CoreCoord(x=8,y=7), CoreGrid(y=7,x=8), [8, 7].
std::optional<CoreCoord> grid_of(const Value& value) {
  CoreCoord out{0, 0};
  if (const List* list = value.as_list()) {
    if (list->size() != 2) return std::nullopt;
    const auto x = whole_number((*list)[0]);
    const auto y = whole_number((*list)[1]);
    if (!x || !y) return std::nullopt;
    return CoreCoord{*x, *y};
  }
  const Fields* fields = fields_of(value);
  if (fields == nullptr) return std::nullopt;
  if (fields->size() == 1 && (*fields)[0].second.as_list() != nullptr) return grid_of((*fields)[0].second);
  for (const auto& [name, field] : *fields) {
    const auto number = whole_number(field);
    if (!number) continue;
    if (name == "x") out.x = *number;
    if (name == "y") out.y = *number;
  }
  return out;
}

const Value* field(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

MatmulProgram::Kind kind_of(std::string_view type, const Fields& fields, const MatmulOperands& operands) {
  using Kind = MatmulProgram::Kind;
  for (const Kind kind :
       {Kind::kMultiCore, Kind::kReuse, Kind::kMcast2D, Kind::kMcast1D, Kind::kDramSharded, Kind::kBatchedDram})
    if (type.ends_with(name_of(kind))) return kind;
  // A trace that lost the type still shows which fields it had.
  if (field(fields, "mcast_in0") != nullptr) return Kind::kMcast1D;
  if (field(fields, "transpose_mcast") != nullptr) return Kind::kMcast2D;
  if (field(fields, "out_subblock_h") != nullptr) return Kind::kReuse;
  if (sharded(*operands.a) && sharded(*operands.b)) {
    if (operands.a->memory->layout.value == MemoryLayout::kWidthSharded) return Kind::kDramSharded;
    if (operands.a->memory->layout.value == MemoryLayout::kHeightSharded) return Kind::kBatchedDram;
  }
  return Kind::kUnknown;
}

Checked<MatmulProgram> named_program(const BoundCall& call, const MatmulOperands& operands) {
  const Value& value = *call.find("program_config");
  const Fields* fields = fields_of(value);
  const Struct* as_struct = value.as_struct();
  const std::string_view type = as_struct != nullptr ? std::string_view(as_struct->type) : std::string_view();
  if (fields == nullptr || (as_struct != nullptr && !type.ends_with("ProgramConfig")))
    return type_error(call.op, "program_config", value);
  MatmulProgram program;
  program.named = true;
  program.kind = kind_of(type, *fields, operands);
  program.mcast_in0 = program.kind == MatmulProgram::Kind::kMcast1D;
  bool blocks = false;
  for (const auto& [name, member] : *fields) {
    if (name == "compute_with_storage_grid_size") {
      const auto grid = grid_of(member);
      if (!grid) return type_error(call.op, "program_config.compute_with_storage_grid_size", member);
      program.grid = *grid;
      continue;
    }
    if (name == "fused_activation") {
      program.fused_activation = member;
      continue;
    }
    if (name == "hop_cores" || name == "num_global_cb_receivers" || name == "allowed_worker_cores" || member.is_null())
      continue;
    const auto number = whole_number(member);
    if (!number || *number < 0) return type_error(call.op, fmt::format("program_config.{}", name), member);
    if (name == "in0_block_w") program.in0_block_w = *number;
    if (name == "out_subblock_h") program.out_subblock_h = *number;
    if (name == "out_subblock_w") program.out_subblock_w = *number;
    if (name == "out_block_h") program.out_block_h = *number;
    if (name == "out_block_w") program.out_block_w = *number;
    if (name == "per_core_M") program.per_core_m = *number;
    if (name == "per_core_N") program.per_core_n = *number;
    if (name == "fuse_batch") program.fuse_batch = *number != 0;
    if (name == "transpose_mcast") program.transpose_mcast = *number != 0;
    if (name == "mcast_in0") program.mcast_in0 = *number != 0;
    if (name == "gather_in0") program.gather_in0 = *number != 0;
    if (name == "untilize_out") program.untilize_out = *number != 0;
    blocks = blocks || name == "out_block_h" || name == "out_block_w";
  }
  if (!blocks) {
    program.out_block_h = program.per_core_m;
    program.out_block_w = program.per_core_n;
  }
  return program;
}

bool interleaved(const MemoryConfig& memory) { return !memory.sharded(); }
bool in_dram(const MemoryConfig& memory) { return memory.buffer.value != BufferType::kL1; }
MemoryConfig memory_of(const TensorSpec& spec) { return spec.memory.value_or(MemoryConfig{}); }

}  // namespace

std::string_view name_of(MatmulProgram::Kind kind) {
  switch (kind) {
    case MatmulProgram::Kind::kMultiCore:
      return "MatmulMultiCoreProgramConfig";
    case MatmulProgram::Kind::kReuse:
      return "MatmulMultiCoreReuseProgramConfig";
    case MatmulProgram::Kind::kMcast2D:
      return "MatmulMultiCoreReuseMultiCastProgramConfig";
    case MatmulProgram::Kind::kMcast1D:
      return "MatmulMultiCoreReuseMultiCast1DProgramConfig";
    case MatmulProgram::Kind::kDramSharded:
      return "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig";
    case MatmulProgram::Kind::kBatchedDram:
      return "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig";
    case MatmulProgram::Kind::kUnknown:
      break;
  }
  return "program_config";
}

MemoryConfig matmul_memory(const BoundCall& call) {
  if (const TensorSpec* output = call.tensor("optional_output_tensor"); output != nullptr && output->memory)
    return *output->memory;
  if (const MemoryConfig* memory = call.memory("memory_config")) return *memory;
  MemoryConfig dram;
  dram.layout.value = MemoryLayout::kInterleaved;
  dram.buffer.value = BufferType::kDram;
  return dram;
}

Checked<DType> matmul_dtype(const BoundCall& call) {
  const TensorSpec* a = call.tensor("input_tensor_a");
  DType otherwise = a == nullptr ? DType::kBfloat16 : a->dtype.value;
  if (const TensorSpec* output = call.tensor("optional_output_tensor")) otherwise = output->dtype.value;
  return call.dtype("dtype", otherwise);
}

bool bias_apart(const BoundCall& call) {
  const TensorSpec* bias = call.tensor("bias");
  const auto operands = matmul_operands(call);
  if (bias == nullptr || !operands) return false;
  // Only one row of values goes into the product, the same for all rows. More of them are added elementwise.
  if (bias->shape.size() > 1 && bias->shape[bias->shape.size() - 2] != 1) return true;
  const Shape padded = padded_shape(bias->shape, Layout::kTile);
  const std::int64_t n = operands->b_shape.back();
  if (bias->layout.value == Layout::kRowMajor || bias->shape.empty() || matrices_in(padded) != 1 ||
      padded[padded.size() - 2] != 32 || padded.back() != round_up(n, 32) || bias->shape.back() < n)
    return true;
  if (call.passed("program_config") || call.passed("core_grid")) return false;
  const MemoryConfig memory = matmul_memory(call);
  if (!in_dram(memory)) return true;
  if (sharded(*operands->a)) return false;
  const MemoryConfig a = memory_of(*operands->a);
  const MemoryConfig b = memory_of(*operands->b);
  return !(interleaved(a) && interleaved(b) && interleaved(memory) && in_dram(a) && in_dram(b));
}

ComputeConfig matmul_compute(const BoundCall& call, const Board& board) {
  const TensorSpec* a = call.tensor("input_tensor_a");
  const TensorSpec* b = call.tensor("input_tensor_b");
  ComputeConfig config;
  if (a == nullptr || b == nullptr) return config;
  const bool low = is_block_float(a->dtype.value) && is_block_float(b->dtype.value);
  const bool cut = call.passed("program_config") || call.passed("core_grid");
  config.fidelity = cut || low ? Fidelity::kLoFi : Fidelity::kHiFi2;
  if (a->dtype.value == DType::kFloat32 && b->dtype.value == DType::kFloat32)
    config.fidelity = board.wormhole() ? Fidelity::kHiFi3 : Fidelity::kHiFi4;
  const auto dtype = matmul_dtype(call);
  config.fp32_acc = dtype && *dtype == DType::kFloat32;
  config.l1_acc = !config.fp32_acc;
  if (call.passed("compute_kernel_config"))
    if (const auto read = compute_config_of(*call.find("compute_kernel_config"), config)) config = *read;
  return config;
}

Checked<MatmulProgram> matmul_program(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const MatmulOperands operands, matmul_operands(call));
  if (call.passed("program_config")) return named_program(call, operands);
  std::optional<CoreCoord> core_grid;
  if (call.passed("core_grid")) {
    core_grid = grid_of(*call.find("core_grid"));
    if (!core_grid) return type_error(call.op, "core_grid", *call.find("core_grid"));
  }
  return chosen_program(call, operands, core_grid, board);
}

std::vector<CoreRange> first_cores(std::int64_t count, CoreCoord grid, bool by_rows) {
  const std::int64_t line = std::max<std::int64_t>(1, by_rows ? grid.x : grid.y);
  const std::int64_t full = count / line;
  const std::int64_t rest = count % line;
  std::vector<CoreRange> out;
  const auto add = [&](std::int64_t first, std::int64_t lines, std::int64_t length) {
    if (by_rows)
      out.push_back({{0, first}, {length - 1, first + lines - 1}});
    else
      out.push_back({{first, 0}, {first + lines - 1, length - 1}});
  };
  if (full > 0) add(0, full, line);
  if (rest > 0) add(full, 1, rest);
  return out;
}

CoreRange bounding_box(const std::vector<CoreRange>& ranges) {
  if (ranges.empty()) return {};
  CoreRange out = ranges.front();
  for (const CoreRange& range : ranges) {
    out.start = {std::min(out.start.x, range.start.x), std::min(out.start.y, range.start.y)};
    out.end = {std::max(out.end.x, range.end.x), std::max(out.end.y, range.end.y)};
  }
  return out;
}

}  // namespace opwright
