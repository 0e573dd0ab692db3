#include "fuse/emit_pytest.h"

#include <gtest/gtest.h>

#include "fuse/python_parts.h"
#include "fuse/test_fused.h"

namespace opwright::fuse {
namespace {

std::string emitted(const FusedTest& test) {
  const auto text = emit_pytest(test);
  return text ? *text : "error: " + text.error().message;
}

int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(EmitPytest, WritesParametersReferenceAndCalls) {
  const std::string text = emitted(example_test());
  for (const char* part :
       {"def example_reference(p, x, weight):\n    linear = ref_linear(x, weight)\n    out = ref_multiply(linear, x)\n",
        "def example_ttnn(p, device, x, weight):\n    linear = ttnn.linear(x, weight)\n    out = ttnn.multiply(linear, "
        "x)\n",
        "id=\"decode_1\"", "mode=\"decode\"", "pcc=0.9998",
        "weight=Tensor((1, 1, 64, 64), ttnn.bfloat16, fill=weight_values)",
        "DEVICE_PERF_VARIABLE = \"EXAMPLE_DEVICE_PERF\"", "def test_example(", "def test_example_device_perf(",
        "test_example_single_device = test_example\n", "modelled_kernel_us=1.500", "=== TEST RUN CONFIGURATION ==="})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  for (const char* part :
       {"FUSED", "# if ", "# chip:", "def ref_softmax", "on_each_chip", "recorded_values", "semaphores"})
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  EXPECT_LE(lines_of(text), 285);
  EXPECT_EQ(text, emitted(example_test()));
}

// What is the same in all sets stands in the call, the rest in the table.
TEST(EmitPytest, ArgumentsThatDifferAreParameters) {
  FusedTest test = example_test();
  test.sets.push_back(test.sets[0]);
  test.sets[1].id = "prefill_32";
  test.sets[1].mode = "prefill";
  for (std::size_t s = 0; s < 2; ++s) {
    MemoryConfig memory = *test.sets[0].inputs[0].memory;
    if (s == 0) memory.buffer.value = BufferType::kL1;
    for (CallParameters& call : test.sets[s].calls)
      call.config.args.push_back({"memory_config", Value::memory(memory)});
    test.sets[s].calls[0].config.args.push_back({"activation", Value(std::string("silu"))});
  }
  test.sets[1].calls[1].config.args.push_back({"fast_and_approximate_mode", Value(true)});
  const std::string text = emitted(test);
  EXPECT_NE(text.find("linear = ttnn.linear(x, weight, memory_config=p.memory_config, activation=\"silu\")"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("out = ttnn.multiply(linear, x, memory_config=p.memory_config, **p.more)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("memory_config=ttnn.L1_MEMORY_CONFIG"), std::string::npos);
  EXPECT_NE(text.find("memory_config=ttnn.DRAM_MEMORY_CONFIG"), std::string::npos);
  EXPECT_NE(text.find("more=dict(fast_and_approximate_mode=True)"), std::string::npos);
}

TEST(EmitPytest, SaysWhatItCannotWrite) {
  FusedTest test = example_test();
  test.sets[0].inputs[1].has_shape = false;
  EXPECT_EQ(emitted(test), "error: tensor weight of decode_1: the trace lost its shape, dtype or layout");
  test = example_test();
  test.mesh = {2, 4};
  EXPECT_EQ(emitted(test), "error: tensor x of decode_1: the trace does not say how it is spread over the mesh");
  test = example_test();
  test.calls[1].op = test.sets[0].calls[1].config.op = "ttnn.experimental.dropout";
  EXPECT_EQ(
      emitted(test),
      "error: ttnn.experimental.dropout: nobody here knows its exact result in torch, and the library has no golden "
      "function; leave it out of the sequence");
}

TEST(EmitPytest, AnInputThatIsFreedIsMadeForEachRun) {
  FusedTest test = example_test();
  EXPECT_NE(emitted(test).find("begin_trace_capture"), std::string::npos);
  test.inputs[0].is_freed = true;
  const std::string text = emitted(test);
  EXPECT_NE(text.find("**ready.pop()"), std::string::npos);
  EXPECT_EQ(text.find("begin_trace_capture"), std::string::npos);
}

TEST(EmitPytest, TheReadmeHasTheCommands) {
  const std::string text = emit_readme(example_test());
  EXPECT_NE(text.find("| `decode_1` | decode | 1 | 1 | 4–5 | layer0 | 0.9998 | 0 B |"), std::string::npos) << text;
  EXPECT_NE(text.find("- NO_PREFILL: decode only (call 4)"), std::string::npos) << text;
}

TEST(PythonParts, WhatIsMentionedComesToo) {
  const std::string parts = parts_for({"ref_all_gather"}, true, Section::kReferences);
  EXPECT_NE(parts.find("def chip_lines("), std::string::npos);
  EXPECT_NE(parts.find("class Chips(list)"), std::string::npos);
  EXPECT_EQ(parts.find("def ref_softmax"), std::string::npos);
  EXPECT_FALSE(has_part("ref_no_such_operation"));
}

}  // namespace
}  // namespace opwright::fuse
