// The asking side of a store: reads one consistent state of it. Whatever is handed out was verified: damage is an
// error, never another answer. A Reader belongs to one thread at a time.
//
// Questions are asked for many configurations at once, so that their number does not grow with the number of rows.
#pragma once

#include <cstdint>
#include <functional>
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
  std::vector<Range> doubtful = {};  // or one of these, which do not say enough: who has one has to be looked at
  friend bool operator==(const AnyOf&, const AnyOf&) = default;
};

// One way to match, as far as the index knows: a configuration that matches this way has all of these terms, and of
// each of these facts at least one.
struct Way {
  std::vector<std::uint64_t> terms;
  std::vector<AnyOf> facts;
  bool is_exact = false;  // and whoever has all of these matches, where nothing is doubtful
  friend bool operator==(const Way&, const Way&) = default;
};

struct Candidates {
  std::vector<ConfigId> ids;
  bool are_matches = false;  // the index says enough: nobody has to look at them
};

// An occurrence without what only exports need.
struct Seen {
  FormId form;
  SourceId source;
  MachineId machine;
  TraceId trace;
  std::string_view sweep_source_hash;  // "" none
  std::int64_t count = kUncounted;
  std::int64_t raised = 0;
};

// What a question needs of a configuration, from few reads. Views: valid until the next one comes.
struct Card {
  ConfigId id;
  std::string_view op;
  Convention convention{};
  ConfigKey key{};
  std::span<const Seen> seen = {};  // by form, source, machine, trace; copies of a trace with other hashes are one
  // Its parts (rows.h), where they were asked for and are kept: places in a table that it shares with its neighbours.
  bool has_parts = false;
  std::int64_t block = 0;  // the number of that table
  std::span<const std::string_view> table = {};
  std::span<const std::uint32_t> parts = {};
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual Result<Totals> totals() = 0;
  virtual Result<std::vector<OperationRow>> operations() = 0;
  virtual Result<std::vector<std::string>> operation_names() = 0;
  // Configurations that the index does not exclude in at least one of these ways, by id; all of them when there are
  // none.
  virtual Result<Candidates> narrow(std::span<const Way> ways) = 0;
  Result<std::vector<ConfigId>> candidates(std::span<const Way> ways) {
    OPWRIGHT_TRY_ASSIGN(Candidates found, narrow(ways));
    return std::move(found.ids);
  }
  // What questions can be compared with before any configuration is read: all sources, all machines, and the words of
  // these kinds.
  virtual Result<std::vector<SourceRow>> sources() = 0;
  virtual Result<std::vector<MachineRow>> machines() = 0;
  virtual Result<std::vector<Word>> words(std::span<const std::uint64_t> kinds) = 0;
  // Configurations whose key begins with these hex digits, by id.
  virtual Result<std::vector<ConfigId>> with_key(std::string_view hex) = 0;
  // Of these configurations, in their order.
  virtual Status cards(std::span<const ConfigId> ids, bool with_parts,
                       const std::function<Status(const Card&)>& use) = 0;
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
