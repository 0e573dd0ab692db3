// What the judge says of one output, and the figures that it says it from.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/outcome.h"
#include "model/tensor_spec.h"

namespace opwright {

enum class JudgedBy : std::uint8_t {
  kExact,        // equality after rounding, or membership
  kBound,        // the error bound alone: the data gives PCC no meaning, or there is no PCC
  kPccAndBound,  // both
};
std::string_view name_of(JudgedBy by);  // "exact", "bound", "pcc and bound"

// How the note of an output begins of which only a sample of rows was judged: reports count such cases.
inline constexpr std::string_view kJudgedInPart = "judged in part";

// The element that comes closest to its bound, or goes furthest beyond.
struct WorstElement {
  std::int64_t index = -1;  // row major, in the whole output; -1: none
  double expected = 0.0;
  double actual = 0.0;
  double bound = 0.0;
};

// NaN and infinities: they are compared by place and kind and enter no other figure.
struct Nonfinite {
  std::int64_t open = 0;          // nothing is promised of them
  std::int64_t expected = 0;      // elements that are NaN, infinite or beyond the output format
  std::int64_t agreed = 0;        // … where the actual is the same
  std::int64_t nan_as_inf = 0;    // … accepted NaN packed as infinity
  std::int64_t disagreed = 0;     // on either side
  std::int64_t group_zeroed = 0;  // finite neighbours in a block-float group with NaN or infinity, which encode as 0
  std::int64_t first = -1;        // element of the first disagreement
};

struct Metrics {
  std::int64_t compared = 0;  // finite elements
  double pcc = 0.0;           // NaN where a side has no spread
  double pcc_ideal = 0.0;     // what perfect rounding to the output format would reach on this data
  double pcc_floor = 0.0;     // what a kernel within its budget may fall to on this data
  double max_abs = 0.0;
  double max_rel = 0.0;  // of elements that are not 0
  double nrmse = 0.0;    // rms(error) / std(exact)
  double rel_rms = 0.0;  // rms(error) / rms(exact)
  double ulp_max = 0.0;  // ULP of the output format at the exact value; block floats: of its group of 16
  double ulp_mean = 0.0;
  double ulp_p99 = 0.0;      // to 2 %
  double exact_share = 0.0;  // equal to the exact value rounded to the output format
  double within_share = 0.0;
  double excess = 0.0;  // rms of the error in units of what the accumulation normally shows; 0 where not computed
  double scale = 1.0;   // slope of actual on exact; 1 where not computed
  double spread = 0.0;  // std(exact)
  double noise = 0.0;   // rms of what the budget expects
  // What a sum is rounded by explains a common factor of this range: a device that is off by one passes. NaN: the
  // output was not asked for it.
  double factor_low = std::numeric_limits<double>::quiet_NaN();
  double factor_high = std::numeric_limits<double>::quiet_NaN();
  WorstElement worst;
};

// How the range of common factors begins in a verdict's JSON: reports look for it.
inline constexpr std::string_view kUnseenFactor = "\"unseen_factor\": [";

// A wrong use of the data that the judge was asked about: the result that it leads to, delivered as a device would.
struct Misused {
  std::string name;     // the class: "missing bias"
  std::string operand;  // what is used wrongly: a parameter, or several
  double change = 0.0;  // of the output: rms of the difference / rms; infinite where a number became none
  bool noticed = false;
  std::string why;  // it was not

  // Smaller changes may lie within what a sound kernel shows.
  bool large() const { return change >= 0.02; }
};

struct Verdict {
  Outcome outcome = Outcome::kFailed;
  JudgedBy judged_by = JudgedBy::kBound;
  std::vector<std::string> reasons;  // of a failure or mistrust
  std::vector<std::string> notes;    // what a reader must know to trust a pass
  Metrics metrics;
  Nonfinite nonfinite;
  double pcc_threshold = 0.0;
  std::int64_t ties = 0;  // selected differently among equals
  std::int64_t rows = 0;  // judged
  std::int64_t total_rows = 0;
  Shape shape;
  std::string distribution;  // of the data: a PCC means nothing without it
  std::uint64_t seed = 0;
  std::string budget;              // why the bound is what it is
  std::vector<std::string> blind;  // of a pass: mistakes of 2 % rms or more that it would not have shown
  std::vector<Misused> misuse;     // with `--mutate`: what was asked
};

// One or two lines for people.
std::string to_text(const Verdict& verdict);
// One JSON object; NaN and infinities as null.
std::string to_json(const Verdict& verdict);

}  // namespace opwright
