#include "store/result_values.h"

namespace opwright::store {
namespace {

// A field as the store has it.
std::int64_t stored(std::int64_t value) { return value; }
std::int64_t stored(int value) { return value; }
std::int64_t stored(std::uint64_t value) { return static_cast<std::int64_t>(value); }
double stored(double value) { return value; }
std::optional<double> stored(const std::optional<double>& value) { return value; }
std::string_view stored(const std::string& text) { return text; }
std::string_view stored(Distribution distribution) { return flag_of(distribution); }
std::string_view stored(Outcome outcome) { return name_of(outcome); }
std::string_view stored(Blame blame) { return name_of(blame); }
std::string_view stored(const std::optional<Outcome>& outcome) { return outcome ? name_of(*outcome) : ""; }

}  // namespace

std::array<ResultValue, kStoredFields + 1> result_values(std::int64_t run_id, const CaseRecord& record) {
  std::array<ResultValue, kStoredFields + 1> values;
  values[0] = run_id;
  for_each_field(record, [&](const RecordField& field, const auto& value) {
    if (field.place > 0) values.at(static_cast<std::size_t>(field.place)) = stored(value);
  });
  return values;
}

}  // namespace opwright::store
