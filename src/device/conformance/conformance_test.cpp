// Every device of this program, held to the laws.
#include "device/conformance/laws.h"
#include "device/external/fake_device.h"
#include "device/null/null_device.h"
#include "device/sim/sim_device.h"

namespace opwright {
namespace {

DeviceUnderTest sim_on(std::string board_name) {
  return {.name = "sim:" + board_name, .make = [board_name]() -> std::unique_ptr<Device> {
            return std::make_unique<sim::SimDevice>(*find_board(board_name));
          }};
}

DeviceUnderTest null_device() {
  const std::string accepts = "accepts everything";
  return {.name = "null",
          .make = []() -> std::unique_ptr<Device> { return std::make_unique<NullDevice>(*find_board("n150")); },
          .never = {{"AnUnknownOperatorIsRefusedByName", accepts},
                    {"TooLargeATensorIsARefusalAndNotACrash", accepts},
                    {"MemoryIsNamedWhereItIsTheReason", accepts},
                    {"ATensorThatCannotExistIsRefused", accepts}}};
}

// A program over the device protocol: the protocol must be enough to keep every law.
DeviceUnderTest program(std::string numerics) {
  return {.name = "program:" + numerics, .make = [numerics]() -> std::unique_ptr<Device> {
            return std::move(ExternalDevice::open(fake_device({"--numerics", numerics})).value());
          }};
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance,
                         testing::Values(sim_on("n150"), sim_on("galaxy"), sim_on("p150b"), null_device(),
                                         program("real"), program("none")),
                         name_of_test);

TEST(ConformanceSuite, NamesOfTestsAreIdentifiers) {
  EXPECT_EQ(name_of_test({DeviceUnderTest{.name = "sim:n150"}, 0}), "sim_n150");
}

// What `keep` reports, without its being reported.
testing::TestPartResult kept(const DeviceUnderTest& device, const std::function<void()>& law) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    keep(device, "Law", law);
  }
  if (results.size() != 1) return {testing::TestPartResult::kSuccess, nullptr, -1, ""};
  return results.GetTestPartResult(0);
}

TEST(ConformanceSuite, ALawOnTheListOfTheNotYetMustFail) {
  const DeviceUnderTest device{.name = "mine", .not_yet = {{"Law", "no kernel"}}};
  const auto broken = kept(device, [] { ADD_FAILURE() << "broken"; });
  EXPECT_TRUE(broken.skipped());
  EXPECT_STREQ(broken.message(), "not yet: no kernel");
  const auto mended = kept(device, [] {});
  EXPECT_TRUE(mended.failed());
  EXPECT_NE(std::string_view(mended.message()).find("take it off the list"), std::string_view::npos);
}

TEST(ConformanceSuite, ALawThatIsNeverKeptIsNotTried) {
  bool tried = false;
  const DeviceUnderTest device{.name = "mine", .never = {{"Law", "it is a stone"}}};
  EXPECT_TRUE(kept(device, [&] { tried = true; }).skipped());
  EXPECT_FALSE(tried);
  EXPECT_TRUE(kept({.name = "other"}, [] { ADD_FAILURE() << "broken"; }).failed());
}

TEST(ConformanceSuite, DataIsWhatTheDtypeHolds) {
  HostTensor once = counted(tensor({1, 1, 32, 32}, DType::kBfloat4B));
  HostTensor twice = once;
  quantize(twice);
  EXPECT_TRUE(same_bits(once, twice));
  EXPECT_EQ(counted(tensor({4}, DType::kInt32), 14).ints, (std::vector<std::int64_t>{14, 15, 0, 1}));
}

}  // namespace
}  // namespace opwright
