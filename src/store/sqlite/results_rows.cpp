#include "store/sqlite/results_rows.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "model/record_fields.h"

namespace opwright::store::sqlite {
namespace {

class Columns {
 public:
  Columns(const Statement& statement, int first) : statement_(statement), next_(first) {}
  Columns& operator>>(std::string& text) { return text = statement_.text(next_++), *this; }
  Columns& operator>>(std::int64_t& value) { return value = statement_.integer(next_++), *this; }
  Columns& operator>>(int& value) { return value = static_cast<int>(statement_.integer(next_++)), *this; }
  Columns& operator>>(std::uint64_t& value) {
    return value = static_cast<std::uint64_t>(statement_.integer(next_++)), *this;
  }
  Columns& operator>>(double& value) { return value = statement_.real(next_++), *this; }
  Columns& operator>>(std::optional<double>& value) {
    if (statement_.is_null(next_))
      value.reset();
    else
      value = statement_.real(next_);
    return ++next_, *this;
  }

 private:
  const Statement& statement_;
  int next_;
};

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

void bind_record(SummedRow& row, std::int64_t run_id, const CaseRecord& record) {
  using Value = std::variant<std::int64_t, double, std::optional<double>, std::string_view>;
  std::array<Value, kStoredFields + 1> row_values;
  row_values[0] = run_id;
  for_each_field(record, [&](const RecordField& field, const auto& value) {
    if (field.place > 0) row_values.at(static_cast<std::size_t>(field.place)) = stored(value);
  });
  for (const Value& value : row_values) std::visit([&](const auto& one) { row << one; }, value);
}

Result<CaseRecord> read_record(const Statement& row, const std::string& path) {
  CaseRecord record;
  std::string distribution, outcome, blame;
  for_each_field(record, [&](const RecordField& field, auto& value) {
    if (field.place == 0) return;
    using Kind = std::remove_reference_t<decltype(value)>;
    Columns column(row, field.place);
    if constexpr (std::is_same_v<Kind, Distribution>)
      column >> distribution;
    else if constexpr (std::is_same_v<Kind, Outcome>)
      column >> outcome;
    else if constexpr (std::is_same_v<Kind, Blame>)
      column >> blame;
    else if constexpr (!std::is_same_v<Kind, std::optional<Outcome>>)  // never stored
      column >> value;
  });
  const auto unknown = [&](std::string_view what, std::string_view word) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: result {} has the {} '{}', which this build does not know; "
                                                     "use a newer opwright",
                                                     path, record.index, what, word));
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

void bind_run(SummedRow& row, std::int64_t id, const RunRecord& run) {
  row << id << run.uid << run.started << run.ended << run.host << run.device << run.numerics << run.command
      << run.git_commit << run.version << run.suite << run.against << run.plan << run.facts << run.status
      << static_cast<std::int64_t>(run.seed) << run.planned;
}

RunRecord read_run(const Statement& row) {
  RunRecord run;
  Columns(row, 1) >> run.uid >> run.started >> run.ended >> run.host >> run.device >> run.numerics >> run.command >>
      run.git_commit >> run.version >> run.suite >> run.against >> run.plan >> run.facts >> run.status >> run.seed >>
      run.planned;
  return run;
}

}  // namespace opwright::store::sqlite
