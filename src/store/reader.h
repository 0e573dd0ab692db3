// The asking side of a store: reads one consistent state of it. Whatever is handed out was verified: damage is an
// error, never another answer. A Reader belongs to one thread at a time.
//
// Questions are asked for many configurations at once, so that their number does not grow with the number of rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rows.h"

namespace opwright::store {

// Facts of a kind with a value from `low` to `high`.
struct Range {
  std::uint64_t kind;
  std::int64_t low, high;
  friend bool operator==(const Range&, const Range&) = default;
};

// At least one of these; none when there is nothing.
struct AnyOf {
  std::vector<std::uint64_t> terms;
  std::vector<Range> ranges;
  friend bool operator==(const AnyOf&, const AnyOf&) = default;
};

// One way to match, as far as the index knows: a configuration that matches this way has all of these terms, and of
// each of these facts at least one.
struct Way {
  std::vector<std::uint64_t> terms;
  std::vector<AnyOf> facts;
  friend bool operator==(const Way&, const Way&) = default;
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual Result<Totals> totals() = 0;
  virtual Result<std::vector<OperationRow>> operations() = 0;
  virtual Result<std::vector<std::string>> operation_names() = 0;
  // Configurations that the index does not exclude in at least one of these ways, by id; all of them when there are
  // none.
  virtual Result<std::vector<ConfigId>> candidates(std::span<const Way> ways) = 0;
  // What questions can be compared with before any configuration is read: all sources, all machines, and the words of
  // these kinds.
  virtual Result<std::vector<SourceRow>> sources() = 0;
  virtual Result<std::vector<MachineRow>> machines() = 0;
  virtual Result<std::vector<Word>> words(std::span<const std::uint64_t> kinds) = 0;
  // Configurations whose key begins with these hex digits, by id.
  virtual Result<std::vector<ConfigId>> with_key(std::string_view hex) = 0;
  // Of these configurations, in their order; those of one by fingerprint, so that the first one does not depend on who
  // was imported first.
  virtual Result<std::vector<FormRow>> forms(std::span<const ConfigId> ids) = 0;
  Result<std::vector<FormRow>> forms(ConfigId id) { return forms(std::span(&id, 1)); }
  // Of these forms, in their order; those of one by what they say.
  virtual Result<std::vector<OccurrenceRow>> occurrences(std::span<const FormRow> forms) = 0;
  virtual Result<std::vector<TraceRow>> traces() = 0;
  // Newest first.
  virtual Result<std::vector<SequenceRow>> sequences() = 0;
  // The native trace of one of them, for format::NativeTrace::from_bytes.
  virtual Result<std::string> trace_bytes(const SequenceRow& row) = 0;
};

}  // namespace opwright::store
