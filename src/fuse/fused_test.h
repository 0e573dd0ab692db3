// One fused test, as it is described in N.params.json (docs/formats/fuse.md): a sequence of operators out of a model's
// trace, the tensors that cross its boundary, and one set of parameters for each way in which the model calls it.
// Everything that is emitted, run or compared comes from this description.
//
// The sequence is a graph: `calls` in an order in which they can run, and for each tensor that a call takes where it
// comes from. Parameter sets have the same graph; shapes, dtypes, memory configs and attributes are theirs.
//
//   OPWRIGHT_TRY_ASSIGN(FusedTest test, parse_fused_test(text));
//   for (const ParameterSet& set : test.sets)
//     for (std::size_t c = 0; c < test.calls.size(); ++c) … test.calls[c].tensors, set.calls[c].config …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fuse/finding.h"
#include "model/op_config.h"
#include "model/tensor_spec.h"

namespace opwright::fuse {

inline constexpr int kParamsVersion = 1;

// Where a tensor comes from: an input of the function, or a result of one of its calls.
struct Source {
  enum class From : std::uint8_t { kInput, kResult };
  From from = From::kInput;
  std::uint32_t input = 0;   // kInput: in FusedTest::inputs
  std::uint32_t call = 0;    // kResult: in FusedTest::calls
  std::uint32_t result = 0;  // … and which of the tensors that it returned

  static Source of_input(std::size_t input) { return {From::kInput, static_cast<std::uint32_t>(input), 0, 0}; }
  static Source of_result(std::size_t call, std::size_t result) {
    return {From::kResult, 0, static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(result)};
  }
  friend bool operator==(const Source&, const Source&) = default;
};

// A call of the function. What differs from one parameter set to the next is in CallParameters.
struct FusedCall {
  std::string op;               // "ttnn.linear"
  std::vector<Source> tensors;  // one for each tensor of the arguments, in the order of the configuration's arguments
  std::uint32_t results = 0;    // tensors that it returns
  // For each result the tensor argument (in `tensors`) whose memory it shares: a view, or a result written in place;
  // -1 none.
  std::vector<std::int32_t> shares;
  std::vector<std::uint32_t> writes;  // tensor arguments that it leaves changed
  std::vector<std::uint32_t> frees;   // tensor arguments whose memory it gives back
  bool is_transparent = false;        // moves or frees tensors only: `deallocate`, a view; not part of the pattern
};

enum class Role : std::uint8_t {
  kActivation,
  kWeight,    // made before the first computation, never written
  kConstant,  // the same, of whole numbers: tables, masks, positions
  kState,     // written in place: needs content, and is an output too
};
std::string_view name_of(Role role);  // "activation", "weight", "constant", "state"

struct FusedInput {
  std::string name;  // a name that Python takes; unique among inputs and outputs
  Role role = Role::kActivation;
  bool is_freed = false;  // the function gives its memory back: to be made again for each run, outside of the time
};

struct FusedOutput {
  std::string name;
  Source source;               // a result, or an input that was written in place
  bool is_read_later = false;  // else it was alive when the module ended
};

// One call with the arguments of this parameter set. `config` has names and order as every configuration; tensors in it
// are in the order of FusedCall::tensors; handles (semaphores, devices that are no argument) are left out.
struct CallParameters {
  OpConfig config;
  std::vector<TensorSpec> results;  // as recorded
};

// A place in the trace where the sequence stands with these parameters.
struct Match {
  std::vector<std::uint64_t> calls;  // numbers of calls, in the order of FusedTest::calls
  std::string phase, label, test;    // "" the program set none
};

// Set from measurement (docs/formats/fuse.md has the rule), never by hand and never loosened.
struct Expected {
  double pcc = 0;  // threshold
  double atol = 0, rtol = 0;
  double measured_pcc = 0;  // the smallest over seeds and outputs
  int seeds = 0;
};

struct Targets {
  std::string source;    // "clock": modelled by the simulated device; "profiler": measured
  double kernel_ns = 0;  // sum over the sequence, on one chip
  double op_to_op_ns = 0;
  double roofline_ns = 0;       // inputs and outputs moved once, products at the best rate of the board
  std::int64_t unmodelled = 0;  // calls whose time is not known: exchanges between chips
};

struct ParameterSet {
  std::string id;    // "decode_1", "prefill_128"; unique
  std::string mode;  // "decode", "prefill", or "" where the trace has no phases
  std::int64_t seq_len = 0;
  std::string signature;              // hex: of all configurations and the graph
  std::vector<CallParameters> calls;  // one for each of FusedTest::calls
  std::vector<TensorSpec> inputs;     // one for each of FusedTest::inputs; device_shape is what one chip has
  std::vector<TensorSpec> outputs;
  std::vector<std::string> contents;     // for each input the hash of recorded contents, `data/HASH.bin`; "" none
  std::vector<Match> matches;            // the first of them is where the parameters were taken from
  std::int64_t internal_bytes = 0;       // of tensors that only this function sees: written and read again for nothing
  std::int64_t internal_peak_bytes = 0;  // most of them at once
  std::optional<Expected> expected;      // nothing: not measured
  std::optional<Targets> targets;
  std::string no_single_device;  // why there is no variant for one chip; "" there is
};

struct FusedTest {
  std::string name;     // a name that Python takes: "gated_mlp"
  std::string trace;    // uid of the trace; "" it has none
  std::string source;   // what was traced: test or command, for people
  std::string machine;  // label of the machine that recorded it; "" unknown
  Shape mesh;           // {1, 1} one chip
  std::string pattern;  // as it can be asked for again: "linear,all_gather_async,slice*3"
  std::vector<FusedCall> calls;
  std::vector<FusedInput> inputs;
  std::vector<FusedOutput> outputs;
  std::vector<ParameterSet> sets;  // of most matches first within a mode; decode before prefill
  std::vector<Finding> findings;
};

// The call and the place among its tensors that takes an input first: its operator says what the input is filled with.
struct FirstUse {
  std::size_t call = 0, tensor = 0;
};
std::optional<FirstUse> first_use(const FusedTest& test, std::size_t input);

// The text of N.params.json: the same test gives the same bytes.
std::string to_json(const FusedTest& test);
// Checks what it reads: graph, counts and names hold, or the error says where they do not.
Result<FusedTest> parse_fused_test(std::string_view text, std::string_view shown);
Result<FusedTest> read_fused_test(const std::string& path);
// Whether the parts fit one another, as every function here that takes a FusedTest expects.
Status check(const FusedTest& test);

}  // namespace opwright::fuse
