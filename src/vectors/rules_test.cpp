// Validity rules, groups, samples, equal inputs, names of modules.
#include <fmt/format.h>

#include <set>

#include "dialect/ttnn/sweep_modules.h"
#include "dialect/ttnn/ttnn.h"
#include "vectors/dedupe.h"
#include "vectors/groups.h"
#include "vectors/sample.h"
#include "vectors/test_vectors.h"
#include "vectors/validity.h"

namespace opwright::vectors {
namespace {

std::string rule(const std::string& line) {
  TestVector vector = vector_of(line);
  vector.invalid = why_invalid({vector.config});
  return std::string(rule_of(vector));
}

TEST(Validity, EachRuleFindsWhatItIsFor) {
  EXPECT_EQ(rule(fmt::format("ttnn.relu(input_tensor={})", kTensor)), "");
  EXPECT_EQ(rule("ttnn.relu(input_tensor=tensor([32] TILE DEVICE))"), "unknown_dtype");
  EXPECT_EQ(rule("ttnn.relu(input_tensor=tensor([32] INT64 TILE DEVICE))"), "unknown_dtype");
  EXPECT_EQ(rule("aten.relu(self=tensor(torch.Tensor [32] FLOAT32))"), "dialect");
  EXPECT_EQ(rule("ttnn.relu(input_tensor=opaque(Tensor,\"...\"))"), "lost_argument");
  EXPECT_EQ(rule("ttnn.nobody_knows_it(a=opaque(X,\"...\"))"), "lost_argument");
  EXPECT_EQ(rule("ttnn.relu(input_tensor=tensor([32] FLOAT32 ROW_MAJOR HOST))"), "host_tensor_only");
  EXPECT_EQ(rule("ttnn.add(input_tensor_a=tensor([32] FLOAT32 TILE DEVICE placed [Replicate] over [2] of mesh [1,2]), "
                 "input_tensor_b=tensor([32] FLOAT32 TILE DEVICE placed [Replicate] over [8] of mesh [1,8]))"),
            "mesh");
  const TestVector vector = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor));
  EXPECT_EQ(why_invalid({vector.config, true, "RuntimeError: no"}),
            "raised: every recorded call raised, e.g. RuntimeError: no");
  std::set<std::string_view> names;
  for (const ValidityRule& one : validity_rules()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
}

TEST(Validity, ATensorWithoutAShape) {
  TestVector vector = vector_of("ttnn.relu()");
  TensorSpec spec;
  spec.dtype = parse_dtype("BFLOAT16");
  vector.config.args.push_back({"input_tensor", Value::tensor(spec)});
  EXPECT_EQ(why_invalid({vector.config}), "no_shape: the trace does not say the shape of input_tensor");
}

TEST(Validity, MemoryThatCouldNotBeRead) {
  const auto rule_with = [](auto&& change) {
    TestVector vector = vector_of("ttnn.relu()");
    MemoryConfig memory;
    memory.layout = parse_memory_layout("INTERLEAVED");
    memory.buffer = parse_buffer_type("DRAM");
    change(memory);
    TensorSpec spec;
    spec.shape = {32, 32};
    spec.has_shape = true;
    spec.dtype = parse_dtype("BFLOAT16");
    spec.memory = memory;
    vector.config.args.push_back({"input_tensor", Value::tensor(spec)});
    return why_invalid({vector.config});
  };
  EXPECT_EQ(rule_with([](MemoryConfig&) {}), "");
  EXPECT_EQ(rule_with([](MemoryConfig& memory) { memory.layout = parse_memory_layout("SPIRAL"); }),
            "unknown_memory: input_tensor has memory layout SPIRAL");
  EXPECT_EQ(rule_with([](MemoryConfig& memory) { memory.buffer = parse_buffer_type("L9"); }),
            "unknown_memory: input_tensor lies in buffer L9");
  EXPECT_EQ(rule_with([](MemoryConfig& memory) { memory.more.push_back({"nd_shard", Value::opaque("X", "…")}); }),
            "unknown_memory: nd_shard of input_tensor could not be read");
  // A memory config that is an argument itself.
  TestVector vector = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor));
  MemoryConfig memory;
  memory.layout = parse_memory_layout("SPIRAL");
  memory.buffer = parse_buffer_type("DRAM");
  vector.config.args.push_back({"memory_config", Value::memory(memory)});
  EXPECT_EQ(why_invalid({vector.config}), "unknown_memory: memory_config has memory layout SPIRAL");
}

TEST(Groups, AreTheSuffixesOfTheExistingFiles) {
  const MachineFacts n300 = read_machine(
      R"({"board_type": "Wormhole", "device_series": "n300", "card_count": 1, "mesh_device_shape": [1, 2]})");
  EXPECT_EQ(n300.mesh, "1x2");
  EXPECT_EQ(n300.label, "Wormhole n300 x1");
  EXPECT_EQ(group_suffix(GroupBy::kMesh, n300, n300.mesh), "mesh_1x2");
  EXPECT_EQ(group_suffix(GroupBy::kHardware, n300, n300.mesh), "hw_wormhole_n300_1c.mesh_1x2");
  EXPECT_EQ(group_suffix(GroupBy::kNone, n300, n300.mesh), "");
  EXPECT_EQ(group_suffix(GroupBy::kMesh, {}, ""), "");
  EXPECT_EQ(read_machine(R"([{"device_series": ["tt-galaxy-wh"], "card_count": 32, "mesh_device_shape": "[4, 8]"}])")
                .hardware,
            "hw__tt_galaxy_wh_32c");
  EXPECT_EQ(read_machine(R"([{"tensor_placements": [{"mesh_device_shape": "[4, 8]"}]}])").mesh, "4x8");
  for (const char* odd : {"", "{", "3", "[]", R"({"mesh_device_shape": "no"})", R"({"mesh_device_shape": [1, 2, 3]})"})
    EXPECT_EQ(read_machine(odd).mesh, "") << odd;
}

TEST(Sample, GivesEveryOperationOneBeforeAnyGetsTwo) {
  const auto sample = [](std::int64_t count, std::uint64_t seed) {
    Sample chosen(count, seed);
    for (int i = 0; i < 50; ++i) chosen.offer("ttnn.a", vector_of(fmt::format("ttnn.a(x={})", i)));
    for (int i = 0; i < 3; ++i) chosen.offer("ttnn.b", vector_of(fmt::format("ttnn.b(x={})", i)));
    chosen.offer("ttnn.c", vector_of("ttnn.c()"));
    std::vector<std::string> lines;
    for (const auto& vectors : std::move(chosen).take())
      for (const TestVector& vector : vectors) lines.push_back(case_line(vector.config));
    return lines;
  };
  EXPECT_EQ(sample(10, 1).size(), 10U);
  EXPECT_EQ(sample(10, 1), sample(10, 1));
  EXPECT_NE(sample(10, 1), sample(10, 2));
  EXPECT_EQ(sample(100, 1).size(), 54U);
  EXPECT_EQ(sample(0, 1).size(), 0U);
  std::map<char, int> counts;
  for (const std::string& line : sample(5, 3)) ++counts[line[5]];
  EXPECT_EQ(counts['a'], 2);
  EXPECT_EQ(counts['b'], 2);
  EXPECT_EQ(counts['c'], 1);
}

TEST(Dedupe, OneCallOfBothErasIsOneTest) {
  TestVector python = vector_of(fmt::format("ttnn.add(input_tensor_a={0}, input_tensor_b={0})", kTensor));
  TestVector cpp = vector_of(fmt::format("ttnn::add(arg0={0}, arg1={0}, arg2=none)", kTensor));
  TestVector other = vector_of(fmt::format("ttnn.add(input_tensor_a={}, input_tensor_b=2.0)", kTensor));
  python.calls = 3;
  python.models = "a";
  python.traced_source = R"(["x"])";
  cpp.calls = 4;
  cpp.models = "b,a";
  cpp.traced_source = R"(["y"])";
  std::vector<TestVector> vectors{cpp, other, python};
  EXPECT_EQ(merge_equal_inputs(vectors), 1);
  ASSERT_EQ(vectors.size(), 2U);
  EXPECT_EQ(vectors[0].key, other.key);
  EXPECT_EQ(vectors[1].key, python.key);
  EXPECT_EQ(vectors[1].calls, 7);
  EXPECT_EQ(vectors[1].models, "a,b");
  EXPECT_EQ(vectors[1].traced_source, R"(["x", "y"])");
}

TEST(Dedupe, ParametersCount) {
  std::vector<TestVector> vectors;
  for (const char* slice :
       {"slice_start=[0,0,0,0], slice_end=[1,1,32,32]", "slice_start=[0,0,0,0], slice_end=[1,1,32,64]"})
    vectors.push_back(vector_of(fmt::format("ttnn.slice(input_tensor={}, {})", kTensor, slice)));
  vectors.push_back(vector_of("ttnn.nobody_knows_it(a=1)"));
  vectors.push_back(vector_of("ttnn::nobody_knows_it(arg0=1)"));
  EXPECT_EQ(merge_equal_inputs(vectors), 0);
  EXPECT_EQ(vectors.size(), 4U);
}

// Files of the existing framework, and the operation that each calls.
TEST(ModuleNames, AreThoseOfTheExistingModules) {
  const auto module = [](std::string_view name) { return fmt::format("model_traced.{}_model_traced", name); };
  EXPECT_EQ(module_of_traced("ttnn.transformer.concatenate_heads"), module("concatenate_heads"));
  EXPECT_EQ(module_of_traced("ttnn.transformer.split_query_key_value_and_split_heads"),
            module("split_query_key_value_and_split_heads"));
  EXPECT_EQ(module_of_traced("ttnn.experimental.split_query_key_value_and_split_heads"),
            module("split_query_key_value_and_split_heads_experimental"));
  EXPECT_EQ(module_of_traced("ttnn.transformer.scaled_dot_product_attention"), module("scaled_dot_product_attention"));
  EXPECT_EQ(module_of_traced("ttnn.experimental.paged_update_cache"), module("paged_update_cache"));
  EXPECT_EQ(module_of_traced("ttnn.experimental.quasar.add"), module("add_experimental_quasar"));
  EXPECT_EQ(op_of_module(module("experimental_add")), "ttnn.experimental.add");  // as older versions of ours wrote it
}

TEST(ModuleNames, LeadBackToTheOperation) {
  EXPECT_EQ(module_of_traced("ttnn.add"), "model_traced.add_model_traced");
  for (const char* op :
       {"ttnn.add", "ttnn.experimental.rotary_embedding", "ttnn.transformer.scaled_dot_product_attention",
        "ttnn.experimental.paged_update_cache", "ttnn.my_new_op"})
    EXPECT_EQ(op_of_module(module_of_traced(op)), op);
  for (const KnownOperation& op : ttnn_dialect().tables().known())
    EXPECT_EQ(op_of_module(module_of_traced(op.name)), op.name);
  EXPECT_EQ(module_of_traced("torch.add"), "");
  EXPECT_EQ(module_of_traced("ttnn.a/../b"), "");
  EXPECT_EQ(op_of_module("eltwise.unary.relu"), "");
  EXPECT_EQ(op_of_module("_model_traced"), "");
  EXPECT_EQ(module_of_case_lines("ttnn.experimental.x y"), "case_lines.experimental_x_y");
}

}  // namespace
}  // namespace opwright::vectors
