// Two say which arguments a call writes into: the table that the recorder's hook asks, and the descriptions of
// operators.
#include "dialect/ttnn/written_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "device/device.h"
#include "dialect/ttnn/ttnn.h"
#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/plan_call.h"

namespace opwright {
namespace {

using Names = std::set<std::string>;

// Whether the call wants what the row says: its flag is a boolean argument, or a field of one that is a struct.
bool is_asked(const WrittenArgument& row, const BoundCall& call) {
  if (row.flag.empty()) return true;
  const Value* value = call.find(row.flag);
  if (value == nullptr) return row.without_flag;
  return row.field.empty() ? call.flag(row.flag, row.without_flag).value_or(false)
                           : to_text(*value).find(std::string(row.field) + "=true") != std::string::npos;
}

Names by_table(const PlannedCall& plan) {
  Names out;
  for (const WrittenArgument& row : written_arguments(plan.call.op))
    if (is_asked(row, plan.call) && plan.call.tensor(row.name) != nullptr) out.emplace(row.name);
  for (const TensorSlot& slot : plan.call.tensors)
    if (names_an_output(plan.call.op, slot.param)) out.insert(slot.param);
  return out;
}

// Outputs that are a tensor of the call. One that comes back as it was is a view, and nothing was written.
Names by_description(const PlannedCall& plan) {
  const std::vector<HostTensor> inputs = make_inputs(*plan.op, plan.call, {.seed = 3});
  Names out;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const OutputSpec& output = plan.outputs[i];
    if (output.alias.empty()) continue;
    const Shape& shape = output.spec.shape;
    const Rows rows{.total = volume(shape) / row_length(shape), .length = row_length(shape), .picked = {}};
    const auto exact = plan.op->reference({plan.call, inputs, plan.outputs, i, rows});
    EXPECT_TRUE(exact) << plan.call.op;
    if (!exact) continue;
    const HostTensor& before = inputs[plan.call.slot(output.alias).value()];
    bool is_view = before.size() == volume(shape);
    for (std::int64_t at = 0; is_view && at < before.size(); ++at)
      is_view = before.at(at) == exact->value[static_cast<std::size_t>(at)];
    if (!is_view) out.insert(output.alias);
  }
  return out;
}

TEST(WrittenArguments, TheHooksTableSaysWhatDescriptionsInfer) {
  std::set<std::string> seen;
  const auto board = open_device("sim:n150");
  ASSERT_TRUE(board);
  for (const std::string_view line : example_cases()) {
    const auto config = parse_case(line);
    ASSERT_TRUE(config) << line;
    const auto plan = plan_call(*config, (*board)->can().board);
    ASSERT_TRUE(plan) << line << ": " << plan.error().message;
    const Names written = by_description(*plan);
    EXPECT_EQ(by_table(*plan), written) << line;
    if (!written.empty()) seen.insert(plan->call.op);
  }
  for (const char* op : {"ttnn.copy", "ttnn.softmax_in_place", "ttnn.experimental.paged_fused_update_cache",
                         "ttnn.group_norm", "ttnn.add_", "ttnn.plus_one"})
    EXPECT_TRUE(seen.contains(op)) << op << " has no example that writes, so nothing was compared";
}

TEST(WrittenArguments, NamesAndPlacesAreThoseOfTheLibrary) {
  EXPECT_TRUE(std::ranges::is_sorted(
      kWrittenArguments, {}, [](const WrittenArgument& row) { return std::pair(row.operation, row.position); }));
  for (const WrittenArgument& row : kWrittenArguments) {
    const auto names = ttnn_dialect().tables().signature(row.operation);
    if (names.empty()) continue;  // methods, and operations of other releases
    ASSERT_LT(static_cast<std::size_t>(row.position), names.size()) << row.operation;
    EXPECT_EQ(names[static_cast<std::size_t>(row.position)], row.name) << row.operation;
  }
}

// A parameter that is called an output is written also where it is given by position; a suffix has a known first name.
TEST(WrittenArguments, NoneOfTheSignaturesIsForgotten) {
  std::ifstream file(std::string(OPWRIGHT_SOURCE_DIR) + "/src/dialect/ttnn/data/signatures.tsv");
  int outputs = 0, suffixes = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string op = line.substr(0, line.find('\t'));
    const auto names = ttnn_dialect().tables().signature(op);
    const auto rows = written_arguments(op);
    for (std::size_t place = 0; place < names.size(); ++place) {
      if (!names_an_output(op, names[place])) continue;
      ++outputs;
      EXPECT_TRUE(std::ranges::any_of(rows,
                                      [&](const WrittenArgument& row) {
                                        return row.position == static_cast<int>(place) && row.name == names[place];
                                      }))
          << op << " at " << place << ": " << names[place];
    }
    if (!writes_first(op)) continue;
    ++suffixes;
    EXPECT_TRUE(std::ranges::any_of(rows, [&](const WrittenArgument& row) { return row.name == names[0]; }))
        << op << ": " << names[0];
  }
  EXPECT_GT(outputs, 20);
  EXPECT_GT(suffixes, 30);
}

}  // namespace
}  // namespace opwright
