#include "device/external/external_device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

#include "base/test_folder.h"
#include "device/conformance/device_under_test.h"
#include "device/external/fake_device.h"

namespace opwright {
namespace {

TestCall small_call() { return add_call(tensor({1, 1, 32, 32})); }

std::unique_ptr<ExternalDevice> device_with(const std::vector<std::string>& options) {
  auto device = ExternalDevice::open(fake_device(options));
  EXPECT_TRUE(device) << device.error().message;
  return device ? std::move(*device) : nullptr;
}

std::string open_error(DeviceProgram program, ProgramLimits limits = {}) {
  const auto device = ExternalDevice::open(std::move(program), limits);
  EXPECT_FALSE(device);
  return device ? "" : device.error().message;
}

TEST(ExternalDevice, SaysWhatItsHelloSays) {
  const auto device = device_with({});
  ASSERT_TRUE(device);
  const Capabilities& can = device->can();
  EXPECT_EQ(can.name, "fake");
  EXPECT_EQ(can.numerics, Numerics::kReal);
  EXPECT_EQ(can.board.name, "n150");
  EXPECT_TRUE(can.recorded_calls && can.memory_report && can.timing);
  EXPECT_FALSE(can.mesh || can.capture || can.golden);
  EXPECT_EQ(can.versions, (std::map<std::string, std::string>{{"fake", "1.2"}, {"device", "fake"}}));
}

TEST(ExternalDevice, ABoardOfItsOwnHasTheGridItSays) {
  const auto device = device_with({"--fault", "custom_board"});
  ASSERT_TRUE(device);
  EXPECT_EQ(device->can().board.name, "mine");
  EXPECT_EQ(device->can().board.grid, (CoreCoord{4, 2}));
}

TEST(ExternalDevice, WhatIsNoDeviceIsAnErrorThatSaysWhy) {
  EXPECT_NE(open_error(fake_device({"--fault", "no_device"})).find("Hello, World!"), std::string::npos);
  const std::string ended = open_error(fake_device({"--fault", "no_hello"}));
  EXPECT_NE(ended.find("ended with exit status 1"), std::string::npos) << ended;
  EXPECT_NE(ended.find("this device will not start"), std::string::npos) << ended;
  const std::string newer = open_error(fake_device({"--fault", "new_protocol"}));
  EXPECT_NE(newer.find("version 2"), std::string::npos) << newer;
  EXPECT_NE(open_error(fake_device({"--fault", "odd_board"})).find("no_such_board"), std::string::npos);
  EXPECT_NE(open_error(fake_device({"--numerics", "some"})).find("numerics"), std::string::npos);
  DeviceProgram nothing = fake_device();
  nothing.argv = {"no-such-program-anywhere"};
  EXPECT_NE(open_error(nothing).find("no-such-program-anywhere"), std::string::npos);
}

TEST(ExternalDevice, AHelloThatDoesNotComeIsNotWaitedForForEver) {
  const std::string message = open_error(fake_device({"--fault", "slow_hello"}), {.hello_seconds = 0.3});
  EXPECT_NE(message.find("nothing came within 0.3 s"), std::string::npos) << message;
}

TEST(ExternalDevice, AProgramThatNeverStopsPrintingIsKilledAtItsEnd) {
  DeviceProgram program = fake_device();
  program.argv = {"/bin/sh", "-c",
                  "python3 " + program.argv[1] + "; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done >&2"};
  const auto start = std::chrono::steady_clock::now();
  {
    auto device = ExternalDevice::open(program, {.end_seconds = 0.2});
    ASSERT_TRUE(device) << device.error().message;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));  // it would print for ever
}

TEST(ExternalDevice, AProgramThatDoesNotLeaveIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  {
    auto device = ExternalDevice::open(fake_device({"--fault", "no_end"}), {.end_seconds = 0.2});
    ASSERT_TRUE(device);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ExternalDevice, AnswersAreTypedAndInTheDevicesWords) {
  const TestCall call = small_call();
  const std::pair<const char*, Refusal::Kind> cases[] = {{"refused", Refusal::Kind::kRule},
                                                         {"out_of_memory", Refusal::Kind::kMemory},
                                                         {"unsupported", Refusal::Kind::kUnsupported}};
  for (const auto& [fault, kind] : cases) {
    const auto device = device_with({"--fault", fault});
    const auto result = device->run(call.handed(), call.inputs);
    ASSERT_FALSE(result) << fault;
    EXPECT_EQ(result.error().kind, kind) << fault;
    EXPECT_EQ(result.error().message, std::string(fault) + " as told (a == b)");
    EXPECT_EQ(device->failure(), nullptr) << fault;
  }
  const auto device = device_with({"--fault", "error"});
  ASSERT_FALSE(device->run(call.handed(), call.inputs));
  ASSERT_NE(device->failure(), nullptr);
  EXPECT_EQ(device->failure()->outcome, Outcome::kDeviceError);
  EXPECT_EQ(device->failure()->message, "RuntimeError: error as told (a == b)");
}

struct Fault {
  const char* name;
  Outcome outcome;
  const char* words;
};

class ExternalFault : public testing::TestWithParam<Fault> {};

TEST_P(ExternalFault, CostsOneCallAndHasAName) {
  const TestFolder folder;
  const auto [name, outcome, words] = GetParam();
  const auto device = device_with({"--fault", name, "--once", folder.file("done")});
  ASSERT_TRUE(device);
  const TestCall call = small_call();
  const auto failed = device->run(call.handed(), call.inputs);
  ASSERT_FALSE(failed);
  ASSERT_NE(device->failure(), nullptr);
  EXPECT_EQ(name_of(device->failure()->outcome), name_of(outcome));
  EXPECT_NE(device->failure()->message.find(words), std::string::npos) << device->failure()->message;
  // What breaks the protocol is the device's own fault, whatever was asked; what a call can do to it is not.
  const std::set<std::string> own{"leave", "garbage", "wrong_id", "no_outcome"};
  EXPECT_EQ(device->failure()->own_fault, own.contains(name));
  const auto next = device->run(call.handed(), call.inputs);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(device->failure(), nullptr);
  EXPECT_EQ(next->outputs[0].at(5), call.inputs[0].at(5) + call.inputs[1].at(5));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ExternalFault,
    testing::Values(Fault{"segfault", Outcome::kCrashed, "SIGSEGV"}, Fault{"exit", Outcome::kCrashed, "exit status 3"},
                    Fault{"leave", Outcome::kDeviceError, "exit status 0, without an answer"},
                    Fault{"garbage", Outcome::kDeviceError, "no JSON object: TT_METAL: loading firmware"},
                    Fault{"wrong_id", Outcome::kDeviceError, "instead of"},
                    Fault{"no_outcome", Outcome::kDeviceError, "an outcome that the protocol does not know"},
                    Fault{"beside", Outcome::kDeviceError, "wrote beside its outputs"},
                    Fault{"before", Outcome::kDeviceError, "between input 1 and output 0"},
                    Fault{"unwritten", Outcome::kDeviceError, "1024 of 1024 elements were not written"},
                    Fault{"partly", Outcome::kDeviceError, "2 of 1024 elements were not written"}),
    [](const testing::TestParamInfo<Fault>& fault) { return std::string(fault.param.name); });

TEST(ExternalDevice, TheEndOfStandardErrorIsInTheMessage) {
  const auto device = device_with({"--fault", "segfault"});
  const TestCall call = small_call();
  ASSERT_FALSE(device->run(call.handed(), call.inputs));
  EXPECT_NE(device->failure()->message.find("fault: segfault"), std::string::npos) << device->failure()->message;
}

TEST(ExternalDevice, WhatItPrintsToStandardErrorNeverBlocksIt) {
  const auto device = device_with({"--fault", "loud"});
  const TestCall call = small_call();
  EXPECT_TRUE(device->run(call.handed(), call.inputs));
  EXPECT_TRUE(device->run(call.handed(), call.inputs));
}

TEST(ExternalDevice, BeatsAreNoAnswers) {
  const auto device = device_with({"--fault", "beats"});
  const TestCall call = small_call();
  EXPECT_TRUE(device->run(call.handed(), call.inputs));
  EXPECT_TRUE(device->run(call.handed(), call.inputs));
}

TEST(ExternalDevice, OutputsOfAnotherShapeAreReportedAndNotRead) {
  const auto device = device_with({"--fault", "other_shape"});
  const TestCall call = small_call();
  const auto result = device->run(call.handed(), call.inputs);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->outputs.empty());
  ASSERT_EQ(result->reported.size(), 1U);
  EXPECT_EQ(result->reported[0].spec.shape, (Shape{1, 1, 1, 1}));
}

TEST(ExternalDevice, TimesAreColdAndWarmWhereItRanTwice) {
  const auto device = device_with({});
  const TestCall call = small_call();
  DeviceCall twice = call.handed();
  twice.repeat = 2;
  const auto once = device->run(call.handed(), call.inputs);
  const auto result = device->run(twice, call.inputs);
  ASSERT_TRUE(once && result);
  EXPECT_EQ(once->cold_seconds, 0.5);
  EXPECT_FALSE(once->warm_seconds);
  EXPECT_EQ(result->cold_seconds, 0.5);
  EXPECT_EQ(result->warm_seconds, 0.25);
  EXPECT_EQ(result->kernel_seconds, 0.125);
}

TEST(ExternalDevice, ItsProgramIsGoneWithIt) {
  const TestFolder folder;
  const std::string pid_file = folder.file("pid");
  DeviceProgram program = fake_device();
  program.argv = {"/bin/sh", "-c", "echo $$ > " + pid_file + "; exec python3 " + program.argv[1]};
  pid_t pid = 0;
  {
    const auto device = ExternalDevice::open(program);
    ASSERT_TRUE(device) << device.error().message;
    std::ifstream(pid_file) >> pid;
    ASSERT_GT(pid, 0);
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace opwright
