// One case from call to verdict, in this process: plan, make data, run, compute the reference, judge.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/judge.h"
#include "compare/pcc.h"
#include "device/device.h"
#include "exec/case_data.h"
#include "exec/case_times.h"
#include "exec/plan_call.h"
#include "exec/proof.h"
#include "exec/recorded_return.h"
#include "exec/stage.h"
#include "model/outcome.h"

namespace opwright {

struct RunOptions {
  DataRecipe recipe;
  std::int64_t most_elements = std::int64_t{1} << 22;  // outputs beyond are judged by a sample of rows
  double most_work = 4e9;                              // … and so are those whose rows take more multiply-adds in all
  bool compute = true;                                 // false: plan and admit only
  std::optional<double> pcc;                           // threshold instead of the operator's own
  std::optional<PccVariant> variant;                   // also say what this variant of PCC would have said
  bool mutate = false;                                 // plant faults behind the comparer: would it have noticed?
  std::function<void(Stage)> on_stage;                 // told before each part of the case
  // For the self test alone: changes what the reference gave, or never comes back.
  std::function<void(const BoundCall&, Exact&)> tamper;
  int repeat = 1;              // of devices that are programs: 2 gives a cold and a warm time
  bool capture = false;        // … and asks what was really executed
  bool keep_outputs = false;   // CaseResult::actual, for a comparison of devices
  bool whole_outputs = false;  // the device computes all rows, also where a sample of them is judged
  bool ask_blindness = true;   // Verdict::blind of a pass; costs a few references
  std::function<void(std::size_t output, const Exact&)> on_exact;  // is shown what the reference gave; may be empty
  std::vector<RecordedReturn> recorded;  // what the calls returned when they were traced; empty: nobody recorded it
};

struct CaseResult {
  Outcome outcome = Outcome::kNotRun;
  std::string reason;                // why it is not passed; "" else
  std::string argument;              // the parameter at fault, where one is
  Blame blame = Blame::kNobody;      // where it is known without repeating the case: a device that breaks the protocol
  std::string evidence;              // … and how
  std::vector<std::string> assumed;  // parameters that the trace lost and that were taken as not passed
  std::vector<OutputSpec> outputs;
  std::vector<Verdict> verdicts;  // one an output
  MemoryReport memory;
  double seconds = 0;                  // of the device
  double reference_seconds = 0;        // of the reference and the judge
  std::vector<std::string> notes;      // what a reader must know beside the outcome: specs that differ, …
  std::optional<OpConfig> executed;    // what the device really ran, where it says so
  std::optional<Proof> proof;          // executed against traced
  std::int64_t faults = 0;             // planted …
  std::int64_t faults_noticed = 0;     // … and seen by the judge
  std::vector<std::string> unnoticed;  // names of the others
  std::optional<double> cold_seconds;  // the first call, where it ran twice
  std::optional<double> kernel_seconds;
  bool computed = false;                               // the device gave values
  CaseTimes times;                                     // what its processor time went to
  std::vector<HostTensor> actual;                      // with keep_outputs: what the device computed …
  std::vector<std::vector<std::int64_t>> judged_rows;  // … and the rows of each that count; empty: all
};

CaseResult run_case(const OpConfig& config, Device& device, const RunOptions& options);

// The part of a case that comes after its data, for devices of this process: a call that is made ready and admitted, on
// inputs that the caller has, one for each of plan.call.tensors. They are the same afterwards. Whether what was
// executed is what was traced is for the caller to ask (prove).
void run_planned(const PlannedCall& plan, Device& device, std::span<HostTensor> inputs, const RunOptions& options,
                 CaseResult& result);

// Judges what a device computed: the worst of all outputs is the case's outcome. `inputs` are the same afterwards.
void judge_outputs(const PlannedCall& plan, std::span<HostTensor> inputs, std::span<const HostTensor> actual,
                   std::span<const Rows> picked, const RunOptions& options, CaseResult& result);

// What the call returned, or was promised to, against what traces recorded: a failure of whoever is wrong. False where
// it is one.
bool accept_specs(const Returned& returned, CaseResult& result);

// Turns a pass into `unproven` where executed is not traced, and into `vacuous` where planted faults went unnoticed.
void prove(const OpConfig& traced, CaseResult& result);

// Where a sample of whole outputs is judged: the rows that are alike others too. One that was written twice or to the
// wrong place is seldom in a sample.
void add_alike_rows(std::span<const HostTensor> outputs, std::span<Rows> rows);

// All rows of an output, or a seeded sample when it is large; of a tensor that is changed in place, what was written
// and a sample of the rest.
Rows pick_rows(const PlannedCall& plan, std::span<const HostTensor> inputs, std::size_t output,
               const RunOptions& options);

}  // namespace opwright
