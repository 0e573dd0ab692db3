#include "cli/query.h"

#include <fmt/format.h>

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
  OPWRIGHT_TRY_ASSIGN(const auto names, jobs::operations_named(reader, args.positionals[0]));
  for (const std::string& name : names) {
    std::string text = fmt::format("op={}", quoted(name));
    if (const std::string where = args.value("--where"); !where.empty()) text += fmt::format(" and ({})", where);
    OPWRIGHT_TRY_ASSIGN(select::Selector narrowed, select::parse_selector(text));
    parts.push_back({std::move(narrowed), name});
  }
  return parts;
}

}  // namespace opwright::cli
