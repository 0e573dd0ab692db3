// The index of numbers: facts of configurations under kinds, as lists of ids; and the words that some of them stand
// for.
//
// Two kinds are made here, from occurrences: where a configuration was seen. They can come again for a configuration
// that has them, so their lists are united; the lists of all other kinds only grow, by new configurations.
#pragma once

#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "store/encoding/grouped.h"
#include "store/reader.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {

// The setting that says from which configuration on all have facts: those of an older schema have none.
inline constexpr const char* kFactsFrom = "facts_from";

// The writing side, inside the transaction of a Writer.
class FactWriter {
 public:
  Status prepare(Database& database);
  Status add(Database& database, Tally& tally, std::span<const Fact> facts, std::span<const Word> words);
  void see(ConfigId configuration, SourceId source, MachineId machine);
  // What was held back; before the commit.
  Status finish(Database& database, Verifier& verifier, Tally& tally);

 private:
  struct Seen {
    std::uint64_t kind;
    std::int64_t value;
    friend auto operator<=>(const Seen&, const Seen&) = default;
  };
  Status write(Database& database, Tally& tally);
  Status put(Tally& tally, std::uint64_t kind, std::int64_t value, std::span<const std::int64_t> ids);
  Status unite(Database& database, Verifier& verifier, Tally& tally, const Seen& seen, std::vector<std::int64_t> ids);

  Grouped<Seen> facts_;  // not written yet
  std::map<Seen, std::vector<std::int64_t>> seen_;
  std::unordered_set<std::uint64_t> words_;  // that are there, by kind and value
  Statement add_fact_, add_word_;
};

// The reading side.
class FactReader {
 public:
  // `schema` of the file: an older one has no facts.
  Status prepare(Database& database, Verifier& verifier, std::int64_t schema);
  // The configurations with a fact in one of these ranges, or of which none is known, appended; unordered.
  Status find(Database& database, Verifier& verifier, std::span<const Range> ranges, std::vector<std::int64_t>& ids);
  Result<std::vector<Word>> words(Database& database, Verifier& verifier, std::span<const std::uint64_t> kinds);
  // Configurations before this one have no facts.
  std::int64_t first() const { return first_; }

 private:
  std::int64_t first_ = 0;
  Statement find_, words_;
};

}  // namespace opwright::store::sqlite
