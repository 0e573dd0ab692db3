// What we know of one operator: its arguments in both eras, when it is refused, what it returns, what the exact result
// is, and how far a device may be from it. One row of a family's table or one file an operator; all_ops.cpp lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/each_of.h"
#include "model/error_budget.h"
#include "model/host_tensor.h"
#include "model/refusal.h"
#include "ops/random.h"
#include "ops/roles.h"

namespace opwright {

// What to do when a trace has lost the value of a parameter ("unsupported type", "...").
enum class Lost : std::uint8_t {
  kRefuse,      // the call cannot be repeated without it
  kAssumeNone,  // run as if it was not passed, and say so beside the verdict
  kNoMatter,    // a handle or a hint for speed: it changes no value and no spec
  kHandle,      // a handle, kept as it is: that it was passed matters, which one does not
};

// Which parameters Python takes by position, and in which order, is told by signatures.h alone.
struct Param {
  std::string_view name;  // of the Python signature
  int era1 = -1;          // position in the C++ argument list of era-1 traces; -1: not there
  bool required = false;
  Lost lost = Lost::kRefuse;
  int place = -1;  // position in Python where signatures.h ends, because overloads disagree about its name there
  std::optional<Role> role = {};    // what its tensor is filled with; nothing: it takes none
  std::string_view list_name = {};  // what Python's overload for lists calls it, where that is another name
};

// What results of small whole numbers are, where the budget alone does not say that they are exact.
enum class OnWhole : std::uint8_t {
  kAsBudgeted,
  kKept,      // whole: sums, products, extremes of two
  kSums,      // whole while `sum` of them stays small
  kProducts,  // the same for sums of products
  kSelects,   // one of them: they may be large, so that many differ
};
// How many values of a tensor one result adds up.
struct Sum {
  std::int64_t terms = 1;
  bool along_rows = false;  // neighbours of a row of the first tensor: zeros among them keep the sum small
};

// Which rows (last dimension) of an output a reference shall compute. Huge outputs are judged by a sample of rows.
struct Rows {
  std::int64_t total = 0;
  std::int64_t length = 1;           // elements of a row
  std::vector<std::int64_t> picked;  // ascending; empty: all

  std::int64_t count() const { return picked.empty() ? total : static_cast<std::int64_t>(picked.size()); }
  std::int64_t at(std::int64_t i) const { return picked.empty() ? i : picked[static_cast<std::size_t>(i)]; }
};

struct ReferenceJob {
  const BoundCall& call;
  std::span<const HostTensor> inputs;  // one for each of call.tensors
  std::span<const OutputSpec> outputs;
  std::size_t output = 0;  // which of them
  const Rows& rows;

  // The tensor given as `param`; null when it was not passed.
  const HostTensor* input(std::string_view param, std::size_t item = 0) const;
};

// Exact results in double precision, rows.count() x rows.length each.
struct Exact {
  std::vector<double> value;
  // What rounding inside the operator is proportional to: sum |a||b| of a contraction, the largest operand of a sum
  // that cancels. Empty: |value|.
  std::vector<double> magnitude;
  // Where functions are fused: what they were given (`magnitude` is of these then), and all of them as one. The judge
  // carries the error before them through them. Empty: none.
  std::vector<double> before;
  EachOf after;
  // The error of the last of them at its argument `before`, where it runs as a fast variant. Empty: as budgeted.
  EachOf slack;
  // Places in `value`, ascending, of which mathematics promises nothing: 0 x infinity. They hold NaN.
  std::vector<std::size_t> open;
  // Selections: whether another answer is as right at that element of the whole output (a position of an equal value),
  // and which elements are one choice, of which no answer may be given twice. Empty: the exact answer alone. They look
  // into the inputs of the job, which must still be there.
  std::function<bool(std::int64_t element, double expected, double actual)> same_choice;
  std::function<std::int64_t(std::int64_t element)> choice_of;
};

struct OpSpec {
  std::string_view name;  // "ttnn.add"
  std::vector<std::string_view> aliases;
  std::vector<Param> params;
  bool ccl = false;  // talks to other devices of a mesh
  // Mends what the tables cannot say: overloads, argument orders that changed with time. May be null.
  Checked<void> (*rebind)(BoundCall& call) = nullptr;
  // Refuses what the library refuses, else says what it returns.
  Checked<std::vector<OutputSpec>> (*infer)(const BoundCall& call, const Board& board) = nullptr;
  // Null only for operators whose reference is still missing: they can be checked, never passed.
  Checked<Exact> (*reference)(const ReferenceJob& job) = nullptr;
  ErrorBudget (*budget)(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) = nullptr;
  // Input data that is not plain numbers (ids within a vocabulary, page tables, positions, masks): fills tensor
  // `slot` of the call and returns true; false asks for the vector's distribution. May be null.
  bool (*fill)(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) = nullptr;
  // Operands that must fit one another: called once all are filled with numbers of N(0,1), to make some show what
  // random ones would not (queries whose best key is the last that they may see). May be null.
  void (*arrange)(const BoundCall& call, std::span<HostTensor> inputs) = nullptr;
  // Where the operator's function has corners, tails or changes of method; mixed into its first operand. May be null.
  std::vector<double> (*corners)(const BoundCall& call) = nullptr;
  // Of an operator that changes a part of a tensor in place: the rows of the output that this call writes, ascending.
  // They are what a sample shall look at first; all others must stay as they are. Null: every row is written.
  std::vector<std::int64_t> (*written)(const ReferenceJob& job) = nullptr;
  // Multiply-adds that a row of the output takes, where that is more than its elements tell: rows of an attention over
  // 100,000 keys are sampled more thinly. May be null.
  double (*work)(const BoundCall& call) = nullptr;
  OnWhole on_whole = OnWhole::kAsBudgeted;
  Sum (*sum)(const BoundCall& call) = nullptr;  // null: one value
  bool reads_part = false;                      // of its tensors it reads only what it selects
  bool ranks_all = false;  // without `dim` it compares all elements of its tensor, not those of a row
  bool constant = false;   // every element of a result is the same by definition, whatever the data
};

}  // namespace opwright
