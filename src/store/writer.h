// The writing side of a store: one transaction that is either there whole or not at all.
//
// Threads: a Writer belongs to one thread at a time, a Lookup to another; the Lookup sees the store as it was when the
// Writer began.
//
// Everything comes in batches, and the laws of union (docs/formats/store.md) hold whatever the order of batches and
// transactions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/rows.h"

namespace opwright::store {

class Writer {
 public:
  virtual ~Writer() = default;  // undoes what was not committed

  // The first free ids; they are ours as long as the transaction runs.
  virtual ConfigId next_configuration() const = 0;
  virtual FormId next_form() const = 0;

  virtual Status write(const Batch& batch) = 0;
  // Configurations whose parts were never kept, because an older program imported them.
  virtual Result<std::vector<ConfigId>> without_records() = 0;
  // Counts of the same occurrence are never added: the larger one stays, so that a second import changes nothing.
  virtual Status add_occurrences(std::span<const NewOccurrence> occurrences) = 0;
  // Of two examples of one form the larger text stays, whoever came first.
  virtual Status add_examples(std::span<const RaisedExample> examples) = 0;
  // One text under two kinds is one form: the smaller kind stays, whoever came first.
  virtual Status lower_kinds(std::span<const FormId> forms, FormKind kind) = 0;
  // The ids of these, in their order; what is not there yet is made. What two say of one trace is united.
  virtual Result<std::vector<SourceId>> sources(std::span<const NewSource> sources) = 0;
  virtual Result<std::vector<MachineId>> machines(std::span<const NewMachine> machines) = 0;
  virtual Result<std::vector<TraceId>> traces(std::span<const NewTrace> traces) = 0;
  Result<SourceId> source(const NewSource& one) { return first(sources({&one, 1})); }
  Result<MachineId> machine(const NewMachine& one) { return first(machines({&one, 1})); }
  Result<TraceId> trace(const NewTrace& one) { return first(traces({&one, 1})); }
  // The sequence of a trace goes, its configurations stay. False when there is none of this uid.
  virtual Result<bool> forget_sequence(const std::string& uid) = 0;

  virtual Status commit() = 0;
  // Ends the transaction without a trace of it: what was not committed is undone, and a store that this Writer had
  // created goes away with it.
  virtual void discard() = 0;

 private:
  template <class T>
  static Result<T> first(const Result<std::vector<T>>& all) {
    if (!all) return fail(all.error());
    return all->front();
  }
};

// What a store knows already, for an import: forms by their fingerprint, configurations by their key. An import asks
// for one after the other while it reads, so an implementation behind a network fetches more than it was asked for.
class Lookup {
 public:
  virtual ~Lookup() = default;
  // One answer for each, in `known`, which has as many places.
  virtual Status forms(std::span<const Hash128> fingerprints, std::span<std::optional<KnownForm>> known) = 0;
  virtual Status configurations(std::span<const ConfigKey> keys, std::span<std::optional<ConfigId>> known) = 0;

  Result<std::optional<KnownForm>> form(const Hash128& fingerprint) {
    std::optional<KnownForm> known;
    OPWRIGHT_TRY(forms({&fingerprint, 1}, {&known, 1}));
    return known;
  }
  Result<std::optional<ConfigId>> configuration(const ConfigKey& key) {
    std::optional<ConfigId> known;
    OPWRIGHT_TRY(configurations({&key, 1}, {&known, 1}));
    return known;
  }
};

}  // namespace opwright::store
