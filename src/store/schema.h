// The tables of a store and how older stores become newer ones.
#pragma once

#include "store/sql.h"

namespace opwright::store {

inline constexpr int kSchemaVersion = 1;  // the number of migrations

// Brings an empty or older store to kSchemaVersion, inside one transaction. Refuses a newer store and foreign
// databases.
Status migrate(Database& database);
// Refuses what this build cannot read.
Status check_version(Database& database);
// Refuses a store whose keys and index terms are of other versions: they would silently never meet ours.
Status check_identity(Database& database, const std::string& identity);

}  // namespace opwright::store
