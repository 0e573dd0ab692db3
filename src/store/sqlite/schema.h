// The tables of a store and how older stores become newer ones.
#pragma once

#include "store/sqlite/sql.h"

namespace opwright::store::sqlite {

inline constexpr int kSchemaVersion = 9;      // the number of migrations
inline constexpr int kFirstSummedSchema = 5;  // the first whose rows have checksums
inline constexpr int kFirstSchemaWithFacts = 7;
inline constexpr int kFirstSchemaWithBlocks = 8;

// Brings an empty or older store to kSchemaVersion, inside one transaction. Refuses a newer store and foreign
// databases.
Status migrate(Database& database);
// Refuses what this build cannot read.
Status check_version(Database& database);
// Lets questions of this schema be asked of an older store without changing the file: views in front of its tables,
// which only this connection sees. Inside a transaction, so that nobody migrates it in between.
Status read_as_current(Database& database);
// Fails when the table definitions or the settings are not what was written. Costs little: every opening asks.
Status check_definitions(Database& database);
// Refuses a store whose keys and index terms are of other versions: they would silently never meet ours.
Status check_identity(Database& database, const std::string& identity);

}  // namespace opwright::store::sqlite
