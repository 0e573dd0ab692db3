// How far an output may lie from the exact result: what an operator says of itself, before any number is seen.
// compare/ turns it, with the data, into a bound for each element.
#pragma once

#include <cstdint>
#include <string>

namespace opwright {

struct ErrorBudget {
  enum class Kind : std::uint8_t {
    kExact,        // data movement: every element equals the exact one, after rounding to the output dtype
    kElementwise,  // `ulps` of the output dtype at max(|exact|, `floor`), plus `relative` x magnitude
    kContraction,  // sums of products: grows with `terms` and the magnitude sum |a||b| of each element
    kSelection,    // each value is one of the input's values (top-k, max): exact, any order among equals
  };
  Kind kind = Kind::kElementwise;
  double ulps = 1.0;          // of the output dtype
  double floor = 0.0;         // scale below which a value has no relative accuracy
  double relative = 0.0;      // x magnitude: operand bits that the engine drops, approximations
  std::int64_t terms = 1;     // accumulation length
  int accumulator_bits = 24;  // significand of the accumulator: 8 for bfloat16, 24 for float32
  std::int64_t group = 16;    // terms added before the accumulator rounds once
  std::int64_t block = 0;     // terms after which a partial sum goes to an outer accumulator of that width; 0: never
  std::int64_t passes = 1;    // a sum that goes through memory between: each pass rounds to the output dtype
  // Functions that are applied to the result before it leaves (activations): their own error, in `ulps` of the output
  // dtype at max(|exact|, `floor`) and as a part of the value. What they make of the error before them follows from
  // the function.
  struct After {
    double ulps = 0.0;
    double floor = 0.0;
    double relative = 0.0;
  };
  After after;
  // By how much a row as a whole may be scaled, or shifted as a part of its rms, beyond what chance explains: errors
  // of a sum or a factor that all elements of a row share. Negative: elements of a row share nothing, or nobody knows.
  // Of contractions: by how much all results may be off alike, because a constant factor is rounded.
  double common = -1.0;
  double shrinks = 0.0;     // the part of `common` by which it may only get smaller: bits that are dropped
  double row_chance = 0.0;  // the part of `common` that differs from row to row by chance: it does not scale them all
  double pcc = 0.999;       // threshold on N(0,1)-like data
  std::string why;          // one line for people: "bf16 accumulation of 2048 terms, HiFi2"
};

}  // namespace opwright
