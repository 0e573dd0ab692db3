// The Lookup of a file of SQLite.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/flat_table.h"
#include "base/hash.h"
#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"
#include "store/writer.h"

namespace opwright::store::sqlite {

class Lookup final : public store::Lookup {
 public:
  // Nothing when the store does not exist or is empty.
  static Result<std::optional<Lookup>> open(const std::string& path, int wait_ms);
  Status forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) override;
  Status configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) override;

 private:
  explicit Lookup(Database database) : database_(std::move(database)) {}
  Result<std::optional<KnownForm>> find_form(const Hash128& fingerprint);
  Result<KnownForm> read_form(std::int64_t id);
  Result<KnownForm> this_form();  // that find_form_ stands on
  // The row of the fingerprint; 0 none.
  Result<std::int64_t> find_form_row(const Hash128& fingerprint);
  Result<std::optional<ConfigId>> find_configuration(const ConfigKey& key);

  Database database_;
  Verifier verifier_;
  Statement find_form_, find_configuration_;
  // The index of fingerprints, group by group as it is verified: what was read to be verified need not be searched.
  static constexpr std::int64_t kMostInMemory = std::int64_t{1} << 21;  // of a larger store the index is asked
  bool in_memory_ = false;
  std::array<bool, 64> loaded_{};
  FlatMap<Hash128, std::int64_t, Hash128Hasher> rows_;
  std::int64_t stands_on_ = -1;  // the row that find_form_ gave last, where it goes through them in their order
};

}  // namespace opwright::store::sqlite
