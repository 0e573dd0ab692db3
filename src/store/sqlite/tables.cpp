#include "store/sqlite/tables.h"

#include <array>

#include "base/broken.h"
#include "model/record_fields.h"

namespace opwright::store::sqlite {
namespace {

constexpr std::array kOperation{"id", "name"};
constexpr std::array kConfiguration{"id", "operation_id", "convention", "key"};
constexpr std::array kForm{"id",   "fingerprint", "configuration_id", "kind",           "op",   "pack_id",
                           "slot", "unparsed",    "unknown_names",    "duplicate_keys", "error"};
constexpr std::array kPack{"id", "data"};
constexpr std::array kSource{"id", "text", "path", "hf_model", "model"};
constexpr std::array kMachine{"id", "text", "label"};
constexpr std::array kTrace{"id", "uid", "format", "facts"};
constexpr std::array kOccurrence{"form_id",     "source_id", "machine_id", "trace_id", "sweep_source_hash",
                                 "config_hash", "count",     "extra",      "raised"};
constexpr std::array kPosting{"term", "first", "steps"};
constexpr std::array kRun{"id",       "uid",     "started",    "ended",   "host",   "device",
                          "numerics", "command", "git_commit", "version", "suite",  "against",
                          "plan",     "facts",   "status",     "seed",    "planned"};
constexpr std::array kSetting{"name", "value"};
constexpr std::array kSequence{"id",     "uid",  "digest", "name",       "command", "machine", "started",
                               "format", "flow", "calls",  "operations", "content", "size",    "packed"};
constexpr std::array kPiece{"sequence_id", "place", "data"};
constexpr std::array kFact{"kind", "value", "first", "steps"};
constexpr std::array kWord{"kind", "value", "text"};
constexpr std::array kBlock{"id", "data"};
constexpr std::array kByKey{"key", "id"};
constexpr std::array kByFingerprint{"fingerprint", "id"};

// "run_id", then those of model/record_fields.h.
std::span<const char* const> result_columns() {
  static const auto kColumns = [] {
    std::array<const char*, kStoredFields + 1> columns{"run_id"};
    CaseRecord any;
    for_each_field(any, [&](const RecordField& field, const auto&) {
      if (field.place > 0) columns.at(static_cast<std::size_t>(field.place)) = field.column;
    });
    return columns;
  }();
  return kColumns;
}

const std::array<TablePart, 20>& parts() {
  static const std::array<TablePart, 20> kParts{{
      {Part::kOperation, "operation", kOperation, 0, Grouping::kWhole, "", true, 1},
      {Part::kConfiguration, "configuration", kConfiguration, 0, Grouping::kRange, "", true, 1},
      // Forms are asked for by their configuration: their groups are read the same way, so a hole in that index is
      // seen.
      {Part::kForm, "form", kForm, 2, Grouping::kRange, "form_by_configuration", true, 1},
      {Part::kPack, "pack", kPack, 0, Grouping::kRange, "", true, 1},
      {Part::kSource, "source", kSource, 0, Grouping::kWhole, "", true, 1},
      {Part::kMachine, "machine", kMachine, 0, Grouping::kWhole, "", true, 1},
      {Part::kTrace, "trace", kTrace, 0, Grouping::kWhole, "", true, 1},
      {Part::kOccurrence, "occurrence", kOccurrence, 0, Grouping::kRange, "", true, 6},
      {Part::kPosting, "posting", kPosting, 0, Grouping::kTopBits, "", true, 2},
      {Part::kRun, "run", kRun, 0, Grouping::kWhole, "", true, 1},
      {Part::kResult, "result", result_columns(), 0, Grouping::kEach, "sqlite_autoindex_result_1", true, 2, 9},
      {Part::kSetting, "setting", kSetting, 0, Grouping::kWhole, "", true, 1},
      {Part::kConfigurationByKey, "configuration", kByKey, 0, Grouping::kPrefix, "sqlite_autoindex_configuration_1",
       false, 1},
      {Part::kFormByFingerprint, "form", kByFingerprint, 0, Grouping::kPrefix, "sqlite_autoindex_form_1", false, 1},
      {Part::kSequence, "sequence", kSequence, 0, Grouping::kWhole, "", true, 1},
      {Part::kPiece, "piece", kPiece, 0, Grouping::kEach, "sqlite_autoindex_piece_1", true, 2},
      {Part::kFact, "fact", kFact, 0, Grouping::kTopBits, "", true, 3},
      {Part::kWord, "word", kWord, 0, Grouping::kTopBits, "", true, 2},
      {Part::kCard, "card", kBlock, 0, Grouping::kEach, "", true, 1},
      {Part::kRecord, "record", kBlock, 0, Grouping::kEach, "", true, 1},
  }};
  return kParts;
}

}  // namespace

std::span<const TablePart> table_parts() { return parts(); }

const TablePart& part_of(Part part) {
  const auto& found = parts()[static_cast<std::size_t>(part) - 1];
  if (found.part != part)
    broken("parts of tables stand in the order of their numbers", std::to_string(static_cast<int>(part)));
  return found;
}

std::string column_list(const TablePart& part, std::int64_t schema) {
  std::string text;
  for (const char* name : part.columns) text += (text.empty() ? "" : ", ") + std::string(name);
  if (schema < part.last_since) text = text.substr(0, text.rfind(' ')) + " ''";
  return text;
}

std::int64_t top_group(std::int64_t hash) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(hash) >> 58); }
std::int64_t prefix_group(std::string_view hash) {
  return hash.empty() ? 0 : static_cast<unsigned char>(hash.front()) >> 2;
}

}  // namespace opwright::store::sqlite
