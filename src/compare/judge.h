// The judge: is an output what the operator owes, and could the data have shown it if it was not?
//
// Shape and dtype must be the promised ones, NaN and infinities must stand where they are expected, and every element
// must lie within a bound that follows from the data, the output format and the operator's error budget (bound.h).
// Contractions must also show no more error than their accumulation explains: not in the bulk, not as a common factor,
// not in a column. PCC counts where the data gives it a meaning; the verdict says where it does not.
// Outputs without spread are mistrusted, because most mistakes leave no trace in them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "compare/verdict.h"
#include "model/each_of.h"
#include "model/error_budget.h"
#include "model/host_tensor.h"

namespace opwright {

// Whether `actual` is as right as `expected` at that element of the whole output: a position of an equal value.
using SameChoice = std::function<bool(std::int64_t element, double expected, double actual)>;
// Which elements of the whole output are one choice: none of their answers may be given twice.
using ChoiceOf = std::function<std::int64_t(std::int64_t element)>;

struct Judged {
  const TensorSpec& wanted;                // the promised shape and dtype
  const HostTensor& actual;                // the whole output
  const ErrorBudget& budget;               // what the operator says of itself
  std::span<const double> value;           // exact, the picked rows one after the other
  std::span<const double> magnitude;       // as op references give it; empty: |value|, in contractions an estimate
  std::span<const double> before = {};     // where a function is fused: what it was given; `magnitude` is of these
  EachOf after = {};                       // … and the function
  EachOf slack = {};                       // … its own error there, where it is an approximation; empty: none
  std::span<const std::size_t> open = {};  // places in `value`, ascending, of which nothing is promised
  std::span<const std::int64_t> rows;      // picked, ascending; empty: all
  SameChoice same_choice = {};             // selections only; empty: equal values only
  ChoiceOf choice_of = {};                 // … empty: every element is a choice by itself
  bool constant = false;  // every element is the same by definition: an output of one value is what is due
};

struct JudgeOptions {
  std::optional<double> pcc;    // threshold; else the budget's
  double excess = 2.0;          // how much more error than the accumulation normally shows is accepted, in the rms
  double within_share = 0.999;  // of elementwise results, as long as none is further than twice its bound
  // Devices pack NaN into bfloat16 and block floats as infinity: accepted, and counted, only where the caller says so.
  bool nan_may_be_infinity = false;
  // Elements whose exact value is NaN, or not finite at all, are nobody's promise: kernels are not IEEE there.
  bool nan_is_open = false;
  bool infinity_is_open = false;
  std::string distribution;
  std::uint64_t seed = 0;
};

Verdict judge(const Judged& judged, const JudgeOptions& options = {});

}  // namespace opwright
