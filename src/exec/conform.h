// How far a device agrees with recorded ground truth: who is accepted, what comes out, which numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "exec/oracle.h"

namespace opwright {

struct Agreement {
  std::int64_t agree = 0;
  std::int64_t disagree = 0;
  void add(bool same) { ++(same ? agree : disagree); }
  double share() const {
    return agree + disagree == 0 ? 1.0 : static_cast<double>(agree) / static_cast<double>(agree + disagree);
  }
};

struct ValueAgreement {
  std::int64_t exact = 0;   // bit for bit (or: both without any error)
  std::int64_t within = 0;  // as accurate as the real kernels are, no worse and no better than twice
  std::int64_t beyond = 0;
};

struct Disagreement {
  std::string id;
  std::string op;
  std::string what;  // "outcome", "spec", "value"
  std::string kind;  // of the mutation
  std::string text;  // what was expected and what came
  std::string repeat;
};

struct OpAgreement {
  std::int64_t cases = 0;
  Agreement outcome;
  Agreement specs;
  ValueAgreement values;
  std::int64_t exact_elements = 0;  // of numeric cases
  std::int64_t elements = 0;
};

struct ConformReport {
  std::int64_t cases = 0;
  std::map<std::string, std::int64_t> skipped;  // reason -> cases
  OpAgreement total;
  std::map<std::string, OpAgreement> per_op;
  std::map<std::string, Agreement> fields;     // shape, padded_shape, dtype, layout, memory
  std::map<std::string, Agreement> uncounted;  // kinds that are reported only: "l1", "big", "guessed"
  std::int64_t agreed_unsupported =
      0;  // of the agreeing outcomes: refused here because nobody handles it, not by a rule
  std::vector<Disagreement> disagreements;
};

// `device`: "sim" (each case on the board that its record names) or a device with a board ("sim:n150").
class Conform {
 public:
  static Result<Conform> on(std::string device);
  // A device that is a program: it gets the calls as they were recorded; records of other boards are skipped.
  static Result<Conform> on(Device& program);
  // Runs one case and adds it to the report.
  void add(const OracleCase& oracle);
  const ConformReport& report() const { return report_; }

 private:
  explicit Conform(std::string kind) : device_(std::move(kind)) {}
  void add_answer(const OracleCase& oracle, OpAgreement& op);
  void add_values(const OracleCase& oracle, OpAgreement& op);
  void disagree(const OracleCase& oracle, std::string what, std::string text);

  Checked<std::vector<OutputSpec>> ask(const OracleCase& oracle);
  std::string why_not(const OracleCase& oracle) const;  // why a program is not asked; "" when it is

  std::string device_;
  Device* program_ = nullptr;
  ConformReport report_;
};

}  // namespace opwright
