#include "model/case_line.h"

#include <fmt/format.h>

#include "base/words.h"
#include "model/value_parse.h"

namespace opwright {
namespace {}  // namespace

std::string case_line(const OpConfig& config) {
  std::string out;
  for (const char c : config.op)
    if (c == '.' && config.convention == Convention::kCpp)
      out += "::";
    else
      out += c;
  out += '(';
  for (std::size_t i = 0; i < config.args.size(); ++i) {
    if (i > 0) out += ", ";
    append_name(out, config.args[i].name);
    out += '=';
    append_text(out, config.args[i].value);
  }
  return out + ")";
}

Result<OpConfig> parse_case(std::string_view line) {
  const auto open = line.find('(');
  if (open == std::string_view::npos || open == 0)
    return fail(ErrorCode::kUsage,
                "a case is written OP(name=value, …), e.g. 'ttnn.relu(input_tensor=tensor([32,32] BFLOAT16 TILE DEVICE "
                "memory(DRAM INTERLEAVED)))'");
  OpConfig config;
  const std::string_view name = line.substr(0, open);
  config.convention = name.find("::") != std::string_view::npos ? Convention::kCpp : Convention::kPython;
  config.op = dotted(name);
  auto fields = parse_fields(line.substr(open));
  if (!fields) return fail(ErrorCode::kUsage, fmt::format("--case: {}", fields.error().message));
  std::size_t position = 0;
  for (auto& [field, value] : *fields)
    config.args.push_back({field.empty() ? fmt::format("arg{}", position++) : field, std::move(value)});
  return config;
}

std::string repeat_command(std::string_view line, std::string_view device, const DataRecipe& recipe) {
  std::string out = fmt::format("opwright run --case {} --device {}", shell_quoted(line), shell_word(device));
  if (recipe.seed != 1) out += fmt::format(" --seed {}", recipe.seed);
  if (recipe.distribution != Distribution::kNormal) out += fmt::format(" --data {}", flag_of(recipe.distribution));
  return out;
}

}  // namespace opwright
