// The tables of a store as data: which columns a row's checksum covers, and the groups in which rows are counted.
//
// Every row carries `sum`, a checksum of its columns. Every group of rows has a row in the table `tally`: how many rows
// it has and the sum of their checksums. So a changed row is noticed by itself, and a missing, added or outdated one by
// its group. Two indexes by which rows are looked up have groups of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "store/encoding/range.h"

namespace opwright::store::sqlite {

// In the file, as tally.part: never given a new meaning.
enum class Part : std::int8_t {
  kOperation = 1,
  kConfiguration = 2,
  kForm = 3,
  kPack = 4,
  kSource = 5,
  kMachine = 6,
  kTrace = 7,
  kOccurrence = 8,
  kPosting = 9,
  kRun = 10,
  kResult = 11,
  kSetting = 12,
  kConfigurationByKey = 13,  // the index: key -> id
  kFormByFingerprint = 14,   // the index: fingerprint -> id
  kSequence = 15,
  kPiece = 16,
  kFact = 17,
  kWord = 18,
  kCard = 19,
  kRecord = 20,
};

enum class Grouping {
  kWhole,    // one group: small tables
  kRange,    // 64 neighbouring numbers
  kEach,     // a group a number
  kTopBits,  // of a number that is a hash: 64 groups
  kPrefix,   // of a blob that is a hash: 64 groups
};

struct TablePart {
  Part part;
  const char* table;
  std::span<const char* const> columns;  // what the checksum covers, in this order
  int grouped_by;                        // place of the column in `columns`
  Grouping grouping;
  const char* index;  // through which the group is read; "" the table itself
  bool has_sums;      // rows have a column `sum`; an index has none
  int named_by;       // how many of the columns say which row it is
  // The schema that added the last column. Rows of older ones keep their checksums: where it is empty, no checksum
  // covers it. 0: all columns are as old as the checksums.
  int last_since = 0;
};

std::span<const TablePart> table_parts();
const TablePart& part_of(Part part);
// "id, name"; of a store of that schema, with '' for a column that it does not have.
std::string column_list(const TablePart& part, std::int64_t schema = INT64_MAX);

std::int64_t top_group(std::int64_t hash);
std::int64_t prefix_group(std::string_view hash);

}  // namespace opwright::store::sqlite
