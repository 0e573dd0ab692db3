#include "replay/replay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/test_folder.h"
#include "format/native/native_trace.h"
#include "format/native/test_trace.h"
#include "replay/recorded_results.h"

namespace opwright::replay {
namespace {

using namespace format::testing;

// A trace under construction: calls of operators on tensors by their numbers.
struct Model {
  TestTrace trace;
  TtnnValues values{trace};
  std::uint32_t square = values.spec({1, 1, 32, 64});
  std::uint32_t tall = values.spec({1, 1, 64, 32});

  // One tensor in, one out.
  std::uint64_t unary(std::string_view op, Arg in, Ret out, std::uint32_t in_spec, std::uint32_t out_spec,
                      std::vector<std::uint32_t> frees = {}) {
    return trace.call(trace.call_value(op, {tensor(in_spec)}), {in},
                      {.result = trace.value(tensor(out_spec)), .tensors = {out}, .frees = std::move(frees)});
  }
  std::uint64_t relu(Arg in, Ret out) { return unary("ttnn.relu", in, out, square, square); }
  std::uint64_t add(Arg a, Arg b, Ret out) {
    return trace.call(trace.call_value("ttnn.add", {tensor(square), tensor(square)}), {a, b},
                      {.result = trace.value(tensor(square)), .tensors = {out}});
  }
};

// The simulated device, watched: what each call was given and gave. May spoil what a call gives.
class Watched : public Device {
 public:
  const Capabilities& can() const override { return inner_->can(); }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return inner_->admit(call); }
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    given.emplace_back(inputs.begin(), inputs.end());
    auto result = inner_->run(call, inputs);
    if (result && given.size() == spoil)
      for (float& value : result->outputs.front().floats) value = -2 * value + 1;
    gave.push_back(result ? result->outputs : std::vector<HostTensor>{});
    return result;
  }

  std::vector<std::vector<HostTensor>> given, gave;
  std::size_t spoil = 0;  // this call, from 1

 private:
  std::unique_ptr<Device> inner_ = *open_device("sim:n150");
};

struct Replayed {
  Report report;
  std::vector<Step> steps;
};

Replayed replayed(const std::string& bytes, Device& device, const Options& options = {}) {
  auto trace = format::NativeTrace::from_bytes(bytes, "test");
  EXPECT_TRUE(trace) << trace.error().message;
  Replayed out;
  auto report = replay(*trace, device, options, [&](const Step& step) { out.steps.push_back(step); });
  EXPECT_TRUE(report) << report.error().message;
  out.report = *std::move(report);
  return out;
}
Replayed replayed(const Model& model, Device& device, const Options& options = {}) {
  return replayed(model.trace.bytes(), device, options);
}

TEST(Replay, AnOutputFeedsItsConsumer) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.add({20, 1}, {10, 1}, {30, 1, 3});
  Watched device;
  const Replayed done = replayed(model, device);
  ASSERT_EQ(device.given.size(), 2U);
  EXPECT_EQ(device.given[1][0].floats, device.gave[0][0].floats);
  EXPECT_EQ(device.given[1][1].floats, device.given[0][0].floats);  // the same tensor from outside
  EXPECT_EQ(done.report.calls, 2);
  EXPECT_EQ(done.report.replayed, 2);
  EXPECT_EQ(done.report.edges.recorded, 1);
  EXPECT_EQ(done.report.inputs.recipe, 1);
  EXPECT_EQ(done.report.outcomes.at("passed"), 2);
  EXPECT_FALSE(done.report.first_beyond);
  ASSERT_TRUE(done.steps[1].global);
  EXPECT_LT(done.steps[1].global->rel_rms, 0.01);
}

TEST(Replay, TwoReplaysGiveTheSameBits) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.add({20, 1}, {11, 1}, {30, 1, 3});
  Watched first, second, other;
  replayed(model, first);
  replayed(model, second);
  Options options;
  options.run.recipe.seed = 2;
  replayed(model, other, options);
  EXPECT_EQ(first.gave[1][0].floats, second.gave[1][0].floats);
  EXPECT_NE(first.gave[1][0].floats, other.gave[1][0].floats);
  EXPECT_NE(first.given[0][0].floats, first.given[1][1].floats);  // two tensors of one spec are two
}

TEST(Replay, AWriteInPlaceIsSeenThroughViews) {
  Model model;
  model.relu({10, 1}, {20, 1, 5});
  model.unary("ttnn.reshape", {20, 1}, {21, 1, 5, 0, 20}, model.square, model.tall);  // its record lacks the shape …
  const std::uint32_t shape = model.trace.value(numbers({1, 1, 64, 32}));
  model.trace.call(model.trace.call_value("ttnn.reshape", {tensor(model.square), ref(shape)}), {{20, 1}},
                   {.result = model.trace.value(tensor(model.tall)), .tensors = {{22, 1, 5, 0, 20}}});
  model.trace.call(model.trace.call_value("ttnn.add_", {tensor(model.tall), real(1.0)}), {{22, 1}},
                   {.result = model.trace.value(tensor(model.tall)),
                    .tensors = {{22, 2, 5, 0, 20}},
                    .writes = {{0, model.tall, 2}}});
  model.unary("ttnn.relu", {20, 2}, {30, 1, 6}, model.square, model.square);
  Watched device;
  const Replayed done = replayed(model, device);
  ASSERT_EQ(device.given.size(), 4U);  // … so it cannot be run
  EXPECT_EQ(device.given.back()[0].floats, device.gave[2][0].floats);
  EXPECT_EQ(device.given.back()[0].spec.shape, (Shape{1, 1, 32, 64}));
  EXPECT_NE(device.gave[2][0].floats, device.given[2][0].floats);
  EXPECT_EQ(done.report.failed, 1);  // the refused one
}

TEST(Replay, FreesFreeAndAUseAfterThatIsMadeAnew) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.trace.call(model.trace.call_value("ttnn.deallocate", {tensor(model.square)}), {{20, 1}}, {.frees = {0}});
  model.relu({20, 1}, {30, 1, 3});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.outcomes.at("freed"), 1);
  ASSERT_EQ(device.given.size(), 2U);
  EXPECT_NE(device.given[1][0].floats, device.gave[0][0].floats);
  EXPECT_EQ(done.report.inputs.recipe, 2);
  EXPECT_EQ(done.report.edges.recorded, 0);
}

TEST(Replay, WithoutFreesTensorsEndAtTheirLastUse) {
  Model model;
  constexpr std::uint64_t kCalls = 50;
  for (std::uint64_t i = 0; i < kCalls; ++i) model.relu({10 + i, 1}, {11 + i, 1, 10 + i});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.replayed, static_cast<std::int64_t>(kCalls));
  EXPECT_EQ(done.report.peak.dram, 2 * 2 * 2048);  // one in, one out, two tiles each
}

TEST(Replay, AFaultIsLocalWhereItHappensAndGlobalFromThereOn) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.add({20, 1}, {11, 1}, {30, 1, 3});
  model.add({30, 1}, {11, 1}, {40, 1, 4});
  Watched device;
  device.spoil = 2;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.steps[0].outcome, Outcome::kPassed);
  EXPECT_EQ(done.steps[1].outcome, Outcome::kFailed);
  EXPECT_EQ(done.steps[2].outcome, Outcome::kPassed);  // right, on the wrong inputs that it had
  EXPECT_FALSE(done.steps[0].beyond_global);
  EXPECT_TRUE(done.steps[1].beyond_global);
  EXPECT_TRUE(done.steps[2].beyond_global);
  EXPECT_EQ(done.report.first_beyond, 2U);
  EXPECT_EQ(done.report.failed, 1);
  EXPECT_FALSE(done.steps[1].line.empty());
}

TEST(Replay, AnOperatorThatNobodyKnowsIsSaidAndTheRestGoesOn) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.unary("ttnn.no_such_thing", {20, 1}, {30, 1, 3}, model.square, model.square);
  model.relu({30, 1}, {40, 1, 4});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.outcomes.at("unsupported"), 1);
  EXPECT_EQ(done.report.outcomes.at("passed"), 2);
  EXPECT_EQ(done.report.inputs.recipe, 2);
  EXPECT_EQ(done.report.failed, 0);
}

TEST(Replay, OfACallThatNobodyKnowsTheCallsInsideAreReplayed) {
  Model model;
  const std::uint64_t outer =
      model.trace.begin(model.trace.call_value("ttnn.no_such_thing", {tensor(model.square)}), {{10, 1}});
  const std::uint64_t inner =
      model.trace.begin(model.trace.call_value("ttnn.relu", {tensor(model.square)}), {{10, 1}}, outer);
  const std::uint32_t result = model.trace.value(tensor(model.square));
  model.trace.end(inner, {.result = result, .tensors = {{20, 1, 2}}});
  model.trace.end(outer, {.result = result, .tensors = {{20, 1, 2}}, .frees = {0}});
  model.add({20, 1}, {20, 1}, {30, 1, 3});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.outcomes.at("inside"), 1);
  EXPECT_EQ(done.report.replayed, 2);
  EXPECT_EQ(done.report.edges.recorded, 2);
  EXPECT_EQ(device.given[1][0].floats, device.gave[0][0].floats);
}

TEST(Replay, OfACallThatRunsTheCallsInsideDoNot) {
  Model model;
  const std::uint64_t outer = model.trace.begin(model.trace.call_value("ttnn.relu", {tensor(model.square)}), {{10, 1}});
  const std::uint64_t inner =
      model.trace.begin(model.trace.call_value("ttnn.relu", {tensor(model.square)}), {{10, 1}}, outer);
  const std::uint32_t result = model.trace.value(tensor(model.square));
  model.trace.end(inner, {.result = result, .tensors = {{20, 1, 2}}});
  model.trace.end(outer, {.result = result, .tensors = {{20, 1, 2}}});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.replayed, 1);
  EXPECT_EQ(done.report.nested, 1);
}

TEST(Replay, AnAmbiguousTensorIsRefusedUnlessTheLatestIsAssumed) {
  Model model;
  model.trace.fact(
      "data_flow",
      structure("DataFlow", {{"edges", string("inferred")}, {"inferred", integer(0)}, {"ambiguous", integer(1)}}));
  model.relu({0, 0}, {1, 0});
  model.relu({0, 0}, {2, 0});
  Watched device;
  const Replayed refused = replayed(model, device);
  EXPECT_EQ(refused.report.edges.ambiguous, 1);
  EXPECT_EQ(refused.report.outcomes.at("lost"), 1);
  EXPECT_NE(refused.steps[1].reason.find("--assume-recent"), std::string::npos);
  Watched again;
  const Replayed assumed = replayed(model, again, {.assume_recent = true});
  ASSERT_EQ(again.given.size(), 2U);
  EXPECT_EQ(again.given[1][0].floats, again.gave[0][0].floats);
  EXPECT_EQ(assumed.report.edges.inferred, 1);
}

// A content of 2048 numbers in the trace, and what says that the first argument of call 1 held it.
void record_content(Model& model, float first) {
  std::vector<float> numbers_held(2048);
  for (std::size_t i = 0; i < numbers_held.size(); ++i) numbers_held[i] = first + static_cast<float>(i % 128);
  const std::string hash = "0123456789abcdef";
  const std::uint32_t description =
      model.trace.value(structure("data", {{"dtype", string("float32")}, {"shape", numbers({1, 1, 32, 64})}}));
  model.trace.next_chunk();
  model.trace.record(9, hash + varint(description) +
                            std::string(reinterpret_cast<const char*>(numbers_held.data()), 2048 * sizeof(float)));
  model.trace.record(10, varint(1) + varint(0) + varint(4) + hash);
}

TEST(Replay, RecordedContentsAreTaken) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  record_content(model, 1);
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.inputs.recorded, 1);
  EXPECT_EQ(done.report.inputs.recipe, 0);
  EXPECT_EQ(device.given[0][0].floats[0], 1);
  EXPECT_EQ(device.given[0][0].floats[100], 101);
  ASSERT_EQ(done.steps[0].inputs.size(), 1U);
  EXPECT_EQ(done.steps[0].inputs[0].origin, Origin::kRecorded);
}

TEST(Replay, ContentsOfAnotherSizeAreCountedAndNotTaken) {
  Model model;
  const std::uint32_t small = model.values.spec({1, 1, 32, 32});
  model.unary("ttnn.relu", {10, 1}, {20, 1, 2}, small, small);
  record_content(model, 1);
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.unusable, 1);
  EXPECT_EQ(done.report.inputs.recipe, 1);
}

// What the trace says of a tensor of call 1: the hash of these values, kept as elements of float32.
void record_hash(Model& model, const Values& values, bool of_result) {
  const Hash128 hash = *content_hash("float32", {1, 1, 32, 64}, values);
  std::string bytes;
  for (const std::uint64_t half : {hash.high, hash.low})
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(half >> shift));
  model.trace.record(10, varint(1) + varint(0) + varint(of_result ? 5 : 4) + bytes);
}

TEST(Replay, RecordedHashesAreComparedWhereTheInputsWereRecordedToo) {
  Values positive, other;
  for (std::size_t i = 0; i < 2048; ++i) positive.floats.push_back(1 + static_cast<float>(i % 128));
  other = positive;
  other.floats[17] += 1;
  const auto with = [&](const Values& result, bool inputs) {
    Model model;
    model.relu({10, 1}, {20, 1, 2});
    record_hash(model, result, true);
    if (inputs) record_content(model, 1);
    Watched device;
    return replayed(model, device);
  };
  const Replayed same = with(positive, true);
  ASSERT_TRUE(same.steps[0].recorded);
  EXPECT_EQ(same.steps[0].recorded->by, Agreement::By::kHash);
  EXPECT_TRUE(same.steps[0].recorded->same);
  EXPECT_EQ(same.report.hashes.same, 1);
  EXPECT_FALSE(same.report.first_differ);
  const Replayed differs = with(other, true);
  EXPECT_EQ(differs.report.hashes.differ, 1);
  EXPECT_EQ(differs.report.first_differ, 1U);
  const Replayed made_up = with(positive, false);
  EXPECT_TRUE(made_up.steps[0].recorded->made_up);
  EXPECT_EQ(made_up.report.hashes.same + made_up.report.hashes.differ, 0);
  EXPECT_EQ(made_up.report.made_up, 1);
}

TEST(Replay, AnInputOfWhichTheTraceHasTheHashAloneIsCounted) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  record_hash(model, Values{std::vector<float>(2048, 1.0F), {}}, false);
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.missing, 1);
  EXPECT_EQ(done.report.inputs.recipe, 1);
  EXPECT_EQ(done.report.outcomes.at("passed"), 1);
}

TEST(Replay, ASketchOfAResultIsComparedInItsQuantiles) {
  const auto with = [](double from) {
    Model model;
    model.relu({10, 1}, {20, 1, 2});
    record_content(model, 1);
    std::vector<std::string> quantiles;
    for (const double part : {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99})
      quantiles.push_back(real(from + 127 * part));
    const std::uint32_t sketch = model.trace.value(structure(
        "sketch",
        {{"count", integer(2048)}, {"min", real(from)}, {"max", real(from + 127)}, {"quantiles", list(quantiles)}}));
    model.trace.record(10, varint(1) + varint(0) + varint(9) + varint(sketch));
    Watched device;
    return replayed(model, device);
  };
  EXPECT_EQ(with(1).report.sketches.same, 1);
  EXPECT_EQ(with(200).report.sketches.differ, 1);
}

TEST(Replay, WithoutTheChainThereIsNoGlobalJudgementAndNothingIsHeldForIt) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.add({20, 1}, {11, 1}, {30, 1, 3});
  model.add({30, 1}, {11, 1}, {40, 1, 4});
  Watched device;
  const Replayed with = replayed(model, device);
  EXPECT_GT(with.report.held.all, with.report.held.values);
  Options options;
  options.chain = false;
  const Replayed without = replayed(model, device, options);
  EXPECT_EQ(without.report.outcomes.at("passed"), 3);
  EXPECT_TRUE(without.steps[1].local);
  EXPECT_FALSE(without.steps[1].global);
  EXPECT_EQ(without.report.held.all, without.report.held.values);
  EXPECT_EQ(without.report.held.values, with.report.held.values);
  // Three tensors at most, as the device stores them: bfloat16.
  EXPECT_EQ(without.report.held.values, 3 * 2048 * 2);
}

TEST(Replay, ASketchGivesNumbersLikeThoseThatWereSeen) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  std::vector<std::string> quantiles;
  for (int i = 1; i <= 9; ++i) quantiles.push_back(real(3 + 0.1 * i));
  const std::uint32_t sketch = model.trace.value(structure("sketch", {{"count", integer(2048)},
                                                                      {"min", real(3)},
                                                                      {"max", real(4)},
                                                                      {"mean", real(3.5)},
                                                                      {"quantiles", list(quantiles)},
                                                                      {"zeros", integer(0)},
                                                                      {"integers", boolean(false)},
                                                                      {"sorted", integer(0)}}));
  model.trace.record(10, varint(1) + varint(0) + varint(8) + varint(sketch));
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.inputs.sketch, 1);
  const auto [least, most] = std::ranges::minmax(device.given[0][0].floats);
  EXPECT_GE(least, 3);
  EXPECT_LE(most, 4);
  EXPECT_GT(most - least, 0.8F);
}

// Row `row` of the part of chip `chip`, by the part of chip 0: its rows, moved on.
float stand_in(const std::vector<float>& part, std::size_t chip, std::size_t row, std::size_t i) {
  return part[(row + chip) % 32 * 64 + i];
}

TEST(Replay, CollectivesAreMadeOfStandInsAndJudged) {
  Model model;
  const std::uint32_t wide = model.values.spec({1, 1, 32, 128});
  model.relu({10, 1}, {20, 1, 2});
  model.unary("ttnn.all_gather", {20, 1}, {30, 1, 3}, model.square, wide);
  model.unary("ttnn.relu", {30, 1}, {40, 1, 4}, wide, wide);
  model.unary("ttnn.reduce_scatter", {40, 1}, {50, 1, 5}, wide, model.square);
  model.relu({50, 1}, {60, 1, 6});
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.report.outcomes.at("passed"), 5);
  EXPECT_EQ(done.report.edges.recorded, 4);
  ASSERT_EQ(device.given.size(), 5U);
  EXPECT_EQ(device.given[1][0].floats.size(), 2 * device.gave[0][0].floats.size());
  const std::vector<float>& part = device.gave[0][0].floats;
  const std::vector<float>& all = device.given[2][0].floats;
  const std::vector<float>& sums = device.given[4][0].floats;
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(all[row * 128 + i], part[row * 64 + i]);
      ASSERT_EQ(all[row * 128 + 64 + i], stand_in(part, 1, row, i));
      ASSERT_NEAR(sums[row * 64 + i], part[row * 64 + i] + stand_in(part, 1, row, i), 0.02);
    }
  ASSERT_EQ(done.steps[1].notes.size(), 1U);
  EXPECT_NE(done.steps[1].notes[0].find("2 chips"), std::string::npos);
  ASSERT_TRUE(done.steps[3].local);
  EXPECT_GT(done.steps[3].local->rel_rms, 0);
  EXPECT_LT(done.steps[3].local->rel_rms, 0.01);
}

TEST(Replay, AWrongSumBetweenChipsFails) {
  Model model;
  const std::uint32_t wide = model.values.spec({1, 1, 32, 128});
  model.unary("ttnn.reduce_scatter", {40, 1}, {50, 1, 5}, wide, model.square);
  Watched device;
  device.spoil = 1;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.steps[0].outcome, Outcome::kFailed);
}

TEST(Replay, AnExchangeThatItsShapesContradictIsUnsupportedAndTheRestGoesOn) {
  Model model;
  model.unary("ttnn.all_gather", {10, 1}, {20, 1, 2}, model.square, model.tall);
  model.unary("ttnn.relu", {20, 1}, {30, 1, 3}, model.tall, model.tall);
  Watched device;
  const Replayed done = replayed(model, device);
  EXPECT_EQ(done.steps[0].outcome, Outcome::kUnsupported);
  EXPECT_NE(done.steps[0].reason.find("are not those of"), std::string::npos);
  EXPECT_EQ(done.steps[1].outcome, Outcome::kPassed);
}

TEST(Replay, ADeviceWithoutNumbersAcceptsInOrder) {
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  model.add({20, 1}, {11, 1}, {30, 1, 3});
  const auto device = *open_device("null:n150");
  const Replayed done = replayed(model, *device);
  EXPECT_EQ(done.report.outcomes.at("accepted"), 2);
  EXPECT_EQ(done.report.inputs.recipe, 0);
  EXPECT_FALSE(done.steps[0].local);
}

TEST(Replay, CallsBeyondTheLimitsAreSkippedAndTheRestGoesOn) {
  Model model;
  const std::uint32_t large = model.values.spec({1, 1, 64, 64});
  model.unary("ttnn.relu", {10, 1}, {20, 1, 2}, large, large);
  model.relu({11, 1}, {30, 1, 3});
  Watched device;
  const Replayed done = replayed(model, device, {.most_elements = 5000});
  EXPECT_EQ(done.report.outcomes.at("skipped"), 1);
  EXPECT_EQ(done.report.outcomes.at("passed"), 1);
  EXPECT_NE(done.steps[0].reason.find("--max-elements"), std::string::npos);
}

TEST(Replay, UntilAndFilterChooseCalls) {
  Model model;
  for (std::uint64_t i = 0; i < 5; ++i) model.relu({10 + i, 1}, {11 + i, 1, 10 + i});
  Watched device, alone;
  EXPECT_EQ(replayed(model, device, {.until = 3}).report.calls, 3);
  Options options;
  options.filter.first = options.filter.last = 4;
  const Replayed done = replayed(model, alone, options);
  EXPECT_EQ(done.report.calls, 1);
  EXPECT_EQ(done.steps[0].call, 4U);
  EXPECT_EQ(done.report.inputs.recipe, 1);
}

TEST(Replay, ATraceThatIsCutGivesWhatIsThereAndSaysWhatIsLost) {
  Model model;
  for (std::uint64_t i = 0; i < 20; ++i) model.relu({10 + i, 1}, {11 + i, 1, 10 + i});
  const std::string bytes = model.trace.bytes();
  for (const std::size_t cut : {40U, 200U, 400U}) {
    Watched device;
    const Replayed done = replayed(bytes.substr(0, bytes.size() - cut), device);
    EXPECT_LT(done.report.outcomes.at("passed"), 20);
    EXPECT_FALSE(done.report.losses.empty());
  }
}

TEST(Replay, TensorsAreSavedWithTheirSpecs) {
  const TestFolder folder;
  Model model;
  model.relu({10, 1}, {20, 1, 2});
  Watched device;
  const std::string place = folder.path() + "/kept";
  replayed(model, device, {.save = place});
  EXPECT_TRUE(std::filesystem::exists(place + "/000001-out0.npy"));
  EXPECT_TRUE(std::filesystem::exists(place + "/000001-out0.json"));
  EXPECT_EQ(std::filesystem::file_size(place + "/000001-in-input_tensor.npy"), 128 + 2048 * sizeof(float));
  auto trace = format::NativeTrace::from_bytes(model.trace.bytes(), "test");
  const auto again = replay(*trace, device, {.save = place}, [](const Step&) {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace opwright::replay
