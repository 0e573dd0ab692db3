#include "jobs/named_case.h"

#include <fmt/format.h>

#include <ranges>
#include <set>

#include "base/words.h"
#include "jobs/question.h"
#include "model/case_line.h"
#include "model/case_name.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kShownLine = 80;

// Vectors that were made, not recorded: only their results know them.
Status add_from_results(const std::string& name, const std::string& store, int wait_ms, std::set<std::string>& lines) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(store, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const auto runs, reader->runs());
  for (const RunRecord& run : std::views::reverse(runs)) {
    OPWRIGHT_TRY(reader->for_each(run.uid, [&](CaseRecord&& record) -> Status {
      if (is_named(record, name)) lines.insert(record.line);
      return {};
    }));
    if (!lines.empty()) return {};
  }
  return {};
}

}  // namespace

Result<std::string> case_line_of(const std::string& line_or_name, const std::string& store, int wait_ms) {
  if (!line_or_name.starts_with('@')) return line_or_name;
  if (!is_case_name(line_or_name))
    return fail(
        ErrorCode::kUsage,
        fmt::format("'{}' is no name of a case: @ and four or more of its digits, as '@054f8d1b'", line_or_name));
  std::set<std::string> lines;
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(store, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where("key=" + line_or_name.substr(1)));
  OPWRIGHT_TRY(
      select::for_each_selected(*reader, selector, {.arguments = true}, [&](select::Selected&& found) -> Status {
        lines.insert(case_line(found.config));
        return {};
      }));
  if (lines.empty()) OPWRIGHT_TRY(add_from_results(line_or_name, store, wait_ms, lines));
  if (lines.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no case {}; 'opwright results --list' shows the names of a run's cases", store,
                            line_or_name));
  if (lines.size() > 1)
    return fail(ErrorCode::kUsage,
                fmt::format("{} begins {}, such as {}; give more of it", line_or_name,
                            plural(std::ssize(lines), "case"), cut_text(*lines.begin(), kShownLine)));
  return *lines.begin();
}

}  // namespace opwright::jobs
