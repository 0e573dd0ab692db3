// The narrow door to what only a store of SQLite has: a file that can be damaged, looked at to the bottom, and saved.
// Everybody else sees a Store (store.h), and nobody includes a header of store/sqlite/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/case_record.h"
#include "store/rows.h"

namespace opwright::store {
class Store;
}

namespace opwright::store::sqlite {

std::unique_ptr<Store> store_at(const std::string& path);

// The file of a store's URL. Fails for a store that is none.
Result<std::string> file_of(const std::string& url);

// A store is a file on a disk. Refuses what SQLite would take for something else (":memory:", "file:…", an empty name),
// and names of folders, pipes and devices. A name where nothing is yet is fine.
Status check_store_name(const std::string& path);
// By its first bytes.
bool is_database(const std::string& path);

int schema_version();                // that this build writes
std::string_view library_version();  // of SQLite

enum class Depth {
  kRows,       // SQLite's quick check, and the checksum of every row
  kEverything  // also: indexes against tables, references, every pack opened, every list of the index decoded
};

struct Inspection {
  static constexpr std::size_t kMostListed = 200;
  std::int64_t schema = 0;
  bool has_checksums = false;  // an older schema has none
  std::int64_t rows = 0;       // whose checksum was made again
  std::int64_t damages = 0;
  std::vector<std::string> listed;  // the first kMostListed of them

  void add(std::string what) {
    if (static_cast<std::size_t>(damages++) < kMostListed) listed.push_back(std::move(what));
  }
};

// Is a store sound? Looks at all of it and lists what is not, without stopping at the first. An error only when there
// is nothing to look at: no such file, not a store of ours, locked. Changes nothing.
Result<Inspection> inspect(const std::string& path, int wait_ms, Depth depth);

// Every entry of the index behind `--where`: a term and a configuration that has it.
Status for_each_posting(const std::string& path, int wait_ms,
                        const std::function<void(std::uint64_t term, std::int64_t configuration)>& use);

// Every entry of the index of numbers; says which configuration is the first that has facts.
Result<std::int64_t> for_each_fact(const std::string& path, int wait_ms, const std::function<void(const Fact&)>& use);

// The parts (rows.h) of every configuration that has a record; nothing of a store of an older schema.
Status for_each_parts(const std::string& path, int wait_ms,
                      const std::function<void(std::int64_t configuration, const std::string& parts)>& use);

struct SavedForm {
  FormRow form;
  std::string key;  // of its configuration, 32 bytes; "" when that row is damaged
  std::vector<OccurrenceRow> occurrences;
};

// Reads what is sound of a damaged store: row by row, never through an index, and going on behind what cannot be read.
// Nothing is handed out whose checksum does not hold. What is left out is told to the listener, with its number.
class Salvage {
 public:
  using Lost = std::function<void(const std::string& what)>;
  static Result<std::unique_ptr<Salvage>> open(const std::string& path, int wait_ms, Lost lost);
  virtual ~Salvage() = default;

  virtual Status traces(const std::function<Status(const TraceRow&)>& use) = 0;
  virtual Status forms(const std::function<Status(const SavedForm&)>& use) = 0;
  // Each with its native trace; where a piece is damaged, zeros, which readers of native traces count as a loss.
  virtual Status sequences(const std::function<Status(const SequenceRow&, const std::string& bytes)>& use) = 0;
  // Each run, then its results.
  virtual Status runs(const std::function<Status(const RunRecord&)>& begin,
                      const std::function<Status(const RunRecord&, const CaseRecord&)>& use) = 0;
};

}  // namespace opwright::store::sqlite
