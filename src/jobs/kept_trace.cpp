#include "jobs/kept_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/near_names.h"
#include "base/visible_text.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kShortId = 12;
constexpr std::size_t kMostNamed = 3;

std::string choices(const std::vector<const store::SequenceRow*>& found) {
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostNamed); ++i)
    text += fmt::format("{}{} ({})", i > 0 ? ", " : "", short_id(*found[i]), visible(found[i]->sequence.name));
  return text + (found.size() > kMostNamed ? ", …" : "");
}

}  // namespace

std::string short_id(const store::SequenceRow& row) { return to_hex(row.sequence.digest).substr(0, kShortId); }

Result<store::SequenceRow> find_trace(store::Reader& reader, const std::string& wanted) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<store::SequenceRow> rows, reader.sequences());
  if (rows.empty())
    return fail(ErrorCode::kNotFound,
                "the store has no calls of a trace; import one again (opwright import PATH), without --no-calls");
  std::vector<const store::SequenceRow*> named, begun;
  for (const store::SequenceRow& row : rows) {
    if (row.sequence.name == wanted) named.push_back(&row);
    if (!wanted.empty() && to_hex(row.sequence.digest).starts_with(wanted)) begun.push_back(&row);
  }
  const auto& found = named.empty() ? begun : named;
  if (found.size() == 1) return *found.front();
  if (found.size() > 1)
    return fail(ErrorCode::kNotFound, fmt::format("trace '{}': {} of them, e.g. {}; name one by its id", wanted,
                                                  found.size(), choices(found)));
  std::vector<std::string_view> names;
  for (const store::SequenceRow& row : rows) names.push_back(row.sequence.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto near = near_names(wanted, names);
  return fail(ErrorCode::kNotFound, fmt::format("no trace '{}' in the store{} 'opwright traces' lists them", wanted,
                                                near.empty() ? ";" : did_you_mean(near)));
}

}  // namespace opwright::jobs
