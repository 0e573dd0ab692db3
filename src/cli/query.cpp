#include "cli/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/near_names.h"
#include "dialect/dialect.h"

namespace opwright::cli {
namespace {

// As a selector takes it: a name of a trace may hold quotes.
std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The operations of the store that `wanted` names: `add`, `ttnn.add`, `ttnn::add`, `experimental.add`.
Result<std::vector<std::string>> operations_named(store::Reader& reader, const std::string& wanted) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> names, reader.operation_names());
  const std::vector<std::string> meant = possible_operations(wanted);
  const auto same = [](std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  for (const std::string& full : meant) {
    for (const std::string& known : names) {
      if (same(known, full)) return std::vector<std::string>{known};
    }
  }
  std::vector<std::string> found;
  for (const std::string& known : names) {
    if (same(short_name(known), meant.front())) found.push_back(known);
  }
  if (!found.empty()) return found;
  for (const std::string& known : names) {
    if (!dialect_of(known).overloads) continue;
    const std::string_view base = std::string_view(known).substr(0, known.rfind('.'));
    if (std::ranges::any_of(meant, [&](const std::string& full) { return same(base, full); })) found.push_back(known);
  }
  if (!found.empty()) return found;
  const std::vector<std::string_view> in_store(names.begin(), names.end());
  std::string message = fmt::format("no operation '{}' in the store", wanted);
  if (std::ranges::any_of(meant, [](const std::string& op) { return dialect_of(op).tables().is_known(op); }))
    message += " (the library has it, but no imported trace calls it)";
  const std::string suggestion = did_you_mean(near_names(meant.front(), in_store));
  return fail(ErrorCode::kNotFound,
              fmt::format("{}{} 'opwright ops' lists what is there", message, suggestion.empty() ? ";" : suggestion));
}

}  // namespace

Result<std::unique_ptr<store::Reader>> open_store(const ParsedArgs& args, const CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  return jobs::open_reader(env.store, wait);
}

Result<select::Selector> selector_of(const ParsedArgs& args) { return jobs::parse_where(args.value("--where")); }

Result<jobs::Question> question_of(const ParsedArgs& args, const CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  return jobs::Question{env.store, wait, args.value("--where")};
}

Result<std::vector<Part>> parts_of(const ParsedArgs& args, store::Reader& reader) {
  OPWRIGHT_TRY_ASSIGN(select::Selector selector, selector_of(args));
  std::vector<Part> parts;
  if (args.positionals.empty()) {
    parts.push_back({std::move(selector), ""});
    return parts;
  }
  OPWRIGHT_TRY_ASSIGN(const auto names, operations_named(reader, args.positionals[0]));
  for (const std::string& name : names) {
    std::string text = fmt::format("op={}", quoted(name));
    if (const std::string where = args.value("--where"); !where.empty()) text += fmt::format(" and ({})", where);
    OPWRIGHT_TRY_ASSIGN(select::Selector narrowed, select::parse_selector(text));
    parts.push_back({std::move(narrowed), name});
  }
  return parts;
}

}  // namespace opwright::cli
