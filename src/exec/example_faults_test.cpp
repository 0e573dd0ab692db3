// Every example, with the data that its recipe gives, would notice the faults that a test must notice.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/device.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/output_fields.h"
#include "exec/run_case.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

TEST(ExampleFaults, NoExampleIsVacuous) {
  auto device = open_device("sim:n150");
  ASSERT_TRUE(device.has_value());
  RunOptions options;
  options.mutate = true;
  for (const std::string_view line : example_cases()) {
    const auto config = parse_case(line);
    ASSERT_TRUE(config.has_value()) << line;
    const CaseResult result = run_case(*config, **device, options);
    EXPECT_EQ(result.outcome, Outcome::kPassed) << line << ": " << result.reason;
    // Where all values are the same by definition, swapping, shifting and scaling zeros change nothing, and without a
    // tensor to give back there is none to leave as it was.
    const bool has_input = line.find("tensor(") != std::string_view::npos;
    // Of a tensor that holds whatever lay there nothing can be wrong but its form.
    const bool of_values =
        std::ranges::any_of(result.outputs, [](const OutputSpec& output) { return !has_own_form(output); });
    const int least = !of_values ? 0 : !find_op(config->op)->constant ? 8 : has_input ? 3 : 2;
    EXPECT_GE(result.faults, least) << line;
    EXPECT_EQ(result.faults, result.faults_noticed) << line;
  }
}

}  // namespace
}  // namespace opwright
