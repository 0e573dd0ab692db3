// The fields of a result as the columns of any store have them: integers, doubles, texts (model/record_fields.h).
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/result.h"
#include "model/record_fields.h"

namespace opwright::store {

using ResultValue = std::variant<std::int64_t, double, std::optional<double>, std::string_view>;

// Column 0 is the run, then the fields by RecordField::place. Views into `record`.
std::array<ResultValue, kStoredFields + 1> result_values(std::int64_t run_id, const CaseRecord& record);

// The record of which `read(place, member)` gives each column; words of closed sets are read as texts. A word that this
// build does not know is an error: a default would be a lie.
template <class Read>
Result<CaseRecord> record_from(const std::string& store, const Read& read) {
  CaseRecord record;
  std::string distribution, outcome, blame;
  for_each_field(record, [&](const RecordField& field, auto& value) {
    if (field.place == 0) return;
    using Kind = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<Kind, Distribution>)
      read(field.place, distribution);
    else if constexpr (std::is_same_v<Kind, Outcome>)
      read(field.place, outcome);
    else if constexpr (std::is_same_v<Kind, Blame>)
      read(field.place, blame);
    else if constexpr (!std::is_same_v<Kind, std::optional<Outcome>>)  // never stored
      read(field.place, value);
  });
  const auto unknown = [&](std::string_view what, std::string_view word) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: result {} has the {} '{}', which this build does not know; "
                                                     "use a newer opwright",
                                                     store, record.index, what, word));
  };
  const auto known_distribution = parse_distribution(distribution);
  const auto known_outcome = parse_outcome(outcome);
  const auto known_blame = parse_blame(blame);
  if (!known_distribution) return unknown("distribution", distribution);
  if (!known_outcome) return unknown("outcome", outcome);
  if (!known_blame) return unknown("blame", blame);
  record.recipe.distribution = *known_distribution;
  record.outcome = *known_outcome;
  record.blame = *known_blame;
  return record;
}

}  // namespace opwright::store
