// Which cases a run has, where they run and how they are judged: all that decides its answers. A run's record keeps it,
// and a run that is continued takes it back.
//
// Every field has a name, the one of its flag on the command line, under which records keep it: one table
// (run_choice.cpp) for the flags, the record and the way back. "" and nothing mean: not given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/run_case.h"
#include "model/case_record.h"
#include "vectors/suites.h"

namespace opwright::jobs {

// Seconds that a case may take.
struct Timeouts {
  std::optional<double> usual;                         // none: 30, and more for cases that are known to be long
  std::map<std::string, double, std::less<>> by_name;  // of an operation or a suite

  double of(const CaseRecord& record, std::optional<double> own, double estimated) const;
};

struct RunChoice {
  // Which.
  std::string where;                 // selector
  std::optional<std::string> suite;  // of the store (model_traced), or of `suites`
  std::string suites;                // file of user suites
  std::string vectors;               // vector files instead of the store
  std::vector<std::string> ops;
  std::optional<std::uint64_t> limit, count, randomize;
  bool dedupe = false;
  bool keep_invalid = false;            // also configurations that were only ever seen to raise
  std::string shard;                    // "2/8"
  std::string budget;                   // "5m"
  bool plan_order = false;              // cases start in the order of the plan, not what shows most first
  std::string profile, profile_window;  // of the budget: cases weigh what they cost in this report, not their calls
  // Where.
  std::optional<std::string> device;  // sim for suites, each case on the board that it was traced on
  std::string against;                // a second device
  std::string python;
  std::optional<double> start_seconds;
  // How.
  std::optional<std::uint64_t> seed, sample;
  std::string data;  // a distribution
  std::optional<double> pcc;
  Timeouts timeouts;
  bool check = false;  // compute nothing
  bool golden = false, mutate = false, warm = false;
};

using Texts = std::vector<std::string>;

// In the order of the record.
std::vector<std::string_view> choice_fields();
bool is_switch(std::string_view field);
// As the command line writes it, an item a value; nothing where it was not given. A switch that is on: {"true"}.
Texts texts_of(const RunChoice& choice, std::string_view field);
// The way back. Of a field with one value the last text counts.
Status set_field(RunChoice& choice, std::string_view field, const Texts& texts);

// What it says of a single case.
Result<RunOptions> case_options(const RunChoice& choice);
// The flags that a repeat line needs beside device and data, so that it gives the same answer: " --golden".
std::string repeat_flags(const RunChoice& choice);
// The vectors of a file, of user suites or of the store, in their order. `announce` may be empty.
struct VectorPlace {
  std::string store;
  int wait_ms = 60'000;
  std::function<void(std::int64_t vectors, std::size_t operations)>
      announce;  // the size of a product, before it is made
};
Status for_each_vector(const RunChoice& choice, const VectorPlace& place, const vectors::UseVector& use);

}  // namespace opwright::jobs
