// One result of a run, and the run itself, as they are stored, exported and analysed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/data_recipe.h"
#include "model/outcome.h"

namespace opwright {

struct CaseRecord {
  // What was to be run.
  std::int64_t index = 0;   // place in the plan of its run: a run has each index once
  std::string vector;       // id of the test vector: stable between runs
  std::string key;          // of the configuration, hex; "" for a case line that is in no store
  std::string config_hash;  // what the existing tooling knows it by, as the vector had it; "" none
  std::string op, suite;
  std::string line;           // the case line
  std::string repeat;         // the command that runs it alone
  std::string dtype;          // of the first tensor: BFLOAT16, …
  std::string layout;         // TILE, ROW_MAJOR
  std::string memory;         // "DRAM INTERLEAVED", "L1 HEIGHT_SHARDED", …
  std::string models;         // comma separated
  std::int64_t calls = 0;     // of the models, all traces together: the weight of the case
  std::int64_t elements = 0;  // of all tensors, in and out
  DataRecipe recipe;

  // How it ended.
  Outcome outcome = Outcome::kNotRun;
  std::string reason;    // why it is not passed; "" else
  std::string argument;  // the parameter at fault, where one is
  Blame blame = Blame::kNobody;
  std::string evidence;  // what was repeated to find who is to blame, and how that ended
  std::string notes;     // what a reader must know beside it: assumed arguments, specs that differ from the inferred
  int attempts = 1;
  // Of a failure on another device: how the simulated one ended with the same data. Not stored: the evidence tells it.
  std::optional<Outcome> second_opinion;

  // The judge's figures: the worst over all outputs. None where nothing was judged.
  std::optional<double> pcc, ulp, nrmse;  // ulp: 99 in 100 elements are within it
  std::optional<double> bound_used;       // largest error as a share of its bound
  std::int64_t judged = 0;                // elements looked at
  std::string verdicts;                   // JSON array, one verdict an output; "" none
  std::string outputs;                    // JSON array of output specs; "" none

  // Executed against traced.
  std::int64_t fields = 0;        // of the traced configuration; 0: not looked at
  std::int64_t fields_equal = 0;  // … that the executed one has too
  std::string differences;        // the others, "field: traced -> executed; …"

  // Faults planted behind the comparer.
  std::int64_t faults = 0;          // tried; 0: none
  std::int64_t faults_noticed = 0;  // … that the judge saw
  std::string unnoticed;            // the others, by name

  // A differential run: what the second device said.
  std::string against;       // its outcome; "" where only one device ran
  std::string disagreement;  // where the two differ; "" they agree

  // Cost.
  std::string started;                     // UTC, 2026-11-15T20:09:21.123Z
  double wall_seconds = 0;                 // of the whole case, in its worker
  double device_seconds = 0;               // the call, warm where it ran twice
  std::optional<double> cold_seconds;      // its first time, where it ran twice
  std::optional<double> kernel_seconds;    // on the modelled or real chip
  double reference_seconds = 0;            // reference and judge
  std::int64_t l1_per_core = 0, dram = 0;  // bytes; 0: not reported
  std::int64_t host_bytes = 0;             // peak of the worker
  std::string perf;                        // JSON object, times of a run with --perf (docs/formats/perf.md); "" none
};

struct RunRecord {
  std::string uid;             // "20261115T200921-3fa9"
  std::string started, ended;  // UTC; ended is "" while it runs, and after a kill
  std::string host, device, numerics, command, git_commit, version;
  std::string suite;
  std::string against;  // the second device of a differential run; "" none
  std::string plan;     // JSON: all that decides which cases the run has; --resume compares it
  std::string facts;    // JSON: versions of the device's software, cpu, limits, options
  std::string status;   // running, complete, interrupted; unknown: nobody here can see whether it runs
  std::uint64_t seed = 1;
  std::int64_t planned = 0;  // cases
};

}  // namespace opwright
