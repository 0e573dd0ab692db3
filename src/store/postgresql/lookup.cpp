#include "store/postgresql/lookup.h"

#include <algorithm>
#include <string>

#include "store/encoding/row_bytes.h"
#include "store/postgresql/schema.h"

namespace opwright::store::postgresql {
namespace {

// Hashes that begin with this byte: from `low` on, and before `high`, which is "" behind the last group.
struct Group {
  std::string low, high;
  explicit Group(std::uint8_t first) : low(1, static_cast<char>(first)) {
    if (first < 255) high = std::string(1, static_cast<char>(first + 1));
  }
  Params params() const {
    Params range;
    range << Blob{low} << Blob{high};
    return range;
  }
};

std::uint8_t first_byte(std::string_view bytes) { return static_cast<std::uint8_t>(bytes.front()); }

}  // namespace

Result<std::unique_ptr<store::Lookup>> Lookup::open(const Address& address, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(Connection connection, Connection::open(address, wait_ms));
  OPWRIGHT_TRY(connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  OPWRIGHT_TRY_ASSIGN(const auto version, version_of(connection));
  if (!version) return std::unique_ptr<store::Lookup>();
  return std::unique_ptr<store::Lookup>(new Lookup(std::move(connection)));
}

Status Lookup::load_forms(std::uint8_t group) {
  OPWRIGHT_TRY_ASSIGN(
      const Rows rows,
      connection_.query("SELECT fingerprint, id, configuration_id, kind, unparsed, unknown_names, duplicate_keys FROM "
                        "form WHERE fingerprint >= $1 AND (fingerprint < $2 OR $2 = '')",
                        Group(group).params()));
  for (int i = 0; i < rows.count(); ++i) {
    const auto fingerprint = fingerprint_of(rows.blob(i, 0));
    if (!fingerprint) continue;
    forms_.add(*fingerprint, {{rows.integer(i, 1)},
                              {rows.integer(i, 2)},
                              static_cast<FormKind>(rows.integer(i, 3)),
                              rows.integer(i, 4),
                              rows.integer(i, 5),
                              rows.integer(i, 6)});
  }
  forms_loaded_[group] = true;
  return {};
}

Status Lookup::load_configurations(std::uint8_t group) {
  OPWRIGHT_TRY_ASSIGN(const Rows rows,
                      connection_.query("SELECT key, id FROM configuration WHERE key >= $1 AND (key < $2 OR $2 = '')",
                                        Group(group).params()));
  for (int i = 0; i < rows.count(); ++i) {
    const std::string_view bytes = rows.blob(i, 0);
    ConfigKey key{};
    std::copy_n(bytes.begin(), std::min(bytes.size(), key.size()), key.begin());
    configurations_.add(key, {rows.integer(i, 1)});
  }
  configurations_loaded_[group] = true;
  return {};
}

Status Lookup::forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) {
  for (std::size_t i = 0; i < fingerprints.size(); ++i) {
    const std::uint8_t group = first_byte(FingerprintBytes(fingerprints[i]).view());
    if (!forms_loaded_[group]) OPWRIGHT_TRY(load_forms(group));
    const KnownForm* found = forms_.find(fingerprints[i]);
    known[i] = found != nullptr ? std::optional(*found) : std::nullopt;
  }
  return {};
}

Status Lookup::configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint8_t group = first_byte(bytes_of(keys[i]));
    if (!configurations_loaded_[group]) OPWRIGHT_TRY(load_configurations(group));
    const ConfigId* found = configurations_.find(keys[i]);
    known[i] = found != nullptr ? std::optional(*found) : std::nullopt;
  }
  return {};
}

}  // namespace opwright::store::postgresql
