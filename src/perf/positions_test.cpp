#include "perf/positions.h"

#include <gtest/gtest.h>

#include "perf/fixture.h"

namespace opwright::perf {
namespace {

std::vector<double> means(const Reduced& reduced) {
  std::vector<double> out;
  for (const Position& position : reduced.positions) out.push_back(statistics_of(position.kernel_ns).mean);
  return out;
}

TEST(Positions, TheSlowestDeviceCountsAndTheMeanWhereDevicesWaitForOneAnother) {
  const Recording recording = read_fixture("window_two_devices.csv");
  const Reduced out = reduced(recording);
  EXPECT_EQ(out.iterations, 3);
  EXPECT_EQ(out.devices, (std::vector<std::int32_t>{0, 1}));
  // device 1 takes 100 ns more, the second iteration 10 and the third 20
  EXPECT_EQ(means(out), (std::vector<double>{4110, 20110, 9060, 2110}));
  EXPECT_EQ(out.positions[1].kernel_ns, (std::vector<double>{20100, 20110, 20120}));
  EXPECT_EQ(out.kernel_ns, 4110 + 20110 + 9060 + 2110);
  EXPECT_EQ(out.first_op_gap_ns, 50000);
  EXPECT_EQ(out.op_to_op_ns, 600 + 700 + 500);
  EXPECT_EQ(out.host_ns, 4 * 2 * 3000);
  EXPECT_TRUE(out.coverage.complete());
  EXPECT_EQ(out.coverage.device_rows, 24);
  EXPECT_EQ(out.coverage.operations, 12);
}

TEST(Positions, TheSameFromThePackedFileAndTheWholeFileHasTheWarmUpToo) {
  const Recording recording = read_fixture("window_two_devices.csv.gz");
  EXPECT_EQ(reduced(recording).kernel_ns, 35390);
  const Reduced whole = reduced(recording, "*");
  EXPECT_EQ(whole.iterations, 4);
  EXPECT_EQ(whole.host_op_ns, 2000);  // one operation of 8000 ns on the host in four iterations
}

TEST(Positions, RecordingATraceIsNoRunAndEachReplayIsAnIteration) {
  const Recording recording = read_fixture("trace_replays.csv");
  const Reduced window = reduced(recording);
  EXPECT_EQ(window.iterations, 3);
  EXPECT_EQ(window.coverage.sessions, 3);
  EXPECT_FALSE(has(window.host_ns));  // a replay's host times are those of its recording
  const Reduced whole = reduced(recording, "*");
  EXPECT_EQ(whole.iterations, 3);
  EXPECT_EQ(whole.coverage.captured_rows, 4);
  EXPECT_EQ(whole.coverage.rows_without_time, 0);
}

TEST(Positions, NothingIsFilledWithZero) {
  const Reduced cells = reduced(read_fixture("bad_cells.csv"));
  EXPECT_EQ(cells.coverage.rows_without_time, 3);
  EXPECT_FALSE(cells.coverage.complete());
  EXPECT_EQ(statistics_of(cells.positions[1].kernel_ns).count, 1);  // "-" and -5 are no times
  EXPECT_EQ(statistics_of(cells.positions[1].kernel_ns).mean, 20020);
  const Reduced none = reduced(read_fixture("bad_no_kernel_column.csv"));
  EXPECT_FALSE(has(none.kernel_ns));
  EXPECT_EQ(none.coverage.rows_without_time, 12);
  EXPECT_EQ(none.op_to_op_ns, 1800);
}

TEST(Positions, TheGapOfAClockThatWentBackIsNotUsed) {
  const Recording recording = read_fixture("bad_clock_back.csv");
  EXPECT_EQ(statistics_of(reduced(recording).positions[0].op_to_op_ns).count, 2);
  EXPECT_EQ(recording.samples[8].op_to_op_ns, 50000);  // kept: the existing rules take it
}

TEST(Positions, ADeviceThatStopsIsMissingAndTheOthersAreCounted) {
  const Reduced out = reduced(read_fixture("bad_device_stops.csv"));
  EXPECT_EQ(out.iterations, 3);
  EXPECT_EQ(out.coverage.operations_missing_devices, 6);
  EXPECT_EQ(out.coverage.missing_device_rows, 6);
  EXPECT_EQ(out.coverage.first_missing_row, 14u);
  EXPECT_EQ(out.coverage.rows_of_device[1], (std::pair<std::int32_t, std::int64_t>{1, 6}));
}

TEST(Positions, AnIterationThatIsNotWholeIsLeftOutAndCounted) {
  const Reduced cut = reduced(read_fixture("bad_cut_in_a_row.csv"), "start..");
  EXPECT_EQ(cut.iterations, 3);
  EXPECT_EQ(cut.coverage.left_out_operations, 2);
  EXPECT_EQ(cut.coverage.first_left_out_row, 15u);
  const Reduced middle = reduced(read_fixture("bad_row_in_the_middle.csv"));
  EXPECT_EQ(middle.iterations, 3);
  EXPECT_EQ(middle.coverage.left_out_operations, 3);
}

TEST(Positions, WithAPlainCounterRowsAreNotJoined) {
  const Reduced out = reduced(read_fixture("generation_v1.csv"));
  EXPECT_FALSE(out.coverage.joined);
  EXPECT_EQ(out.iterations, 3);
  EXPECT_EQ(out.kernel_ns, 35040);
}

TEST(Positions, AWindowOfSignpostsAloneIsOrdinary) {
  const Reduced out = reduced(read_fixture("window_of_signposts_only.csv"));
  EXPECT_EQ(out.iterations, 0);
  EXPECT_TRUE(out.positions.empty());
  EXPECT_FALSE(has(out.kernel_ns));
}

TEST(Positions, HowManyIterationsCanBeSaidAndMustBeTrue) {
  const Recording recording = read_fixture("window_two_devices.csv");
  EXPECT_EQ(reduced(recording, "", {.iterations = 1}).positions.size(), 12u);
  EXPECT_FALSE(reduce(recording, window_of(recording), {.iterations = 2}));
  EXPECT_FALSE(reduce(recording, window_of(recording), {.iterations = 5}));
  EXPECT_EQ(reduced(recording, "", {.device = 1}).kernel_ns, 35040 + 4 * 100);
  EXPECT_NE(
      reduce(recording, window_of(recording), {.device = 7}).error().message.find("the file has the devices 0, 1"),
      std::string::npos);
}

TEST(Iterations, AreThePeriodOfTheWholeSequence) {
  const auto starts = [](std::vector<std::uint32_t> sequence, bool damaged = false) {
    return find_iterations(sequence, damaged).starts.size();
  };
  EXPECT_EQ(starts({1, 2, 1, 3}), 1u);  // the first operation comes again inside the iteration
  EXPECT_EQ(starts({1, 2, 1, 3, 1, 2, 1, 3}), 2u);
  EXPECT_EQ(starts({1, 1, 1}), 3u);
  EXPECT_EQ(starts({1, 2, 1, 2, 1}), 2u);
  EXPECT_EQ(starts({1, 2, 1}), 1u);
  EXPECT_EQ(starts({}), 0u);
  const std::vector<std::uint32_t> hole{1, 2, 3, 1, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  EXPECT_EQ(starts(hole), 1u);  // no row was lost: nothing says that it is no iteration of its own
  EXPECT_EQ(starts(hole, true), 4u);
}

TEST(Statistics, OfTheFiguresThatAreThere) {
  const Statistics some = statistics_of({3, kNoFigure, 1, 2, 10});
  EXPECT_EQ(some.count, 4);
  EXPECT_EQ(some.mean, 4);
  EXPECT_EQ(some.median, 2.5);
  EXPECT_EQ(some.min, 1);
  EXPECT_NEAR(some.sd, 4.0825, 1e-4);
  EXPECT_FALSE(has(statistics_of({5}).sd));
  EXPECT_FALSE(has(statistics_of({}).mean));
}

TEST(Recordings, HostsOfOneRunHaveDevicesOfTheirOwnAndAreJoined) {
  const auto both = read_recording({fixture("host_0.csv"), fixture("host_1.csv")}, {Together::kHosts, 4});
  ASSERT_TRUE(both) << both.error().message;
  const Reduced out = reduced(*both);
  EXPECT_EQ(out.devices.size(), 4u);
  EXPECT_EQ(out.iterations, 2);
  EXPECT_EQ(out.coverage.operations, 8);
  EXPECT_TRUE(out.coverage.complete());
  EXPECT_EQ(out.kernel_ns, 35000 + 3 * 100 + 50 + 4 * 5);
  EXPECT_FALSE(read_recording({fixture("host_0.csv"), fixture("host_1.csv")}, {Together::kHosts, 6}));
  EXPECT_FALSE(read_recording({fixture("host_0.csv"), fixture("generation_v2_1.csv")}, {Together::kHosts, 0}));
  EXPECT_FALSE(read_recording({fixture("host_0.csv"), fixture("host_1.csv")}, {}));
}

TEST(Recordings, RunsWithOtherCountersArePutTogetherByRow) {
  const auto both = read_recording({fixture("host_0.csv"), fixture("run_with_dram_counter.csv")}, {Together::kRuns, 0});
  ASSERT_TRUE(both) << both.error().message;
  const Reduced out = reduced(*both);
  EXPECT_EQ(out.devices.size(), 2u);
  EXPECT_EQ(both->filled_figures, 16);
  EXPECT_EQ(both->unmatched_rows, 0);
  EXPECT_EQ(out.positions[1].dram_percent, 42.5);
  EXPECT_EQ(out.positions[1].fpu_percent, 1.5);
  EXPECT_FALSE(read_recording({fixture("host_0.csv"), fixture("generation_2024.csv")}, {Together::kRuns, 0}));
}

}  // namespace
}  // namespace opwright::perf
