#include "store/sqlite/lookup.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "store/encoding/row_bytes.h"
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
  OPWRIGHT_TRY_ASSIGN(lookup.find_form_, lookup.database_.prepare(fmt::format(
                                             "SELECT {} FROM form WHERE {}", columns(Part::kForm),
                                             lookup.in_memory_ ? "id >= ? ORDER BY id" : "fingerprint = ?")));
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
      if (const auto known = fingerprint_of(row.blob(0)); known && rows_.find(*known) == nullptr)
        rows_.add(*known, row.integer(1));
      return {};
    }));
    loaded = true;
  }
  const std::int64_t* found = rows_.find(fingerprint);
  return found == nullptr ? 0 : *found;
}

Result<std::optional<KnownForm>> Lookup::find_form(const Hash128& fingerprint) {
  if (in_memory_) {
    OPWRIGHT_TRY_ASSIGN(const std::int64_t id, find_form_row(fingerprint));
    if (id == 0) return std::nullopt;
    return read_form(id);
  }
  const FingerprintBytes bytes(fingerprint);
  OPWRIGHT_TRY(verifier_.check(database_, Part::kFormByFingerprint, prefix_group(bytes.view())));
  find_form_.bind_blob(1, bytes.view());
  OPWRIGHT_TRY_ASSIGN(const bool row, find_form_.step());
  if (!row) return std::nullopt;
  OPWRIGHT_TRY_ASSIGN(const KnownForm form, this_form());
  find_form_.reset();
  return form;
}

Result<KnownForm> Lookup::this_form() {
  if (verifier_.verifies()) OPWRIGHT_TRY(verifier_.check_row(database_, Part::kForm, find_form_));
  return KnownForm{{find_form_.integer(0)}, {find_form_.integer(2)}, static_cast<FormKind>(find_form_.integer(3)),
                   find_form_.integer(7),   find_form_.integer(8),   find_form_.integer(9)};
}

// An input that comes again asks for one row after the other: the next one is a step away, and need not be searched.
Result<KnownForm> Lookup::read_form(std::int64_t id) {
  if (stands_on_ + 1 != id) {
    if (stands_on_ >= 0) find_form_.reset();
    find_form_.bind(1, id);
  }
  stands_on_ = -1;
  OPWRIGHT_TRY_ASSIGN(const bool row, find_form_.step());
  if (!row) return fail(damage(database_.path(), "table form: a row is there for its index only"));
  auto form = this_form();
  if (form && form->form.value != id)
    form = fail(damage(database_.path(), "table form: a row is there for its index only"));
  if (form)
    stands_on_ = id;
  else
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
