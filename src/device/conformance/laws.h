// The laws of every device. Include it in one file of a test program and instantiate DeviceConformance there.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "device/conformance/device_under_test.h"

namespace opwright {

inline constexpr std::string_view kUnknownOp = "ttnn.no_such_operator";

// The lists of a device speak of laws only: a reason for a law that was renamed would hide nothing and look as if.
TEST_P(DeviceConformance, ListsNameLaws) {
  std::set<std::string> laws;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s)
    for (int t = 0; t < all.GetTestSuite(s)->total_test_count(); ++t) {
      const std::string name = all.GetTestSuite(s)->GetTestInfo(t)->name();
      laws.insert(name.substr(0, name.find('/')));
    }
  for (const auto* list : {&GetParam().never, &GetParam().not_yet})
    for (const auto& [law, why] : *list) {
      EXPECT_TRUE(laws.contains(law)) << law;
      EXPECT_FALSE(why.empty()) << law;
    }
}

OPWRIGHT_LAW(SaysWhatItIs) {
  const Capabilities& can = on.device().can();
  EXPECT_FALSE(can.name.empty());
  EXPECT_FALSE(name_of(can.numerics).empty());
  EXPECT_FALSE(can.board.name.empty());
  EXPECT_GT(can.board.cores(), 0);
  EXPECT_GT(can.board.chips(), 0);
  EXPECT_GT(can.board.dram_bank, 0);
  EXPECT_EQ(&can, &on.device().can());
}

OPWRIGHT_LAW(WithoutNumericsThereAreNoValues) {
  const TestCall call = add_call(tensor({1, 1, 32, 32}));
  const auto result = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outputs.size(), on.computes() ? call.outputs.size() : 0U);
}

OPWRIGHT_LAW(AnUnknownOperatorIsRefusedByName) {
  TestCall call = add_call(tensor({1, 1, 32, 32}));
  call.call.op = kUnknownOp;
  const auto admitted = on.device().admit(call.handed());
  ASSERT_FALSE(admitted);
  EXPECT_EQ(admitted.error().kind, Refusal::Kind::kUnsupported);
  EXPECT_NE(admitted.error().message.find(kUnknownOp), std::string::npos) << admitted.error().message;
  EXPECT_FALSE(on.device().run(call.handed(), call.inputs));
}

OPWRIGHT_LAW(TooLargeATensorIsARefusalAndNotACrash) {
  const Board& board = on.device().can().board;
  const std::int64_t rows = board.dram_bank / 1024;  // of 4 KiB, in as many matrices as banks: four times all of DRAM
  for (const TensorSpec& spec :
       {tensor({1, board.dram_banks, rows, 1024}, DType::kFloat32),
        tensor({1, 1, 1 << 17, 1 << 13}, DType::kFloat32, Layout::kTile, interleaved(BufferType::kL1)),
        tensor({1 << 30, 1 << 30, 1 << 30}), tensor({std::numeric_limits<std::int64_t>::max(), 1})}) {
    const TestCall call = add_call(spec, /*with_data=*/false);
    const auto admitted = on.device().admit(call.handed());
    ASSERT_FALSE(admitted) << to_text(spec);
    EXPECT_FALSE(admitted.error().message.empty());
    EXPECT_FALSE(on.device().run(call.handed(), {})) << to_text(spec);  // refused before anybody looks for data
  }
}

OPWRIGHT_LAW(MemoryIsNamedWhereItIsTheReason) {
  const TestCall call =
      add_call(tensor({1, 1, 1 << 17, 1 << 13}, DType::kFloat32, Layout::kTile, interleaved(BufferType::kL1)), false);
  const auto admitted = on.device().admit(call.handed());
  ASSERT_FALSE(admitted);
  EXPECT_EQ(admitted.error().kind, Refusal::Kind::kMemory) << admitted.error().message;
}

OPWRIGHT_LAW(ATensorThatCannotExistIsRefused) {
  const auto far_away = sharded_memory(MemoryLayout::kHeightSharded, shard({32, 32}, {{{200, 200}, {200, 200}}}));
  for (const TensorSpec& spec : {tensor({1, 1, 32, 32}, DType::kBfloat8B, Layout::kRowMajor),
                                 tensor({1, 1, 32, 32}, DType::kBfloat16, Layout::kTile, far_away)}) {
    const auto admitted = on.device().admit(add_call(spec, false).handed());
    ASSERT_FALSE(admitted) << to_text(spec);
    EXPECT_EQ(admitted.error().kind, Refusal::Kind::kRule);
  }
}

OPWRIGHT_LAW(RunRefusesWhatAdmitRefuses) {
  TestCall unknown = add_call(tensor({1, 1, 32, 32}));
  unknown.call.op = kUnknownOp;
  for (const TestCall& call : {add_call(tensor({1, 1, 32, 32})), add_call(tensor({1, 1, 32, 32}, DType::kUint8)),
                               add_call(tensor({3, 5}, DType::kFloat32, Layout::kRowMajor)), unknown}) {
    const auto admitted = on.device().admit(call.handed());
    const auto result = on.device().run(call.handed(), call.inputs);
    EXPECT_EQ(admitted.has_value(), result.has_value()) << call.call.op;
    if (!admitted && !result) {
      EXPECT_EQ(admitted.error().message, result.error().message);
    }
  }
}

OPWRIGHT_LAW(RunTwiceGivesTheSameBits) {
  if (!on.computes()) GTEST_SKIP() << "computes nothing";
  const TestCall call = add_call(tensor({2, 3, 40, 50}));
  const auto first = on.device().run(call.handed(), call.inputs);
  const auto second = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(same_bits(first->outputs[0], second->outputs[0]));
}

OPWRIGHT_LAW(OtherCallsInBetweenChangeNothing) {
  if (!on.computes()) GTEST_SKIP() << "computes nothing";
  const TestCall call = add_call(tensor({1, 1, 64, 64}));
  const auto first = on.device().run(call.handed(), call.inputs);
  const TestCall other = add_call(tensor({1, 4, 32, 96}, DType::kFloat32));
  ASSERT_TRUE(on.device().run(other.handed(), other.inputs));
  const auto second = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(same_bits(first->outputs[0], second->outputs[0]));
}

OPWRIGHT_LAW(InputsAreNotChanged) {
  for (const TestCall& call : {add_call(tensor({1, 1, 33, 65})), relu_call(tensor({1, 1, 33, 65}))}) {
    const std::vector<HostTensor> before = call.inputs;
    ASSERT_TRUE(on.device().run(call.handed(), call.inputs)) << call.call.op;
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(same_bits(before[i], call.inputs[i])) << call.call.op;
  }
}

OPWRIGHT_LAW(OutputsAreWhatWasPromised) {
  if (!on.computes()) GTEST_SKIP() << "computes nothing";
  for (const DType dtype : {DType::kBfloat16, DType::kFloat32, DType::kBfloat8B, DType::kInt32}) {
    const TestCall call = add_call(tensor({1, 2, 33, 65}, dtype));
    const auto result = on.device().run(call.handed(), call.inputs);
    ASSERT_TRUE(result) << name_of(dtype) << ": " << result.error().message;
    ASSERT_EQ(result->outputs.size(), 1U);
    const HostTensor& out = result->outputs[0];
    EXPECT_EQ(to_text(out.spec), to_text(call.outputs[0].spec));
    EXPECT_EQ((out.integer() ? out.ints.size() : out.floats.size()), static_cast<std::size_t>(out.size()));
    EXPECT_TRUE((out.integer() ? out.floats.size() : out.ints.size()) == 0U);
  }
}

OPWRIGHT_LAW(OutputsHoldOnlyWhatTheirDtypeCan) {
  if (!on.computes()) GTEST_SKIP() << "computes nothing";
  TestCall call = add_call(tensor({1, 1, 32, 64}));
  for (float& value : call.inputs[0].floats) value = round_bfloat16(value * 1.01F);
  const auto result = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(result);
  HostTensor rounded = result->outputs[0];
  quantize(rounded);
  EXPECT_TRUE(same_bits(rounded, result->outputs[0]));
}

OPWRIGHT_LAW(WholeNumbersAreAddedExactly) {
  if (!on.computes()) GTEST_SKIP() << "computes nothing";
  for (const DType dtype : {DType::kBfloat16, DType::kFloat32, DType::kInt32}) {
    const TestCall call = add_call(tensor({1, 1, 32, 40}, dtype));
    const auto result = on.device().run(call.handed(), call.inputs);
    ASSERT_TRUE(result) << name_of(dtype) << ": " << result.error().message;
    const HostTensor& out = result->outputs[0];
    ASSERT_EQ(out.integer() ? out.ints.size() : out.floats.size(), static_cast<std::size_t>(call.inputs[0].size()));
    for (std::int64_t i = 0; i < call.inputs[0].size(); ++i)
      ASSERT_EQ(out.at(i), call.inputs[0].at(i) + call.inputs[1].at(i)) << name_of(dtype) << " " << i;
  }
}

OPWRIGHT_LAW(EveryDtypeRunsOrIsRefusedWithWords) {
  for (const DType dtype : {DType::kBfloat16, DType::kFloat32, DType::kBfloat8B, DType::kBfloat4B, DType::kInt32,
                            DType::kUint32, DType::kUint16, DType::kUint8}) {
    const TestCall call = add_call(tensor({1, 1, 32, 32}, dtype));
    const auto result = on.device().run(call.handed(), call.inputs);
    if (!result) {
      EXPECT_FALSE(result.error().message.empty()) << name_of(dtype);
    } else if (on.computes()) {
      EXPECT_EQ(result->outputs[0].spec.dtype.value, dtype);
    }
  }
}

OPWRIGHT_LAW(InfinityAndNanAreData) {
  TestCall call = add_call(tensor({1, 1, 32, 32}));
  call.inputs[0].floats[0] = std::numeric_limits<float>::infinity();
  call.inputs[0].floats[1] = -std::numeric_limits<float>::infinity();
  call.inputs[0].floats[2] = std::numeric_limits<float>::quiet_NaN();
  const auto result = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(result) << result.error().message;
  if (!on.computes()) return;
  ASSERT_EQ(result->outputs[0].floats.size(), call.inputs[0].floats.size());
  EXPECT_FALSE(std::isfinite(result->outputs[0].floats[0]));
  EXPECT_FALSE(std::isfinite(result->outputs[0].floats[1]));
  EXPECT_FALSE(std::isfinite(result->outputs[0].floats[2]));
  EXPECT_EQ(result->outputs[0].at(3), call.inputs[0].at(3) + call.inputs[1].at(3));
}

OPWRIGHT_LAW(AnEmptyTensorIsNoCrash) {
  const TestCall call = add_call(tensor({1, 0, 32, 32}));
  const auto result = on.device().run(call.handed(), call.inputs);
  if (!result) {
    EXPECT_FALSE(result.error().message.empty());
  } else if (on.computes()) {
    EXPECT_TRUE(result->outputs[0].floats.empty());
  }
}

OPWRIGHT_LAW(ARefusalLeavesTheDeviceUsable) {
  const TestCall call = add_call(tensor({1, 1, 32, 32}));
  const auto before = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(before);
  for (int i = 0; i < 3; ++i) {
    TestCall bad = add_call(tensor({1, 1, 1 << 17, 1 << 13}), false);
    bad.call.op = kUnknownOp;
    (void)on.device().run(bad.handed(), {});
  }
  const auto after = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(after);
  if (on.computes()) {
    EXPECT_TRUE(same_bits(before->outputs[0], after->outputs[0]));
  }
}

OPWRIGHT_LAW(CallsDoNotLeaveTensorsBehind) {
  // Each call fills a third of L1: four of them in a row fit only if the device forgets them.
  const Board& board = on.device().can().board;
  const std::int64_t tiles = (board.l1_bank - board.l1_small) / 4 / 2048 * board.cores();
  const TensorSpec spec = tensor({1, 1, 32, 32 * tiles}, DType::kBfloat16, Layout::kTile, interleaved(BufferType::kL1));
  for (int i = 0; i < 4; ++i) {
    const auto admitted = on.device().admit(add_call(spec, false).handed());
    ASSERT_TRUE(admitted) << admitted.error().message;
  }
}

OPWRIGHT_LAW(WritingToAGivenTensorNeedsNoSecondRoom) {
  const Board& board = on.device().can().board;
  const std::int64_t tiles = (board.l1_bank - board.l1_small) / 3 / 2048 * board.cores();
  const auto in = [&](BufferType buffer) {
    return tensor({1, 1, 32, 32 * tiles}, DType::kBfloat16, Layout::kTile, interleaved(buffer));
  };
  TestCall call = add_call(in(BufferType::kL1), false);
  call.call.set("output_tensor", Value::tensor(in(BufferType::kL1)));
  const auto admitted = on.device().admit(call.handed());
  ASSERT_TRUE(admitted) << admitted.error().message;
  EXPECT_LE(admitted->l1_per_core, board.l1_bank);
}

OPWRIGHT_LAW(InPlaceGivesTheNewValues) {
  const TestCall plain = add_call(tensor({1, 1, 64, 96}));
  TestCall in_place = plain;
  in_place.call.op += '_';  // the operation of that name which writes into its first tensor
  in_place.outputs[0].alias = "input_tensor_a";
  const auto expected = on.device().run(plain.handed(), plain.inputs);
  const auto result = on.device().run(in_place.handed(), in_place.inputs);
  ASSERT_TRUE(expected && result);
  EXPECT_TRUE(same_bits(in_place.inputs[0], plain.inputs[0]));  // what the caller handed over is his own
  ASSERT_EQ(result->outputs.size(), expected->outputs.size());
  if (!on.computes()) return;
  EXPECT_TRUE(same_bits(result->outputs[0], expected->outputs[0]));
}

OPWRIGHT_LAW(TheMemoryReportCountsEveryTensor) {
  const auto dram = on.device().admit(add_call(tensor({1, 1, 64, 64})).handed());
  const auto l1 = on.device().admit(
      add_call(tensor({1, 1, 64, 64}, DType::kBfloat16, Layout::kTile, interleaved(BufferType::kL1))).handed());
  ASSERT_TRUE(dram && l1);
  const bool reports = on.device().can().memory_report;
  EXPECT_EQ(dram->dram, reports ? 3 * 4 * 2048 : 0);
  EXPECT_EQ(dram->l1_per_core, 0);
  EXPECT_EQ(l1->dram, 0);
  EXPECT_EQ(l1->l1_per_core, reports ? 3 * 2048 : 0);
}

OPWRIGHT_LAW(TwoDevicesWorkAtOnce) {
  const TestCall call = add_call(tensor({2, 2, 64, 64}));
  const auto alone = on.device().run(call.handed(), call.inputs);
  ASSERT_TRUE(alone);
  constexpr int kThreads = 2;
  std::vector<std::thread> threads;
  std::array<bool, kThreads> agreed{};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto own = on.GetParam().make();
      bool good = true;
      for (int i = 0; i < 8; ++i) {
        const auto result = own->run(call.handed(), call.inputs);
        good = good && result && result->outputs.size() == alone->outputs.size() &&
               (alone->outputs.empty() || same_bits(result->outputs[0], alone->outputs[0]));
      }
      agreed[static_cast<std::size_t>(t)] = good;
    });
  for (std::thread& thread : threads) thread.join();
  for (const bool good : agreed) EXPECT_TRUE(good);
}

}  // namespace opwright
