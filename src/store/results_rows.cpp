#include "store/results_rows.h"

#include <fmt/format.h>

#include <optional>

namespace opwright::store {
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
  row << run_id << record.index << record.vector << record.key << record.config_hash << record.op << record.suite
      << record.line << record.repeat << record.dtype << record.layout << record.memory << record.models << record.calls
      << record.elements << flag_of(record.recipe.distribution) << static_cast<std::int64_t>(record.recipe.seed)
      << name_of(record.outcome) << record.reason << record.argument << name_of(record.blame) << record.evidence
      << record.notes << std::int64_t{record.attempts} << record.pcc << record.ulp << record.nrmse << record.bound_used
      << record.judged << record.verdicts << record.outputs << record.fields << record.fields_equal
      << record.differences << record.faults << record.faults_noticed << record.unnoticed << record.against
      << record.disagreement << record.started << record.wall_seconds << record.device_seconds << record.cold_seconds
      << record.kernel_seconds << record.reference_seconds << record.l1_per_core << record.dram << record.host_bytes;
}

Result<CaseRecord> read_record(const Statement& row, const std::string& path) {
  CaseRecord record;
  std::string distribution, outcome, blame;
  Columns(row, 1) >> record.index >> record.vector >> record.key >> record.config_hash >> record.op >> record.suite >>
      record.line >> record.repeat >> record.dtype >> record.layout >> record.memory >> record.models >> record.calls >>
      record.elements >> distribution >> record.recipe.seed >> outcome >> record.reason >> record.argument >> blame >>
      record.evidence >> record.notes >> record.attempts >> record.pcc >> record.ulp >> record.nrmse >>
      record.bound_used >> record.judged >> record.verdicts >> record.outputs >> record.fields >> record.fields_equal >>
      record.differences >> record.faults >> record.faults_noticed >> record.unnoticed >> record.against >>
      record.disagreement >> record.started >> record.wall_seconds >> record.device_seconds >> record.cold_seconds >>
      record.kernel_seconds >> record.reference_seconds >> record.l1_per_core >> record.dram >> record.host_bytes;
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

}  // namespace opwright::store
