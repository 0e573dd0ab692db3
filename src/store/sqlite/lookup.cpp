#include "store/sqlite/lookup.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "store/sqlite/row_bytes.h"
#include "store/sqlite/schema.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {

Result<std::optional<Lookup>> Lookup::open(const std::string& path, int wait_ms) {
  OPWRIGHT_TRY(check_store_name(path));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, database.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) return std::nullopt;
  OPWRIGHT_TRY(database.execute("PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(check_version(database));
  OPWRIGHT_TRY(check_definitions(database));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  Lookup lookup(std::move(database));
  lookup.verifier_.set_schema(version);
  const auto columns = [&](Part part) {
    return column_list(part_of(part)) + (lookup.verifier_.verifies() ? ", sum" : "");
  };
  if (!lookup.verifier_.verifies()) OPWRIGHT_TRY(read_as_current(lookup.database_));
  if (lookup.verifier_.verifies()) {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t forms, lookup.database_.query_integer(fmt::format(
                                                      "SELECT coalesce(sum(rows), 0) FROM tally WHERE part = {}",
                                                      static_cast<int>(Part::kFormByFingerprint))));
    lookup.in_memory_ = forms <= kMostInMemory;
  }
  OPWRIGHT_TRY_ASSIGN(lookup.find_form_,
                      lookup.database_.prepare(fmt::format("SELECT {} FROM form WHERE {} = ?", columns(Part::kForm),
                                                           lookup.in_memory_ ? "id" : "fingerprint")));
  OPWRIGHT_TRY_ASSIGN(lookup.find_configuration_,
                      lookup.database_.prepare(
                          fmt::format("SELECT {} FROM configuration WHERE key = ?", columns(Part::kConfiguration))));
  return lookup;
}

Status Lookup::forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) {
  for (std::size_t i = 0; i < fingerprints.size(); ++i) {
    OPWRIGHT_TRY_ASSIGN(known[i], find_form(fingerprints[i]));
  }
  return {};
}

Status Lookup::configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    OPWRIGHT_TRY_ASSIGN(known[i], find_configuration(keys[i]));
  }
  return {};
}

Result<std::int64_t> Lookup::find_form_row(const Hash128& fingerprint) {
  const std::int64_t group = prefix_group(FingerprintBytes(fingerprint).view());
  bool& loaded = loaded_[static_cast<std::size_t>(group) % loaded_.size()];
  if (!loaded) {
    OPWRIGHT_TRY(verifier_.read(database_, Part::kFormByFingerprint, group, [&](const Statement& row) -> Status {
      if (const auto known = fingerprint_of(row.blob(0))) rows_.emplace(*known, row.integer(1));
      return {};
    }));
    loaded = true;
  }
  const auto found = rows_.find(fingerprint);
  return found == rows_.end() ? 0 : found->second;
}

Result<std::optional<KnownForm>> Lookup::find_form(const Hash128& fingerprint) {
  const FingerprintBytes bytes(fingerprint);
  if (in_memory_) {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, find_form_row(fingerprint));
    if (id == 0) return std::nullopt;
    find_form_.bind(1, id);
  } else {
    OPWRIGHT_TRY(verifier_.check(database_, Part::kFormByFingerprint, prefix_group(bytes.view())));
    find_form_.bind_blob(1, bytes.view());
  }
  OPWRIGHT_TRY_ASSIGN(const bool row, find_form_.step());
  if (!row && in_memory_) return fail(damage(database_.path(), "table form: a row is there for its index only"));
  if (!row) return std::nullopt;
  if (verifier_.verifies()) OPWRIGHT_TRY(verifier_.check_row(database_, Part::kForm, find_form_));
  const KnownForm form{{find_form_.integer(0)}, {find_form_.integer(2)}, static_cast<FormKind>(find_form_.integer(3)),
                       find_form_.integer(7),   find_form_.integer(8),   find_form_.integer(9)};
  find_form_.reset();
  return form;
}

Result<std::optional<ConfigId>> Lookup::find_configuration(const ConfigKey& key) {
  OPWRIGHT_TRY(verifier_.check(database_, Part::kConfigurationByKey, prefix_group(bytes_of(key))));
  find_configuration_.bind_blob(1, bytes_of(key));
  OPWRIGHT_TRY_ASSIGN(const bool row, find_configuration_.step());
  if (!row) return std::nullopt;
  if (verifier_.verifies()) OPWRIGHT_TRY(verifier_.check_row(database_, Part::kConfiguration, find_configuration_));
  const ConfigId id{find_configuration_.integer(0)};
  find_configuration_.reset();
  return id;
}

}  // namespace opwright::store::sqlite
