#include "dialect/ttnn/attention_program.h"

#include "model/value.h"

namespace opwright {
namespace {

std::optional<std::int64_t> number_in(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return *i;
  if (const bool* b = value.as_bool()) return *b ? 1 : 0;
  const std::string* text = value.as_string();
  const Enum* word = value.as_enum();
  const std::string_view name = text != nullptr ? *text : word != nullptr ? std::string_view(word->name) : "";
  if (name == "True" || name == "true" || name == "1") return 1;
  if (name == "False" || name == "false" || name == "0") return 0;
  return std::nullopt;
}

// [8, 8], CoreCoord(x=8, y=8), {"x": 8, "y": 8}
std::optional<CoreCoord> coord_in(const Value& value) {
  if (const List* list = value.as_list(); list != nullptr && list->size() == 2) {
    const auto x = number_in((*list)[0]);
    const auto y = number_in((*list)[1]);
    if (x && y) return CoreCoord{*x, *y};
  }
  const Struct* s = value.as_struct();
  const Fields* fields = s != nullptr ? &s->fields : value.as_dict();
  if (fields == nullptr) return std::nullopt;
  if (fields->size() == 1) return coord_in((*fields)[0].second);
  if (fields->size() != 2) return std::nullopt;
  const auto x = number_in((*fields)[0].second);
  const auto y = number_in((*fields)[1].second);
  if (!x || !y) return std::nullopt;
  return CoreCoord{*x, *y};
}

}  // namespace

Checked<std::optional<AttentionProgram>> attention_program(const BoundCall& call, std::string_view param) {
  if (!call.passed(param)) return std::nullopt;
  const Value& value = *call.find(param);
  const Struct* s = value.as_struct();
  if (s == nullptr || s->type.find("SDPAProgramConfig") == std::string::npos) return type_error(call.op, param, value);
  AttentionProgram program;
  for (const auto& [name, field] : s->fields) {
    if (name == "compute_with_storage_grid_size" || name == "compute_grid") {
      program.grid = coord_in(field);
    } else if (name == "sub_core_grids") {
      program.sub_core_grids = !field.is_null();
    } else if (const auto number = number_in(field)) {
      if (name == "q_chunk_size") program.q_chunk = *number;
      if (name == "k_chunk_size") program.k_chunk = *number;
      if (name == "exp_approx_mode") program.exp_approx = *number != 0;
      if (name == "max_cores_per_head_batch") program.max_cores_per_head = *number;
    }
  }
  return program;
}

}  // namespace opwright
