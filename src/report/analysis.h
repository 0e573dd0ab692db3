// What a run says as a whole, from one pass over its results. Memory does not grow with the texts of the cases: kept
// are the numbers behind the percentiles (about 60 bytes a case), one entry a distinct operator, model, message, …,
// and with `--mutate` some 60 bytes a wrong use of data
//
//   Analyser analyser(run, {.worst = 5});
//   reader.for_each(run.uid, [&](CaseRecord&& record) { analyser.add(record); return Status(); });
//   Analysis analysis = analyser.finish();
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case_record.h"
#include "report/figures.h"
#include "report/kill_table.h"

namespace opwright::report {

// What a table has one row for.
enum class By : std::uint8_t { kOp, kDtype, kLayout, kMemory, kModel, kSuite, kOutcome, kBlame };
inline constexpr std::array kAllBy{By::kOp,    By::kDtype, By::kLayout,  By::kMemory,
                                   By::kModel, By::kSuite, By::kOutcome, By::kBlame};
std::string_view name_of(By by);  // "op", "dtype", …
std::optional<By> parse_by(std::string_view name);

// A few cases of one kind added up.
struct Group {
  std::string name;  // "" is shown as "unknown"
  std::int64_t cases = 0, passed = 0, undecided = 0, failed = 0, no_answer = 0;
  std::int64_t calls = 0, calls_passed = 0;
  std::int64_t pcc_count = 0;  // finite ones; the next three are of these
  double pcc_min = 0, pcc_max = 0, pcc_sum = 0;
  std::int64_t ulp_count = 0;
  double ulp_max = 0;
  double seconds = 0;  // wall, of those that ran
};

// A case that is worth a line, and why.
struct Notable {
  double value = 0;
  std::int64_t index = 0;
  Outcome outcome = Outcome::kNotRun;
  std::string name;  // @054f8d1b
  std::string op, line, repeat;
};

// Results that ended in the same way with the same message, numbers aside.
struct Cluster {
  Outcome outcome = Outcome::kNotRun;
  std::string pattern;
  std::int64_t count = 0, calls = 0;
  std::map<std::string, std::int64_t> ops, blames;
  std::string name, reason, line, repeat;  // of the first one
};

struct Analysis {
  RunRecord run;
  bool filtered = false;  // only some of the results were looked at

  std::int64_t total = 0;      // results
  std::int64_t unreached = 0;  // planned, but without a result; 0 when filtered
  std::map<Outcome, std::int64_t> outcomes;
  std::int64_t passed = 0, undecided = 0, failed = 0, no_answer = 0;

  std::int64_t calls = 0, calls_passed = 0, calls_undecided = 0, calls_failed = 0, calls_no_answer = 0;
  std::int64_t uncounted = 0;  // cases that no trace counts calls of: they have no weight

  Figures seconds, device_seconds, reference_seconds;  // of cases that ran
  Figures cold_seconds, kernel_seconds;
  Figures pcc, ulp, nrmse, bound_used;
  std::int64_t judged = 0, elements = 0;  // elements looked at; of all tensors of the judged cases
  std::int64_t in_part = 0;               // cases of which an output was judged by a sample of its rows

  std::int64_t compared_cases = 0, equal_cases = 0;  // executed against traced, field by field
  std::int64_t fields = 0, fields_equal = 0;
  std::map<std::string, std::int64_t> differing_fields;  // field -> cases

  std::int64_t mutated_cases = 0, faults = 0, faults_noticed = 0;
  std::map<std::string, std::int64_t> unnoticed;  // fault -> cases
  Kills misuse;                                   // wrong use of data
  std::int64_t blind_cases = 0;                   // passed, and would not have shown a large mistake
  std::map<std::string, std::int64_t> blind;      // mistake -> cases
  Figures unseen_factor;                          // passed sums: how far off in common all values may be, 0.01 of 1 %

  std::int64_t against_cases = 0, disagreed = 0, not_compared = 0;  // of a differential run (report/agreement.h)
  std::map<std::string, std::int64_t> against_outcomes;

  std::map<std::string, std::int64_t> blames;  // of failures; "" nobody looked
  std::int64_t repeated = 0;                   // cases that took more than one attempt
  std::int64_t noted = 0;                      // cases with something a reader must know beside the outcome
  std::string note;                            // the first one

  Figures l1_per_core, dram, host_bytes;

  std::vector<Notable> least_pcc, most_ulp, nearest_bound, slowest;  // the worst first
  std::vector<Cluster> failures;                                     // the largest first
  std::vector<Cluster> unanswered;                                   // what was not run and why
  std::int64_t clusters_cut = 0;  // results whose message was not kept because there are too many distinct ones
  std::map<By, std::vector<Group>> tables;  // most cases first
};

// Nothing was wrong, and yet it is no pass: what was executed is not what was traced, or the output proves nothing.
constexpr bool is_unproven(Outcome outcome) { return outcome == Outcome::kUnproven || outcome == Outcome::kMistrusted; }
// Of the verdicts of a case: the largest common factor that it would not have shown, as 0.01 of 1 %; nothing where none
// was asked about.
std::optional<double> unseen_factor(std::string_view verdicts);
// How many cases are.
std::int64_t unproven_of(const Analysis& analysis);

class Analyser {
 public:
  struct Options {
    std::size_t worst = 3;  // cases of each kind
    bool filtered = false;  // add() gets only some of the results
  };
  Analyser(RunRecord run, Options options);
  void add(const CaseRecord& record);
  Analysis finish();

 private:
  void count(const CaseRecord& record, Standing standing);
  void measure(const CaseRecord& record, Standing standing);
  void keep_worst(const CaseRecord& record, Standing standing);
  void cluster(const CaseRecord& record, Standing standing);
  void tabulate(const CaseRecord& record, Standing standing);

  Options options_;
  Analysis analysis_;
  std::map<std::pair<Outcome, std::string>, Cluster> clusters_;
  std::map<By, std::map<std::string, Group, std::less<>>> groups_;
  KillTable misuse_;
};

}  // namespace opwright::report
