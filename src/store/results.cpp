#include "store/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/near_names.h"

namespace opwright::store {

Error no_run(const std::string& name, std::string_view uid) {
  return {ErrorCode::kNotFound, fmt::format("{}: no run '{}'; 'opwright results --runs' lists them", name, uid)};
}

Result<RunRecord> ResultsReader::find_run(std::string_view name) {
  OPWRIGHT_TRY_ASSIGN(std::vector<RunRecord> all, runs());
  const auto not_found = [&](std::string why) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: {}", this->name(), why));
  };
  if (all.empty()) return not_found("the store has no runs yet; make one with 'opwright run'");
  if (name == "last" || name.starts_with("last~")) {
    std::size_t back = 0;
    if (const std::string_view digits = name.substr(std::min<std::size_t>(name.size(), 5)); name.size() > 4) {
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), back);
      if (error != std::errc() || end != digits.data() + digits.size())
        return fail(ErrorCode::kUsage, fmt::format("'{}' names no run; last, last~1, last~2, … do", name));
    }
    if (back >= all.size())
      return not_found(fmt::format("no run '{}': there {} only {}", name, all.size() == 1 ? "is" : "are", all.size()));
    return all[all.size() - 1 - back];
  }
  std::vector<const RunRecord*> found;
  for (const RunRecord& run : all) {
    if (run.uid == name) return run;
    if (run.uid.starts_with(name)) found.push_back(&run);
  }
  if (found.size() == 1 && !name.empty()) return *found.front();
  if (found.size() > 1) {
    std::string names;
    for (std::size_t i = 0; i < found.size() && i < 5; ++i) names += (i > 0 ? ", " : "") + found[i]->uid;
    return fail(ErrorCode::kUsage, fmt::format("'{}' is the beginning of {} runs ({}{}); write more of it", name,
                                               found.size(), names, found.size() > 5 ? ", …" : ""));
  }
  std::vector<std::string_view> known;
  for (const RunRecord& run : all) known.push_back(run.uid);
  const auto near = near_names(name, known);
  return not_found(fmt::format("no run '{}'{}; 'opwright results --runs' lists them", name, did_you_mean(near)));
}

}  // namespace opwright::store
