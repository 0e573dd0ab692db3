#include "jobs/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/near_names.h"
#include "dialect/dialect.h"
#include "store/store.h"

namespace opwright::jobs {

Result<std::unique_ptr<store::Reader>> open_reader(const std::string& store, int wait_ms) {
  return store::open_reader(store, wait_ms, select::identity_of_this_build());
}

Result<select::Selector> parse_where(const std::string& where) {
  if (where.empty()) return select::Selector{};
  return select::parse_selector(where);
}

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

Status check_operations(store::Reader& reader, const std::vector<std::string>& wanted) {
  for (const std::string& op : wanted) {
    OPWRIGHT_TRY_ASSIGN([[maybe_unused]] const auto names, operations_named(reader, op));
  }
  return {};
}

}  // namespace opwright::jobs
