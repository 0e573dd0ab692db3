// Sequences in a store: the calls of a trace in their order, as the pieces of a native trace (docs/formats/store.md).
//
// A trace has one sequence. Of two that come for it the one that says more stays (Sequence::weight), so that the order
// of imports does not matter and a second import changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/rows.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/tally.h"
#include "store/sqlite/verify.h"

namespace opwright::store::sqlite {

SequenceRow read_sequence(const Statement& row);  // with the columns of Part::kSequence
// All of them, newest first.
Result<std::vector<SequenceRow>> read_sequences(Database& database, Verifier& verifier);
// The native trace, verified piece by piece and as a whole.
Result<std::string> read_trace_bytes(Database& database, Verifier& verifier, const SequenceRow& row);

// How many pages a Writer keeps at hand while it writes configurations, whose index goes to and fro; pieces need few.
inline constexpr const char* kWriterCache = "PRAGMA cache_size = -32768";

// The writing side: inside the transaction of a Writer.
class SequenceWriter {
 public:
  Status load(Database& database, Verifier& verifier);
  // Pieces of one sequence come one behind the other, from the first to the last.
  Status add(Database& database, Verifier& verifier, Tally& tally, const NewPiece& piece);
  // False when there is none of this uid.
  Result<bool> forget(Database& database, Verifier& verifier, Tally& tally, const std::string& uid);

 private:
  Status begin(Database& database, Verifier& verifier, Tally& tally, const Sequence& sequence);
  Status put_row(Database& database, Tally& tally, const SequenceRow& row, const SequenceRow* before);
  Status remove(Database& database, Verifier& verifier, Tally& tally, const std::string& uid);

  struct Known {
    SequenceRow row;
    std::int64_t sum = 0;
  };
  std::unordered_map<std::string, Known> known_;  // by uid
  std::int64_t next_ = 1;
  std::optional<SequenceRow> coming_;  // nothing: what comes is there already
  Statement add_piece_;
};

}  // namespace opwright::store::sqlite
