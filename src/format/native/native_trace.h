// A native trace opened for reading: its values, what it says about the run, and its calls as a stream.
//
//   OPWRIGHT_TRY_ASSIGN(NativeTrace trace, NativeTrace::open(path));
//   CallStream calls(trace);
//   while (const NativeCall* call = calls.next()) … trace.values().call(call->call) …
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/native/native_call.h"
#include "format/native/trace_file.h"
#include "format/native/value_table.h"
#include "model/sequence.h"

namespace opwright::format {

struct CallContext {
  std::string_view test, phase, label;  // "" not set
  std::string_view sweep_source_hash;   // of the configuration that a sweep runs again
};

struct Fact {
  std::string_view name;
  std::string_view encoded;
};

// The fact in which a trace of another format says where its tensors' identities come from: a struct with `edges` (a
// word) and counts. Traces of our recorder have none: theirs are recorded.
inline constexpr std::string_view kFlowFact = "data_flow";

struct Flow {
  DataFlow edges = DataFlow::kRecorded;
  std::int64_t inferred = 0, ambiguous = 0;
};

struct TestOutcome {
  std::string_view id, outcome;
  double seconds = 0;
};

struct Note {
  std::string_view kind, text;
};

struct Blob {
  ValueId description = 0;  // struct `data`: dtype, shape
  std::string_view bytes;
};

// Calls that left no record, by operation.
struct UnrecordedCalls {
  std::string_view op;
  capture::Uncalled reason;
  std::uint64_t calls = 0;
};

class NativeTrace {
 public:
  static Result<NativeTrace> open(const std::string& path);
  static Result<NativeTrace> from_input(Input&& input, const std::string& shown);
  static Result<NativeTrace> from_bytes(std::string bytes, const std::string& shown);
  static Result<NativeTrace> from_view(std::string_view bytes, const std::string& shown,
                                       NativeFile::Passed passed = {});  // they outlive it

  const NativeFile& file() const { return file_; }
  const capture::Header& header() const { return file_.header(); }
  const std::string& path() const { return file_.path(); }
  ValueTable& values() { return *values_; }
  const ValueTable& values() const { return *values_; }

  // In the order of the file; of several with one name the last holds.
  const std::vector<Fact>& facts() const { return facts_; }
  const NativeValue* fact(std::string_view name);
  std::string_view fact_text(std::string_view name);  // "" unless it is a text
  const Flow& flow();                                 // which tensor is which, and how that is known
  const std::vector<TestOutcome>& tests() const { return tests_; }
  const std::vector<Note>& notes() const { return notes_; }
  const std::vector<UnrecordedCalls>& unrecorded() const { return unrecorded_; }
  const Blob* blob(const Hash128& hash) const;
  const std::unordered_map<Hash128, Blob, Hash128Hasher>& blobs() const { return blobs_; }

  CallContext context(ValueId id);
  // Data of a call's tensors, as far as it was recorded.
  std::vector<TensorData> data_of(std::uint64_t seq) const;
  bool has_data() const { return !data_.empty(); }
  // A tensor that no recorded call had returned when it was first used; null otherwise.
  const TensorResult* outside_tensor(std::uint64_t id) const {
    const auto found = outside_tensors_.find(id);
    return found == outside_tensors_.end() ? nullptr : &found->second;
  }
  // The device graph below a call, encoded; "" none.
  std::string_view device_of(std::uint64_t seq) const;

  std::int64_t ns_of(std::uint64_t ticks) const;  // since the trace began
  // At most the year 2096: times of calls are added to it.
  std::int64_t start_unix_ns() const {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(header().start_unix_ns, 4'000'000'000'000'000'000));
  }

  // What could not be read so far: the file's frame, values, records. Streams add theirs.
  TraceDamage& damage() { return damage_; }
  const TraceDamage& damage() const { return damage_; }

 private:
  struct SideRecord {
    std::uint64_t seq = 0;
    std::string_view payload;  // behind the seq
  };

  explicit NativeTrace(NativeFile file) : file_(std::move(file)), damage_(file_.damage()) {}
  static Result<NativeTrace> of(Result<NativeFile> file);
  Status collect();
  void collect(const RecordView& record);
  void read_tests();

  NativeFile file_;
  TraceDamage damage_;
  std::unique_ptr<ValueTable> values_ = std::make_unique<ValueTable>();
  std::vector<Fact> facts_;
  std::optional<Flow> flow_;
  std::vector<std::string_view> encoded_tests_;
  std::vector<TestOutcome> tests_;
  std::vector<Note> notes_;
  std::map<std::pair<ValueId, std::uint64_t>, std::uint64_t> counts_;
  std::vector<UnrecordedCalls> unrecorded_;
  std::unordered_map<Hash128, Blob, Hash128Hasher> blobs_;
  std::vector<SideRecord> data_, device_;  // sorted by seq
  std::unordered_map<std::uint64_t, TensorResult> outside_tensors_;
  std::unordered_map<ValueId, CallContext> contexts_;
};

// The text of a value, or "" when it is none.
std::string_view text_of(const NativeValue* value);

}  // namespace opwright::format
