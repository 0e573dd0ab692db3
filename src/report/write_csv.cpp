#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/json_write.h"
#include "base/words.h"
#include "model/record_fields.h"
#include "report/exports.h"

namespace opwright::report {
namespace {

std::string cell_of(const std::string& text) { return text; }
std::string cell_of(std::int64_t value) { return std::to_string(value); }
std::string cell_of(std::uint64_t value) { return std::to_string(value); }
std::string cell_of(int value) { return std::to_string(value); }
std::string cell_of(double value) {
  if (std::isnan(value)) return "nan";
  return std::isinf(value) ? (value > 0 ? "inf" : "-inf") : json::float_text(value);
}
std::string cell_of(const std::optional<double>& value) { return value ? cell_of(*value) : ""; }
std::string cell_of(Distribution distribution) { return std::string(flag_of(distribution)); }
std::string cell_of(Outcome outcome) { return std::string(name_of(outcome)); }
std::string cell_of(const std::optional<Outcome>& outcome) { return outcome ? cell_of(*outcome) : ""; }
std::string cell_of(Blame blame) { return std::string(name_of(blame)); }

// Header and rows from one list (model/record_fields.h), so that the two cannot differ.
std::string row_of(const CaseRecord& record, bool header) {
  std::array<std::string, kCsvFields> cells;
  for_each_field(record, [&](const RecordField& field, const auto& value) {
    if (field.csv > 0)
      cells.at(static_cast<std::size_t>(field.csv) - 1) = header ? std::string(field.name) : cell_of(value);
  });
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
  return line + "\n";
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
