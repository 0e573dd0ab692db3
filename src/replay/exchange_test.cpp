#include "replay/exchange.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "device/device.h"
#include "dialect/ttnn/collective_calls.h"
#include "model/quantize.h"
#include "ops/random.h"

namespace opwright::replay {
namespace {

TensorSpec spec_of(Shape shape, std::vector<std::string> dims = {}, DType dtype = DType::kBfloat16) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = Layout::kTile;
  spec.storage.value = StorageType::kDevice;
  spec.memory.emplace();
  spec.memory->layout.value = MemoryLayout::kInterleaved;
  spec.memory->buffer.value = BufferType::kDram;
  if (!dims.empty()) spec.placement = Placement{.dims = std::move(dims), .distribution = {1, 4}, .mesh = {1, 4}};
  return spec;
}

OpConfig config_of(std::string op, TensorSpec input, std::vector<Argument> more = {}) {
  OpConfig config;
  config.op = std::move(op);
  config.args.push_back({"input_tensor", Value::tensor(std::move(input))});
  for (Argument& argument : more) config.args.push_back(std::move(argument));
  return config;
}

HostTensor numbers(const TensorSpec& spec) {
  HostTensor out{spec, {}, {}};
  Random random(11);
  for (std::int64_t i = 0; i < out.size(); ++i) out.floats.push_back(static_cast<float>(random.normal()));
  quantize(out);
  return out;
}

// What device and reference make of an exchange, and what was put in.
struct Exchanged {
  std::vector<float> parts;
  std::vector<HostTensor> device;
  std::vector<std::vector<double>> exact;
};

Exchanged exchanged(const OpConfig& config, const std::vector<TensorSpec>& results) {
  Exchanged out;
  auto planned = plan_exchange(config, results);
  EXPECT_TRUE(planned) << planned.error().message;
  if (!planned) return out;
  std::vector<HostTensor> inputs;
  for (const TensorSlot& slot : planned->plan.call.tensors) inputs.push_back(numbers(slot.spec));
  add_parts(planned->exchange, inputs.front());
  out.parts = inputs.front().floats;
  const auto device = *open_device("sim:t3k");
  auto ran = device->run({planned->plan.call, planned->plan.outputs}, inputs);
  EXPECT_TRUE(ran) << ran.error().message;
  if (ran) out.device = std::move(ran->outputs);
  for (std::size_t o = 0; o < results.size(); ++o) {
    Rows rows;
    rows.length = row_length(results[o].shape);
    rows.total = volume(results[o].shape) / rows.length;
    const auto exact = planned->plan.op->reference({planned->plan.call, inputs, planned->plan.outputs, o, rows});
    EXPECT_TRUE(exact) << exact.error().message;
    out.exact.push_back(exact ? exact->value : std::vector<double>{});
  }
  return out;
}

void expect_equal(const Exchanged& found, std::size_t output, const std::vector<float>& wanted) {
  ASSERT_LT(output, found.device.size());
  ASSERT_EQ(found.device[output].floats.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found.device[output].floats[i], wanted[i]) << i;
    ASSERT_EQ(found.exact[output][i], static_cast<double>(wanted[i])) << i;
  }
}

TEST(Exchange, PartsOfOtherChipsAreItsRowsMovedOnOrCopies) {
  HostTensor part = numbers(spec_of({2, 3, 4}));
  const std::vector<float> own = part.floats;
  add_parts({.chips = 3}, part);
  ASSERT_EQ(part.floats.size(), 72U);
  for (std::size_t chip = 0; chip < 3; ++chip)
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(part.floats[chip * 24 + i], own[(i + 4 * chip) % 24]);
  HostTensor same{spec_of({4}), {1, 2, 3, 4}, {}};
  add_parts({.chips = 2, .replicated = true}, same);
  EXPECT_EQ(same.floats, (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(Exchange, AGatherPutsThePartsOneAfterTheOther) {
  for (const bool reversed : {false, true}) {
    const std::string op = reversed ? "ttnn.experimental.all_gather_async_reversed" : "ttnn.all_gather";
    const Exchanged found = exchanged(config_of(op, spec_of({2, 32, 64})), {spec_of({2, 96, 64})});
    std::vector<float> wanted;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < 32 * 64; ++i)
          wanted.push_back(found.parts[(reversed ? 2 - k : k) * 4096 + a * 2048 + i]);
    expect_equal(found, 0, wanted);
  }
}

TEST(Exchange, AReduceScatterGivesTheFirstSliceOfTheSum) {
  const Exchanged found = exchanged(config_of("ttnn.reduce_scatter", spec_of({1, 32, 256})), {spec_of({1, 32, 64})});
  ASSERT_EQ(found.device.size(), 1U);
  double worst = 0;
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t i = 0; i < 64; ++i) {
      double sum = 0;
      for (std::size_t chip = 0; chip < 4; ++chip) sum += found.parts[chip * 8192 + row * 256 + i];
      ASSERT_EQ(found.exact[0][row * 64 + i], sum);
      worst = std::max(worst, std::abs(found.device[0].floats[row * 64 + i] - sum));
    }
  EXPECT_GT(worst, 0);  // the device rounds on every chip
  EXPECT_LT(worst, 0.1);
}

TEST(Exchange, AnAllReduceTakesTheChipsFromTheMeshAndTheAxis) {
  const std::vector<std::string> dims{"Replicate", "Shard(2)"};
  const TensorSpec part = spec_of({1, 32, 64}, dims);
  EXPECT_EQ(plan_exchange(config_of("ttnn.all_reduce", part), {part})->exchange.chips, 4);
  const auto along = [&](std::int64_t axis) {
    return plan_exchange(config_of("ttnn.all_reduce", part, {{"cluster_axis", Value(axis)}}), {part})->exchange;
  };
  EXPECT_EQ(along(1).chips, 4);
  EXPECT_FALSE(along(1).replicated);
  EXPECT_EQ(along(0).chips, 1);
  const TensorSpec everywhere = spec_of({1, 32, 64}, {"Replicate"});
  const Exchanged found = exchanged(config_of("ttnn.experimental.all_reduce_async", everywhere), {everywhere});
  for (std::size_t i = 0; i < 2048; ++i) ASSERT_EQ(found.exact[0][i], 4.0 * found.parts[i]);
}

TEST(Exchange, TheOthersMoveOnePartOrGiveAll) {
  const TensorSpec part = spec_of({1, 32, 64}, {"Shard(2)"});
  const Exchanged all = exchanged(config_of("ttnn.all_broadcast", part), {part, part, part});
  for (std::size_t chip = 0; chip < 3; ++chip)
    expect_equal(all, chip,
                 {all.parts.begin() + static_cast<std::ptrdiff_t>(chip * 2048),
                  all.parts.begin() + static_cast<std::ptrdiff_t>((chip + 1) * 2048)});
  const Exchanged point = exchanged(config_of("ttnn.point_to_point", part), {part});
  expect_equal(point, 0, {point.parts.begin() + 2048, point.parts.begin() + 4096});
  const Exchanged slice = exchanged(config_of("ttnn.mesh_partition", part), {spec_of({1, 32, 32})});
  std::vector<float> wanted;
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t i = 0; i < 32; ++i) wanted.push_back(slice.parts[row * 64 + i]);
  expect_equal(slice, 0, wanted);
}

TEST(Exchange, WhatTheTraceDoesNotTellIsRefusedByName) {
  const TensorSpec part = spec_of({1, 32, 64});
  const auto why = [&](const std::string& op, const TensorSpec& result) {
    const auto planned = plan_exchange(config_of(op, part), {result});
    return planned ? std::string("taken") : planned.error().message;
  };
  EXPECT_NE(why("ttnn.all_reduce", part).find("over how many chips"), std::string::npos);
  EXPECT_NE(why("ttnn.all_gather", spec_of({1, 32, 100})).find("are not those of"), std::string::npos);
  EXPECT_NE(why("ttnn.all_gather", spec_of({2, 64, 64})).find("are not those of"), std::string::npos);
  EXPECT_NE(why("ttnn.all_gather", spec_of({32, 64})).find("are not those of"), std::string::npos);
  EXPECT_NE(why("ttnn.point_to_point", spec_of({1, 32, 32})).find("are not those of"), std::string::npos);
  EXPECT_FALSE(plan_exchange(config_of("ttnn.all_gather", part), {}));
  OpConfig none;
  none.op = "ttnn.all_gather";
  EXPECT_FALSE(plan_exchange(none, {part}));
  EXPECT_NE(why("ttnn.all_gather", spec_of({1, 32, 64 * 100'000})).find("100000 chips"), std::string::npos);
}

TEST(Exchange, EveryKnownOneHasAReferenceAndAKernelOfItsOwn) {
  std::set<std::string_view> names;
  for (const CollectiveCall& call : kCollectiveCalls) {
    EXPECT_TRUE(names.insert(call.operation).second);
    EXPECT_NE(find_collective(call.operation), nullptr);
  }
  EXPECT_EQ(find_collective("ttnn.add"), nullptr);
}

}  // namespace
}  // namespace opwright::replay
