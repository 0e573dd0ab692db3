// The tables card and record: written at the end of a transaction, read block by block.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/encoding/block.h"
#include "store/rows.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {

// Makes cards from the tables that they are a copy of: for groups of which a part was there before, for stores that
// have none, and to check those that are there. Every row is verified.
class CardMaker {
 public:
  // Whether no row of a group is missing can be asked once the transaction that changes it has written its tally.
  enum class Groups { kVerified, kAsTheyAre };
  // `has_sums`: an older schema has none.
  Status prepare(Database& database, bool has_sums, Groups groups);
  Result<std::string> make(Database& database, Verifier& verifier, std::int64_t group);

 private:
  bool has_sums_ = true;
  Groups groups_ = Groups::kVerified;
  Statement configurations_, forms_, occurrences_;
};

// The parts of every configuration that has a record.
Status for_each_parts(Database& database,
                      const std::function<void(std::int64_t configuration, const std::string& parts)>& use);

// Cards of all groups, for a store that has just got the table.
Status write_all_cards(Database& database);
// Tells which groups have other cards than their tables say.
Status compare_cards(Database& database, const std::function<void(const std::string& what)>& differs);

// The writing side, inside the transaction of a Writer.
class BlockWriter {
 public:
  // Configurations from `first` on are new in this transaction.
  Status prepare(Database& database, ConfigId first);
  Status add(Database& database, Verifier& verifier, Tally& tally, const NewConfiguration& configuration,
             OperationId operation);
  // Other parts of a configuration that is there.
  Status replace(Database& database, Verifier& verifier, Tally& tally, ConfigId configuration,
                 const std::string& parts);
  static Result<std::vector<ConfigId>> without_records(Database& database);
  // A new occurrence of a configuration, or one that is now counted otherwise.
  void see(ConfigId configuration, const NewOccurrence& row);
  Status finish(Database& database, Verifier& verifier, Tally& tally);

 private:
  struct Head {
    std::int64_t operation = 0;  // 0: no such configuration
    Convention convention{};
    ConfigKey key{};
  };
  struct Sighting {
    ConfigId configuration;
    Seen seen;  // its text lies in sweeps_
  };
  // Records of a group, with those that are there.
  Status write_record(Database& database, Verifier& verifier, Tally& tally);
  Status write_replaced(Database& database, Verifier& verifier, Tally& tally);
  std::string new_cards(std::int64_t group, std::span<const Sighting>& seen) const;
  // Puts a block in place of what is there.
  Status put(Database& database, Verifier& verifier, Tally& tally, Part part, std::int64_t group,
             const std::string& data);

  ConfigId first_;
  std::vector<Head> heads_;  // of new configurations, from first_ on
  std::vector<Sighting> seen_;
  std::set<std::string, std::less<>> sweeps_;
  std::set<std::int64_t> changed_;  // groups with configurations that were there before
  RecordBuilder record_;
  std::int64_t record_group_ = -1;
  std::map<std::int64_t, std::string> replaced_;  // parts, by configuration; not written yet
  std::size_t replaced_bytes_ = 0;
  CardMaker maker_;
  struct Statements {
    Statement find, add, change;
  } cards_, records_;
};

// The reading side: one block of each table is open.
class BlockReader {
 public:
  // `schema` of the file: an older one has no blocks; its cards are made from the tables.
  Status prepare(Database& database, std::int64_t schema);
  Result<const CardBlock*> cards(Database& database, Verifier& verifier, std::int64_t group);
  // Nothing in it where the store has no records of the group.
  Result<const RecordBlock*> records(Database& database, Verifier& verifier, std::int64_t group);

 private:
  bool has_blocks_ = true;
  std::int64_t card_group_ = -1, record_group_ = -1;
  CardBlock card_;
  RecordBlock record_;
  CardMaker maker_;
  Statement find_card_, find_record_;
};

}  // namespace opwright::store::sqlite
