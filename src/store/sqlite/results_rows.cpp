#include "store/sqlite/results_rows.h"

#include <optional>
#include <variant>

#include "store/result_values.h"

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

}  // namespace

void bind_record(SummedRow& row, std::int64_t run_id, const CaseRecord& record) {
  for (const ResultValue& value : result_values(run_id, record))
    std::visit([&](const auto& one) { row << one; }, value);
}

Result<CaseRecord> read_record(const Statement& row, const std::string& path) {
  return record_from(path, [&](int place, auto& value) { Columns(row, place) >> value; });
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
