#include <fmt/format.h>

#include <cmath>

#include "base/atomic_file.h"
#include "base/json_write.h"
#include "base/words.h"
#include "report/exports.h"

namespace opwright::report {
namespace {

// Cells of one row, and the header from the same list, so that the two cannot differ.
class Row {
 public:
  explicit Row(bool header) : header_(header) {}
  Row& operator()(std::string_view name, std::string_view text) { return put(header_ ? name : text); }
  Row& operator()(std::string_view name, std::int64_t value) { return put(header_ ? name : std::to_string(value)); }
  Row& operator()(std::string_view name, double value) { return put(header_ ? std::string(name) : number(value)); }
  Row& operator()(std::string_view name, const std::optional<double>& value) {
    if (header_) return put(name);
    return put(value ? number(*value) : "");
  }
  std::string line() const { return line_ + "\n"; }

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "nan";
    return std::isinf(value) ? (value > 0 ? "inf" : "-inf") : json::float_text(value);
  }
  Row& put(std::string_view text) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += csv_cell(text);
    return *this;
  }
  bool header_, first_ = true;
  std::string line_;
};

std::string row_of(const CaseRecord& r, bool header) {
  Row row(header);
  row("index", r.index)("vector", r.vector)("key", r.key)("config_hash", r.config_hash)("op", r.op)("suite", r.suite)(
      "outcome", name_of(r.outcome))("reason", r.reason)("argument", r.argument)("blame", name_of(r.blame))(
      "evidence", r.evidence)("notes", r.notes)("attempts", std::int64_t{r.attempts});
  row("dtype", r.dtype)("layout", r.layout)("memory", r.memory)("models", r.models)("calls", r.calls)(
      "elements", r.elements)("data", flag_of(r.recipe.distribution))("seed", std::to_string(r.recipe.seed));
  row("pcc", r.pcc)("ulp", r.ulp)("nrmse", r.nrmse)("bound_used", r.bound_used)("judged", r.judged);
  row("fields", r.fields)("fields_equal", r.fields_equal)("differences", r.differences)("faults", r.faults)(
      "faults_noticed", r.faults_noticed)("unnoticed", r.unnoticed)("against", r.against)("disagreement",
                                                                                          r.disagreement);
  row("started", r.started)("wall_seconds", r.wall_seconds)("device_seconds", r.device_seconds)(
      "cold_seconds", r.cold_seconds)("kernel_seconds", r.kernel_seconds)("reference_seconds", r.reference_seconds)(
      "l1_per_core", r.l1_per_core)("dram", r.dram)("host_bytes", r.host_bytes);
  row("case", r.line)("repeat", r.repeat)("outputs", r.outputs)("verdicts", r.verdicts);
  return row.line();
}

}  // namespace

Result<Exported> write_csv(const std::string& file, const ResultStream& results) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile out, AtomicFile::create(file));
  Exported exported;
  OPWRIGHT_TRY(out.append(row_of({}, true)));
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    ++exported.results;
    return out.append(row_of(record, false));
  }));
  OPWRIGHT_TRY(out.commit());
  exported.bytes = static_cast<std::int64_t>(out.bytes());
  exported.files.push_back(file);
  return exported;
}

}  // namespace opwright::report
