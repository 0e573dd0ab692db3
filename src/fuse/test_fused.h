// A small fused test for tests: x @ w, times x.
#pragma once

#include "fuse/fused_test.h"
#include "normalize/normalize.h"

namespace opwright::fuse {

inline TensorSpec bf16_tile(Shape shape) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = DType::kBfloat16;
  spec.layout.value = Layout::kTile;
  spec.storage.value = StorageType::kDevice;
  spec.memory.emplace();
  spec.memory->layout.value = MemoryLayout::kInterleaved;
  spec.memory->buffer.value = BufferType::kDram;
  return spec;
}

inline CallParameters call_with(std::string op, std::vector<Argument> args, std::vector<TensorSpec> results) {
  CallParameters out;
  out.config.op = std::move(op);
  out.config.args = std::move(args);
  normalize::settle(out.config);
  out.results = std::move(results);
  return out;
}

inline FusedTest example_test() {
  FusedTest test;
  test.name = "example";
  test.mesh = {1, 1};
  test.pattern = "linear,multiply";
  test.inputs = {{"x", Role::kActivation, false}, {"weight", Role::kWeight, false}};
  test.calls = {{"ttnn.linear", {Source::of_input(0), Source::of_input(1)}, 1, {-1}, {}, {}, false},
                {"ttnn.multiply", {Source::of_result(0, 0), Source::of_input(0)}, 1, {-1}, {}, {}, false}};
  test.outputs = {{"out", Source::of_result(1, 0), true}};
  ParameterSet set;
  set.id = "decode_1";
  set.mode = "decode";
  set.seq_len = 1;
  const TensorSpec x = bf16_tile({1, 1, 32, 64}), weight = bf16_tile({1, 1, 64, 64});
  set.calls = {
      call_with("ttnn.linear", {{"input_tensor_a", Value::tensor(x)}, {"input_tensor_b", Value::tensor(weight)}}, {x}),
      call_with("ttnn.multiply", {{"input_tensor_a", Value::tensor(x)}, {"input_tensor_b", Value::tensor(x)}}, {x})};
  set.inputs = {x, weight};
  set.outputs = {x};
  set.contents = {"", ""};
  set.matches = {{{4, 5}, "decode", "layer0", ""}};
  set.expected = Expected{0.9998, 0.05, 0.02, 0.9999, 3};
  set.targets = Targets{"clock", 1500.5, 800, 120, 0};
  test.sets = {set};
  test.findings = {{FindingCode::kNoPrefill, {4}, "decode only"}};
  return test;
}

}  // namespace opwright::fuse
