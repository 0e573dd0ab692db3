// What goes into a store and comes out of it: plain values, in batches. No word of how a store keeps them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/ids.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "model/sequence.h"

namespace opwright::store {

// What the disk has when the power fails. The store is whole with each of them; what differs is how much of the latest
// may be gone.
enum class Durability {
  kConsistent,  // any commit of which the log was not folded into the file yet
  kSoon,        // those of the last moment (kSoonest); beginnings and ends of runs are never gone
  kEveryCommit  // none
};

// ---- in

struct NewConfiguration {
  ConfigId id;
  std::string op;
  Convention convention;
  ConfigKey key;
  // What it consists of, to be read back quickly: each part with its size before it (base/bytes.h). The store does not
  // know what they mean; equal ones are kept once. "": none are kept.
  std::string parts = {};
};

// The parts of a configuration that is known, from another of its forms. Those of the form with the smallest
// fingerprint stay, whoever came first.
struct NewRecord {
  ConfigId configuration;
  Hash128 fingerprint;  // of a form that is there, or comes in the same batch
  std::string parts;
};

struct NewForm {
  FormId id;
  ConfigId configuration;
  Hash128 fingerprint;
  FormKind kind;
  std::int64_t unparsed;        // texts inside that no grammar reads
  std::int64_t unknown_names;   // dtypes, layouts, … outside the known sets
  std::int64_t duplicate_keys;  // keys that stood twice in an object
  std::string op;
  std::string text;
};

struct Posting {
  std::uint64_t term;
  ConfigId configuration;
};

// A number that a configuration has, for questions about ranges. A kind is a hash; the store makes the facts of the two
// kinds below by itself, from occurrences.
struct Fact {
  std::uint64_t kind;
  std::int64_t value;
  ConfigId configuration;
  friend bool operator==(const Fact&, const Fact&) = default;
};
inline constexpr std::uint64_t kSourceFact = 1;   // value: the id of a source it was seen in
inline constexpr std::uint64_t kMachineFact = 2;  // value: the id of a machine it was seen on

// The text that the facts of this kind and value stand for. Of one kind and value there is one text.
struct Word {
  std::uint64_t kind;
  std::int64_t value;
  std::string text;
  friend bool operator==(const Word&, const Word&) = default;
};

// A part of a sequence that comes: kPieceBytes each, the last one with what is left.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // of a native trace, before it is packed
struct NewPiece {
  std::shared_ptr<const Sequence> of;
  std::int64_t place = 0;
  std::string bytes;
  bool is_last = false;
};

struct Batch {
  std::vector<NewConfiguration> configurations;
  std::vector<NewForm> forms;
  std::vector<NewRecord> records;
  std::vector<Posting> postings;
  std::vector<Fact> facts;  // of new configurations
  std::vector<Word> words;
  std::vector<NewPiece> pieces;
};

struct NewOccurrence {
  FormId form;
  SourceId source;
  MachineId machine;
  TraceId trace;
  std::string_view sweep_source_hash, config_hash;  // "" none
  std::int64_t count;                               // kUncounted: not known
  std::string_view extra;
  std::int64_t raised = 0;  // how many of `count` raised
};

struct RaisedExample {
  FormId form;
  std::string_view error;
};

struct NewSource {
  std::string text, path, hf_model, model;
};

struct NewMachine {
  std::string text, label;
};

struct NewTrace {
  std::string uid, format, facts;
};

// ---- out

struct KnownForm {
  FormId form;
  ConfigId configuration;
  FormKind kind;
  std::int64_t unparsed;
  std::int64_t unknown_names;
  std::int64_t duplicate_keys;
};

struct OperationRow {
  std::string name;
  std::int64_t configurations = 0;
  std::int64_t calls = 0;      // a form whose trace does not count calls stands for one call a trace
  std::int64_t uncounted = 0;  // how many of the calls stand so
  std::int64_t sources = 0;
  std::int64_t raised = 0;  // how many of the calls raised
};

struct FormRow {
  FormId id;
  ConfigId configuration;
  FormKind kind = FormKind::kEra2;
  std::string op;
  std::string text;
  std::string error;  // one example of what its calls raised; "" none
};

struct OccurrenceRow {
  FormId form;
  std::string source, model, hf_model;
  std::string machine, machine_label;
  std::string trace_uid;
  std::string sweep_source_hash, config_hash;  // "" none
  std::string extra;
  std::int64_t count = kUncounted;
  std::int64_t raised = 0;  // how many of `count` raised
};

struct SourceRow {
  SourceId id;
  std::string text, hf_model;
};

struct MachineRow {
  MachineId id;
  std::string text, label;
};

struct TraceRow {
  std::string uid, format, facts;
};

struct SequenceRow {
  std::int64_t id = 0;
  Sequence sequence;
  std::int64_t packed = 0;  // bytes of its pieces
};

struct Totals {
  std::int64_t operations = 0, configurations = 0, forms = 0, sources = 0, machines = 0, traces = 0, bytes = 0;
  std::int64_t schema = 0;  // of the store; an older one is read as if it were ours
};

}  // namespace opwright::store
