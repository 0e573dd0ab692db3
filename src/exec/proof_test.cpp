#include "exec/proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/plan_call.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr char kTensor[] = "tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

OpConfig config_of(const std::string& line) {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  return *config;
}

// What a device is called with, as the executor hands it over.
struct Executed {
  BoundCall call;
  std::vector<HostTensor> inputs;

  explicit Executed(const OpConfig& config) {
    const auto plan = plan_call(config, *find_board("n150"));
    EXPECT_TRUE(plan.has_value()) << plan.error().message;
    call = plan->call;
    for (const TensorSlot& slot : call.tensors) inputs.push_back({slot.spec, {}, {}});
  }
  OpConfig capture() const { return recapture(call, inputs); }
};

std::string only_difference(const Proof& proof) {
  EXPECT_EQ(proof.differences.size(), 1U);
  return proof.differences.empty() ? "" : proof.differences.front();
}

TEST(Proof, WhatWasTracedWasExecuted) {
  const OpConfig traced = config_of(std::string("ttnn.add(arg0=") + kTensor + ", arg1=" + kTensor +
                                    ", memory_config=memory(L1 INTERLEAVED))");
  const Proof proof = compare_executed(traced, Executed(traced).capture());
  EXPECT_TRUE(proof.proven()) << proof.differences.front();
  EXPECT_EQ(proof.equal, proof.fields);
  EXPECT_EQ(proof.fields, 1 + 6 + 6 + 2);  // the operation, two tensors, a memory config
}

TEST(Proof, ADroppedArgumentIsSeen) {
  const OpConfig traced =
      config_of(std::string("ttnn.add(") + kTensor + ", " + kTensor + ", dtype=DataType.BFLOAT8_B)");
  Executed executed(traced);
  executed.call.erase("dtype");
  const Proof proof = compare_executed(traced, executed.capture());
  EXPECT_EQ(only_difference(proof), "dtype: DataType.BFLOAT8_B -> absent");
  EXPECT_EQ(proof.equal, proof.fields - 1);
}

TEST(Proof, AnotherDtypeOfTheTensorThatTheKernelGotIsSeen) {
  const OpConfig traced = config_of(std::string("ttnn.add(") + kTensor + ", " + kTensor + ")");
  Executed executed(traced);
  executed.inputs[1].spec.dtype.value = DType::kFloat32;
  const Proof proof = compare_executed(traced, executed.capture());
  EXPECT_NE(only_difference(proof).find(".dtype: BFLOAT16 -> FLOAT32"), std::string::npos);
}

TEST(Proof, AnotherMemoryIsSeen) {
  const OpConfig traced = config_of(std::string("ttnn.relu(") + kTensor + ", memory_config=memory(L1 INTERLEAVED))");
  Executed executed(traced);
  MemoryConfig other = *executed.call.memory("memory_config");
  other.buffer.value = BufferType::kDram;
  executed.call.set("memory_config", Value::memory(other));
  EXPECT_EQ(only_difference(compare_executed(traced, executed.capture())), "memory_config.buffer: L1 -> DRAM");
  Executed tensor(traced);
  tensor.inputs[0].spec.memory->buffer.value = BufferType::kL1;
  EXPECT_EQ(only_difference(compare_executed(traced, tensor.capture())), "input_tensor.memory.buffer: DRAM -> L1");
}

TEST(Proof, AnArgumentThatNobodyTracedIsSeen) {
  const OpConfig traced = config_of(std::string("ttnn.add(") + kTensor + ", " + kTensor + ")");
  Executed executed(traced);
  executed.call.set("dtype", Value(Enum{"DataType", "FLOAT32"}));
  EXPECT_EQ(only_difference(compare_executed(traced, executed.capture())), "dtype: absent -> DataType.FLOAT32");
  executed.call.set("dtype", Value());  // None is not passed
  EXPECT_TRUE(compare_executed(traced, executed.capture()).proven());
}

// A keyword that the binder lets fall, because the trace has lost what it was, costs the pass.
TEST(Proof, AnAssumedArgumentIsADifference) {
  const OpConfig traced =
      config_of(std::string("ttnn.add(") + kTensor + ", " + kTensor + ", activations=opaque(unsupported,\"...\"))");
  Executed executed(traced);
  ASSERT_EQ(executed.call.assumed, std::vector<std::string>{"activations"});
  EXPECT_EQ(only_difference(compare_executed(traced, executed.capture())),
            "activations: opaque(unsupported,\"...\") -> absent");
}

TEST(Proof, HandlesCostNothing) {
  const OpSpec* op = nullptr;
  const Param* handle = nullptr;
  for (const OpSpec* candidate : all_ops())
    for (const Param& param : candidate->params)
      if (param.lost == Lost::kNoMatter && candidate->name == std::string_view("ttnn.matmul")) {
        op = candidate;
        handle = &param;
      }
  ASSERT_NE(handle, nullptr);
  OpConfig traced;
  traced.op = op->name;
  traced.args.push_back({std::string(handle->name), Value::opaque("handle", "…")});
  OpConfig executed;
  executed.op = op->name;
  const Proof proof = compare_executed(traced, executed);
  EXPECT_TRUE(proof.proven());
  EXPECT_EQ(proof.not_needed, std::vector<std::string>{std::string(handle->name)});
  EXPECT_TRUE(compare_executed(executed, traced).proven());
}

TEST(Proof, AnotherOperationIsSeenAndAnAliasIsNone) {
  OpConfig traced, executed;
  traced.op = "ttnn.add";
  executed.op = "ttnn.subtract";
  EXPECT_EQ(only_difference(compare_executed(traced, executed)), "operation: ttnn.add -> ttnn.subtract");
  for (const OpSpec* op : all_ops())
    for (const std::string_view alias : op->aliases) {
      traced.op = alias;
      executed.op = op->name;
      EXPECT_TRUE(compare_executed(traced, executed).proven()) << alias;
    }
}

// Of operators that nobody here knows the fields must be the same ones.
TEST(Proof, UnknownOperatorsAreComparedAsTheyAre) {
  OpConfig traced;
  traced.op = "ttnn.nobody_knows";
  traced.args = {{"arg0", Value(std::int64_t{3})}, {"colour", Value("red")}};
  EXPECT_TRUE(compare_executed(traced, traced).proven());
  OpConfig executed = traced;
  executed.args[1].value = Value("blue");
  EXPECT_EQ(only_difference(compare_executed(traced, executed)), "colour: \"red\" -> \"blue\"");
  executed.args.pop_back();
  EXPECT_EQ(only_difference(compare_executed(traced, executed)), "colour: \"red\" -> absent");
}

// What the trace leaves unsaid of a tensor is no contradiction; what it leaves unsaid of the call is.
TEST(Proof, WhatTracesDoNotSayIsNamedApart) {
  OpConfig traced = config_of("ttnn.relu(tensor([32,32] BFLOAT16 TILE memory(DRAM INTERLEAVED)))");
  const OpConfig executed = config_of("ttnn.relu(tensor([32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))");
  const Proof proof = compare_executed(traced, executed);
  EXPECT_TRUE(proof.proven());
  ASSERT_EQ(proof.unsaid.size(), 1U);
  EXPECT_NE(proof.unsaid[0].find("storage: DEVICE"), std::string::npos);
  const OpConfig sharded = config_of(
      "ttnn.relu(tensor([32,32] BFLOAT16 TILE DEVICE memory(L1 HEIGHT_SHARDED shard [32,32] on (0,0)-(0,0) "
      "ROW_MAJOR)))");
  EXPECT_FALSE(compare_executed(traced, sharded).proven());
}

TEST(Proof, EveryExampleIsExecutedAsItIsWritten) {
  for (const std::string_view line : example_cases()) {
    const OpConfig traced = config_of(std::string(line));
    const Proof proof = compare_executed(traced, Executed(traced).capture());
    EXPECT_TRUE(proof.proven()) << line << ": " << (proof.proven() ? "" : proof.differences.front());
    EXPECT_EQ(proof.equal, proof.fields) << line;
  }
}

// … and leaving out any one argument of it is noticed.
TEST(Proof, EveryArgumentOfEveryExampleCounts) {
  for (const std::string_view line : example_cases()) {
    const OpConfig traced = config_of(std::string(line));
    const OpSpec* op = find_op(traced.op);
    const OpConfig whole = Executed(traced).capture();
    for (std::size_t i = 0; i < whole.args.size(); ++i) {
      OpConfig without = whole;
      without.args.erase(without.args.begin() + static_cast<std::ptrdiff_t>(i));
      const Param* param = find_param(*op, Convention::kPython, whole.args[i].name);
      const bool no_matter = param != nullptr && param->lost == Lost::kNoMatter;
      const Proof proof = compare_executed(traced, without);
      EXPECT_EQ(proof.proven(), no_matter || whole.args[i].value.is_null())
          << line << " without " << whole.args[i].name;
    }
  }
}

}  // namespace
}  // namespace opwright
