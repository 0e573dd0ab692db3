// The Lookup of a file of SQLite.
#pragma once

#include <optional>
#include <string>

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
  Result<std::optional<ConfigId>> find_configuration(const ConfigKey& key);

  Database database_;
  Verifier verifier_;
  Statement find_form_, find_configuration_;
};

}  // namespace opwright::store::sqlite
