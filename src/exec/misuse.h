// Would this case notice that its data is used wrongly? Real kernels seldom scale an output by two: they read the
// statistics of another row, drop the last tile of a sum, forget a bias, look one position too far.
//
// For every such mistake that the call has room for, the result that it leads to is computed exactly: by the operator's
// reference on changed inputs or a changed call, where that says it (misuse_inputs.cpp), else by a small wrong
// implementation of the family (misuse_families.cpp). It is rounded as a device would deliver it, and the judge is
// asked. What is found by roles and parameters of the operator's description holds for operators to come.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge.h"
#include "exec/plan_call.h"
#include "model/data_recipe.h"
#include "ops/op.h"

namespace opwright {

struct MisuseOptions {
  std::int64_t most_elements = std::int64_t{1} << 17;  // of the judged rows; of more a part is taken
  double most_work = 4e7;                              // multiply-adds of one wrong reference, about
  std::int64_t most_inputs = std::int64_t{1} << 25;    // elements of all inputs; larger cases are not asked
};

// One output of a case on the bench: `wrong_*` compute a wrong result, ask the judge and note the answer.
class MisuseBench {
 public:
  // `inputs` are changed while a question is asked, and are afterwards what they were.
  MisuseBench(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output, const Rows& picked,
              const DataRecipe& recipe, const JudgeOptions& judging, const MisuseOptions& options);

  // Why nothing can be asked here: "" where it can.
  const std::string& why_none() const { return why_none_; }
  const std::vector<Misused>& answers() const { return answers_; }

  const OpSpec& op() const { return *plan_.op; }
  const BoundCall& call() const { return plan_.call; }
  std::span<const HostTensor> inputs() const { return inputs_; }
  const OutputSpec& output() const { return plan_.outputs[output_]; }
  const Rows& rows() const { return rows_; }
  const std::vector<double>& exact() const { return exact_.value; }
  const ErrorBudget& budget() const { return budget_; }
  const DataRecipe& recipe() const { return recipe_; }
  Role role(std::size_t slot) const;
  const std::vector<HostTensor>& other_inputs();  // of the same call with another seed

  // Another input instead of one, or of several: `change` makes it of a copy, false where that means nothing.
  using Change = std::function<bool(HostTensor&)>;
  void wrong_input(std::string_view name, std::size_t slot, const Change& change);
  void wrong_inputs(std::string_view name, std::span<const std::size_t> slots, const Change& change);
  void wrong_call(std::string_view name, std::string_view operand, const BoundCall& call);
  void without(std::string_view name, std::string_view param);
  void wrong_values(std::string_view name, std::string_view operand, std::vector<double> values);

  // What the reference gives for these rows; nothing where it refuses.
  std::vector<double> reference(const BoundCall& call, std::span<const HostTensor> inputs) const;
  // … with changed inputs, put back afterwards.
  std::vector<double> reference_with(std::span<const std::size_t> slots, const Change& change);

 private:
  Verdict judged(const HostTensor& output) const;  // of the judged rows, as a device would deliver them
  std::vector<double> delivered(const std::vector<double>& values, HostTensor& output) const;

  const PlannedCall& plan_;
  std::span<HostTensor> inputs_;
  std::size_t output_;
  Rows rows_;
  DataRecipe recipe_;
  JudgeOptions judging_;
  ErrorBudget budget_;
  std::string why_none_;
  Exact exact_;
  std::vector<double> right_;  // the exact result as it would be delivered
  std::vector<HostTensor> other_;
  std::vector<Misused> answers_;
};

// The mistakes, each a function that asks what there is to ask. Their names are the classes of the report.
void misuse_inputs(MisuseBench& bench);
void misuse_families(MisuseBench& bench);

// Those of them that take no copy of an operand, and no more than the judged rows.
void misuse_without_copies(MisuseBench& bench);
void misuse_of_rows(MisuseBench& bench);

// All of them, for one output.
std::vector<Misused> try_misuse(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output,
                                const Rows& picked, const DataRecipe& recipe, const JudgeOptions& judging,
                                std::string& why_none, const MisuseOptions& options = {});

// What a passed output would not have shown, in words: large mistakes among those that are cheap to ask, on a few rows,
// and on more where these show nothing. For every case of a plain run.
std::vector<std::string> blind_to(const PlannedCall& plan, std::span<HostTensor> inputs, std::size_t output,
                                  const Rows& picked, const DataRecipe& recipe, const JudgeOptions& judging);
// The same of mistakes that were asked.
std::vector<std::string> blind_to(std::span<const Misused> asked);

}  // namespace opwright
