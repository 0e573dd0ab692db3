// The tables of a store on a server, and how older ones become newer ones.
#pragma once

#include <optional>
#include <string>

#include "store/postgresql/connection.h"

namespace opwright::store::postgresql {

inline constexpr std::int64_t kSchemaVersion = 1;  // the number of migrations

// The version of the store; nothing where there is none. Refuses a newer one, and a schema that is not ours.
Result<std::optional<std::int64_t>> version_of(Connection& connection);
// Brings an empty database or an older store to kSchemaVersion, in a transaction of its own and one process at a time.
Status migrate(Connection& connection);
// Refuses a store whose keys and index terms are of other versions: they would silently never meet ours.
Status check_identity(Connection& connection, const std::string& identity);
Error no_store(const Connection& connection, std::string_view what_makes_one);

}  // namespace opwright::store::postgresql
