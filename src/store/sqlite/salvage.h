// Salvage of sqlite_door.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/encoding/pack.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {

class FileSalvage final : public Salvage {
 public:
  static Result<FileSalvage> open(const std::string& path, int wait_ms, Lost lost);

  Status traces(const std::function<Status(const TraceRow&)>& use) override;
  Status forms(const std::function<Status(const SavedForm&)>& use) override;
  Status sequences(const std::function<Status(const SequenceRow&, const std::string& bytes)>& use) override;
  Status runs(const std::function<Status(const RunRecord&)>& begin,
              const std::function<Status(const RunRecord&, const CaseRecord&)>& use) override;

 private:
  explicit FileSalvage(Database database) : database_(std::move(database)) {}
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
  std::int64_t schema_ = INT64_MAX;
  std::string sum_;  // ", sum", or "" in an older store
  Statement find_pack_, find_occurrences_, find_key_;
  std::map<std::int64_t, OccurrenceRow> sources_, machines_, traces_;
  std::int64_t opened_id_ = 0;
  std::optional<Unpacked> opened_;
};

}  // namespace opwright::store::sqlite
