#include "model/case_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "base/secrets.h"
#include "base/words.h"
#include "model/position_name.h"
#include "model/value_parse.h"

namespace opwright {
namespace {

// A name that cannot be told from what follows it, or that would break the line, stands in quotes.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    return c == '(' || c == '"' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

// Where the operation's name ends; 0 where there is none.
std::size_t name_length(std::string_view line) {
  std::size_t end = 0;
  if (line.starts_with('"')) {
    for (end = 1; end < line.size() && line[end] != '"'; ++end)
      if (line[end] == '\\') ++end;
    ++end;
  } else {
    end = line.find('(');
  }
  return end < line.size() && line[end] == '(' ? end : 0;
}

}  // namespace

std::string case_line(const OpConfig& config) {
  std::string name;
  for (const char c : config.op)
    if (c == '.' && config.convention == Convention::kCpp)
      name += "::";
    else
      name += c;
  std::string out;
  if (is_plain(name))
    out = std::move(name);
  else
    json::append_quoted(out, name);
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
  const std::size_t open = name_length(line);
  if (open == 0)
    return fail(ErrorCode::kUsage,
                "a case is written OP(name=value, …), e.g. 'ttnn.relu(input_tensor=tensor([32,32] BFLOAT16 TILE DEVICE "
                "memory(DRAM INTERLEAVED)))'");
  OpConfig config;
  std::string name(line.substr(0, open));
  if (name.starts_with('"')) {
    const auto unquoted = parse_value(name);
    const std::string* text = unquoted ? unquoted->as_string() : nullptr;
    if (text == nullptr) return fail(ErrorCode::kUsage, fmt::format("--case: {} is no name in quotes", name));
    name = *text;
  } else if (!is_plain(name)) {
    return fail(ErrorCode::kUsage,
                "--case: a name with quotes or control characters must stand in quotes, as JSON has them");
  }
  config.convention = name.find("::") != std::string_view::npos ? Convention::kCpp : Convention::kPython;
  config.op = dotted(name);
  auto fields = parse_fields(line.substr(open));
  if (!fields) return fail(ErrorCode::kUsage, fmt::format("--case: {}", fields.error().message));
  std::size_t position = 0;
  for (auto& [field, value] : *fields)
    config.args.push_back({field.empty() ? position_name(position++) : field, std::move(value)});
  return config;
}

std::string repeat_command(std::string_view line, std::string_view device, const DataRecipe& recipe) {
  std::string out = fmt::format("opwright run --case {} --device {}", shell_quoted(line), shell_word(masked(device)));
  if (recipe.seed != 1) out += fmt::format(" --seed {}", recipe.seed);
  if (recipe.kept || recipe.distribution != Distribution::kNormal) out += fmt::format(" --data {}", data_text(recipe));
  return out;
}

}  // namespace opwright
