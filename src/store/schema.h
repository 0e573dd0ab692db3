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

}  // namespace opwright::store
