// What a store knows already, for an import: forms by their fingerprint, configurations by their key.
#pragma once

#include <optional>
#include <string>

#include "base/hash.h"
#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/verify.h"

namespace opwright::store {

class Lookup {
 public:
  // Nothing when the store does not exist or is empty.
  static Result<std::optional<Lookup>> open(const std::string& path, int wait_ms);
  struct Form {
    FormId form;
    ConfigId configuration;
    FormKind kind;
    std::int64_t unparsed;
    std::int64_t unknown_names;
    std::int64_t duplicate_keys;
  };
  Result<std::optional<Form>> form(const Hash128& fingerprint);
  Result<std::optional<ConfigId>> configuration(const ConfigKey& key);

 private:
  explicit Lookup(Database database) : database_(std::move(database)) {}
  Database database_;
  Verifier verifier_;
  Statement find_form_, find_configuration_;
};

}  // namespace opwright::store
