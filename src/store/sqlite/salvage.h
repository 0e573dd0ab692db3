// Reads what is sound of a damaged store: row by row, never through an index, and going on behind what cannot be read.
//
// Nothing is handed out whose checksum does not hold. What is left out is told to the listener, with its number.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/case_record.h"
#include "store/sqlite/pack.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"

namespace opwright::store {

struct SavedForm {
  FormRow form;
  std::string key;  // of its configuration, 32 bytes; "" when that row is damaged
  std::vector<OccurrenceRow> occurrences;
};

class Salvage {
 public:
  using Lost = std::function<void(const std::string& what)>;
  static Result<Salvage> open(const std::string& path, int wait_ms, Lost lost);

  Status traces(const std::function<Status(const TraceRow&)>& use);
  Status forms(const std::function<Status(const SavedForm&)>& use);
  // Each with its native trace; where a piece is damaged, zeros, which readers of native traces count as a loss.
  Status sequences(const std::function<Status(const SequenceRow&, const std::string& bytes)>& use);
  // Each run, then its results.
  Status runs(const std::function<Status(const RunRecord&)>& begin,
              const std::function<Status(const RunRecord&, const CaseRecord&)>& use);

 private:
  explicit Salvage(Database database) : database_(std::move(database)) {}
  using Rows = std::function<Status(const Statement& row)>;
  // The rows of a table that has numbers, by number.
  Status each(Part part, const Rows& use);
  std::int64_t last_number(Part part);
  bool sound(Part part, const Statement& row);
  Status load_names();
  // A text of a pack; nothing when the pack is damaged.
  const Unpacked* pack(std::int64_t id);
  void occurrences(SavedForm& saved);

  Database database_;
  Lost lost_;
  bool summed_ = true;
  std::string sum_;  // ", sum", or "" in an older store
  Statement find_pack_, find_occurrences_, find_key_;
  std::map<std::int64_t, OccurrenceRow> sources_, machines_, traces_;
  std::int64_t opened_id_ = 0;
  std::optional<Unpacked> opened_;
};

}  // namespace opwright::store
