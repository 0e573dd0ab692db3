#include "jobs/earlier_times.h"

#include <unistd.h>

#include <algorithm>
#include <ranges>

#include "base/json.h"
#include "base/secrets.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kRuns = 3;  // the newest: older ones are of other machines and versions

const std::string& name_of_case(const std::string& key, const std::string& vector) {
  return key.empty() ? vector : key;
}

// Whether a case of that run costs what one of this choice does.
bool costs_the_same(const RunRecord& run, const RunChoice& choice) {
  if (run.device != masked(choice.device.value_or("sim")) || run.against != masked(choice.against)) return false;
  json::Document document;
  const auto root = document.parse(run.plan);
  const json::Node* flags = root ? (*root)->find("flags") : nullptr;
  if (flags == nullptr) return false;
  return std::ranges::all_of(choice_fields(), [&](std::string_view field) {
    return !is_switch(field) || field == "--plan-order" ||
           !texts_of(choice, field).empty() == (flags->find(field) != nullptr);
  });
}

}  // namespace

Result<EarlierTimes> EarlierTimes::read(const RunChoice& choice, const VectorPlace& place) {
  EarlierTimes times;
  const auto reader = store::open_results(place.store, place.wait_ms);
  if (!reader) return times;  // whoever needs the store says what is wrong with it
  OPWRIGHT_TRY_ASSIGN(const auto runs, (*reader)->runs());
  std::size_t taken = 0;
  for (const RunRecord& run : std::views::reverse(runs)) {
    if (!costs_the_same(run, choice)) continue;
    if (++taken > kRuns) break;
    OPWRIGHT_TRY((*reader)->for_each(run.uid, [&](CaseRecord&& record) -> Status {
      const bool answered = standing_of(record.outcome) != Standing::kNoAnswer;
      if (record.outcome == Outcome::kNotRun || record.wall_seconds <= 0) return {};
      times.took_.try_emplace(name_of_case(record.key, record.vector), Took{record.wall_seconds, answered});
      return {};
    }));
  }
  return times;
}

const EarlierTimes::Took* EarlierTimes::of(const std::string& key, const std::string& vector) const {
  const auto found = took_.find(name_of_case(key, vector));
  return found == took_.end() ? nullptr : &found->second;
}

}  // namespace opwright::jobs
