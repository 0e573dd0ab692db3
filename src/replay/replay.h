// A recorded sequence of calls again, on any device: outputs feed their consumers as they did, every call is judged on
// the very inputs that the device had (local) and against a chain of references from the start (global).
//
// Calls are read one after the other; what is held is the tensors that a later call will ask for, as a device stores
// them (packed_values.h), and where the chain has other values, the difference, a byte a value (chain_values.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "exec/run_case.h"
#include "format/native/call_filter.h"
#include "format/native/native_trace.h"
#include "model/perf.h"
#include "replay/live_tensors.h"

namespace opwright::replay {

// Calls that somebody else makes: none of them runs, and when the last of a group is due, `make` has to write what
// they would have made. What the group takes from outside is there by then.
struct Instead {
  struct Group {
    std::vector<std::uint64_t> calls;  // ascending
    std::function<Status(LiveTensors& table, HeldBytes& held)> make;
  };
  std::vector<Group> groups;  // no call is in two of them
};

struct Options {
  format::CallFilter filter;               // which calls of the trace
  std::uint64_t until = UINT64_MAX;        // the last of them
  RunOptions run;                          // data and judge
  bool assume_recent = false;              // a tensor that could be one of several results is the latest
  Layout assume_layout = Layout::kAbsent;  // of tensors of which the trace says none; kAbsent: those calls are not run
  double most_work = 4e10;                 // multiply-adds of a call; beyond it is skipped
  std::int64_t most_elements = std::int64_t{1} << 28;  // of all tensors of a call
  bool chain = true;                                   // false: calls are judged alone, which takes less memory
  double global_pcc = 0.99;                            // the bound of the chain
  std::string save;                                    // folder for the tensors of each call; "" none
  // Told of each call that ran, or that a device without numbers took; may be empty.
  std::function<void(const PlannedCall&)> on_ran;
  std::optional<PerfPlan> perf;  // time each call that is right, at once and on its own inputs
  std::function<bool()> stop;    // asked between calls; may be empty
  bool judge = true;             // false: calls run, and nobody looks at what they give
  // Told of each tensor that a call of this replay made or wrote; may be empty.
  std::function<void(std::uint64_t call, std::uint64_t tensor, const Values&)> on_made;
  const Instead* instead = nullptr;
};

// What became of a call. Most calls of a model's program compute nothing.
enum class Part : std::uint8_t {
  kRun,      // it has an outcome
  kSkipped,  // larger than the limits
  kCarried,  // a tensor moved or converted on the host: its values go on
  kSource,   // makes tensors from outside
  kFreed,    // gives memory back
  kRead,     // takes a tensor out
  kOther,    // touches no tensor
  kInside,   // nobody knows it, but the calls inside it are replayed
};
std::string_view name_of(Part part);  // "run", "skipped", …

// How far values are from what they should be.
struct Distance {
  double pcc = 0;      // NaN: one side has no spread
  double rel_rms = 0;  // rms of the difference / rms
  std::int64_t elements = 0;
  bool is_finite = true;  // numbers stand where numbers are due
};

// A result beside what the trace has of it.
struct Agreement {
  enum class By : std::uint8_t { kContents, kHash, kSketch };
  By by = By::kContents;
  bool same = false;                 // bit by bit; of a sketch: alike
  bool made_up = false;              // the call had values that the trace did not: it need not be the same
  std::optional<Distance> distance;  // from recorded contents
  std::optional<double> shift;       // of a sketch: how far a quantile is off, as a part of the recorded spread
};
std::string_view name_of(Agreement::By by);  // "contents", "hash", "sketch"

struct StepInput {
  std::string param;
  std::uint64_t tensor = 0;  // recorded number; 0 not known
  Origin origin = Origin::kComputed;
};

struct Step {
  std::uint64_t call = 0;
  std::string op, phase, label;
  Part part = Part::kRun;
  Outcome outcome = Outcome::kNotRun;  // of kRun
  std::string reason;
  std::vector<std::string> notes;
  std::vector<StepInput> inputs;
  std::optional<Distance> local, global;
  std::optional<Agreement> recorded;
  bool beyond_local = false, beyond_global = false;
  bool raised = false;  // when it was recorded
  LiveBytes live;       // with the tensors of the call, before what it frees
  double device_seconds = 0, reference_seconds = 0;
  double chain_seconds = 0;  // of them, in what the chain costs without its references: expand, compare, keep
  std::string line;          // the case, where it failed
  std::optional<CasePerf> perf;

  std::string_view word() const;  // outcome or part
};

struct Report {
  std::string device;
  std::int64_t calls = 0;                        // chosen, without those inside of others that ran
  std::int64_t nested = 0;                       // inside of others that ran
  std::int64_t replayed = 0;                     // run on the device
  std::map<std::string, std::int64_t> outcomes;  // word -> calls
  struct {
    std::int64_t recorded = 0, inferred = 0, ambiguous = 0, broken = 0;
  } edges;  // uses of a tensor that an earlier call made
  struct {
    std::int64_t recorded = 0, sketch = 0, recipe = 0;
  } inputs;  // tensors from outside
  struct Agreements {
    std::int64_t same = 0, differ = 0;
  };
  Agreements contents, hashes, sketches;  // recorded results against those of this replay
  std::int64_t made_up = 0;  // recorded contents and hashes that nothing is compared with: the call had other inputs
  std::optional<std::uint64_t> first_beyond, first_local, first_global;
  std::optional<std::uint64_t> first_differ;  // from a recorded result
  LiveBytes peak;
  struct {
    std::int64_t values = 0;      // of the tensors alone
    std::int64_t all = 0;         // with what the chain has of them
  } held;                         // most bytes in the memory of this process, between two calls
  std::int64_t failed = 0;        // calls that failed their local judgement
  std::int64_t stale_writes = 0;  // tensors that a call wrote which was not run: they are as they were before
  std::int64_t copied_views = 0;  // views of another number of elements: a copy each
  std::int64_t not_chained = 0;   // run calls without an exact result: the chain goes on with the device's values
  std::int64_t unusable = 0;      // recorded contents of another size or type
  std::int64_t missing = 0;       // inputs of which the trace has a hash alone
  // The last call of the trace, where the chosen stretch goes on behind it: the trace is cut there, or was never
  // longer.
  std::optional<std::uint64_t> ends_early;
  std::map<std::string, std::int64_t> losses;  // of the trace: kinds of docs/formats/README.md
  double seconds = 0, device_seconds = 0, reference_seconds = 0, chain_seconds = 0;  // as of a step
  bool stopped = false;
};

using OnStep = std::function<void(const Step&)>;

Result<Report> replay(format::NativeTrace& trace, Device& device, const Options& options, const OnStep& on_step);

}  // namespace opwright::replay
