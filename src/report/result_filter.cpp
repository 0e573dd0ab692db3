#include "report/result_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/near_names.h"
#include "base/text.h"
#include "report/agreement.h"

namespace opwright::report {
namespace {

constexpr std::string_view kFailure = "failure";

bool is_op(std::string_view op, std::string_view wanted) {
  return op == wanted ||
         (op.ends_with(wanted) && op.size() > wanted.size() && op[op.size() - wanted.size() - 1] == '.');
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    parts.push_back(trimmed(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

template <class Test>
bool any(const std::vector<std::string>& wanted, const Test& test) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), test);
}

// "; the run has no operator 'ad'; did you mean 'ttnn.add'?"
std::string missing(std::string_view what, const std::vector<std::string>& wanted, const std::set<std::string>& seen,
                    bool (*same)(std::string_view, std::string_view)) {
  const std::vector<std::string_view> known(seen.begin(), seen.end());
  std::string text;
  for (const std::string& one : wanted) {
    if (std::any_of(known.begin(), known.end(), [&](std::string_view name) { return same(name, one); })) continue;
    text += fmt::format("; it has no {} '{}'{}", what, one, did_you_mean(near_names(one, known)));
  }
  return text;
}

}  // namespace

Status ResultFilter::check() const {
  for (const std::string& word : outcomes) {
    if (word == kFailure || parse_outcome(word)) continue;
    std::vector<std::string_view> known{kFailure};
    for (const Outcome outcome : all_outcomes()) known.push_back(name_of(outcome));
    std::string list;
    for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
    return fail(ErrorCode::kUsage,
                fmt::format("--outcome: no '{}'{}; one of {}", word, did_you_mean(near_names(word, known)), list));
  }
  return {};
}

bool ResultFilter::matches(const CaseRecord& record) const {
  return (!disagreeing || agreement_of(record) == Agreement::kDisagree) && (!where || where(record)) &&
         any(ops, [&](const std::string& op) { return is_op(record.op, op); }) &&
         any(outcomes,
             [&](const std::string& word) {
               if (word == name_of(record.outcome)) return true;
               return word == kFailure && standing_of(record.outcome) == Standing::kFailed;
             }) &&
         any(models, [&](const std::string& model) {
           const auto parts = parts_of(record.models);
           return std::find(parts.begin(), parts.end(), model) != parts.end();
         });
}

ResultStream filtered(ResultStream results, ResultFilter filter) {
  if (filter.empty()) return results;
  return [results = std::move(results), filter = std::move(filter)](const UseResult& use) -> Status {
    bool found = false;
    std::set<std::string> ops, models;
    OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
      if (!filter.matches(record)) {
        if (!found) {  // names for the error; of no use once something matched
          ops.insert(record.op);
          for (const std::string_view model : parts_of(record.models)) models.emplace(model);
        }
        return {};
      }
      found = true;
      return use(std::move(record));
    }));
    if (found) return {};
    const auto equal = [](std::string_view a, std::string_view b) { return a == b; };
    return fail(ErrorCode::kNotFound,
                fmt::format("no result of the run matches{}{}{}{}", filter.disagreeing ? " --disagreeing" : "",
                            filter.where ? " --where" : "", missing("operation", filter.ops, ops, is_op),
                            missing("model", filter.models, models, equal)));
  };
}

}  // namespace opwright::report
