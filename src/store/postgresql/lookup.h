// The Lookup of a store on a server. An import asks for one form after the other, so a group of them is fetched when
// the first of it is asked for.
#pragma once

#include <array>
#include <cstring>
#include <memory>

#include "base/flat_table.h"
#include "base/hash.h"
#include "store/postgresql/connection.h"
#include "store/writer.h"

namespace opwright::store::postgresql {

class Lookup final : public store::Lookup {
 public:
  // nullptr where there is no store.
  static Result<std::unique_ptr<store::Lookup>> open(const Address& address, int wait_ms);
  Status forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) override;
  Status configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) override;

 private:
  static constexpr std::size_t kGroups = 256;  // by the first byte of a hash
  explicit Lookup(Connection connection) : connection_(std::move(connection)) {}
  Status load_forms(std::uint8_t group);
  Status load_configurations(std::uint8_t group);

  Connection connection_;
  std::array<bool, kGroups> forms_loaded_{}, configurations_loaded_{};
  FlatMap<Hash128, KnownForm, Hash128Hasher> forms_;
  struct KeyHasher {
    std::uint64_t operator()(const ConfigKey& key) const {
      std::uint64_t hash = 0;
      std::memcpy(&hash, key.data() + key.size() - sizeof hash, sizeof hash);
      return hash;
    }
  };
  FlatMap<ConfigKey, ConfigId, KeyHasher> configurations_;
};

}  // namespace opwright::store::postgresql
