// Gives every row of a store its checksum and counts them: once, when a store without checksums becomes one with them.
#pragma once

#include "store/sqlite/sql.h"

namespace opwright::store::sqlite {

// Inside a transaction.
Status seal(Database& database);

}  // namespace opwright::store::sqlite
