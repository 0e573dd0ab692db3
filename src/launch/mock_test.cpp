#include "launch/mock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/input.h"
#include "base/test_folder.h"

namespace opwright::launch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MockTest : public testing::Test {
 protected:
  MockTest() {
    library_.write("ttnn/tt_metal/x", "");
    library_.write("ttnn/runtime/hw/x", "");
    python_ = {.executable = "/x/python",
               .version = "3.10.13",
               .ttnn_version = "0.81.1",
               .ttnn_folder = library_.file("ttnn")};
  }
  Result<MockSetup> make(const std::string& board, std::vector<std::string> environment = {},
                         MockOptions options = {}) {
    options.compiler = "/bin/true";
    return MockSetup::make(*find_board(board), python_, Environment(std::move(environment)), options);
  }
  // The package that would be beside the program, and is not beside a test.
  void provide_package() {
    package_.write("python/opwright/_capture.abi3.so", "");
    package_.write("python/bootstrap/sitecustomize.py", "");
    setenv("OPWRIGHT_PYTHON", package_.file("python").c_str(), 1);
  }
  void TearDown() override { unsetenv("OPWRIGHT_PYTHON"); }
  TestFolder library_, package_;
  PythonProbe python_;
};

TEST_F(MockTest, VariablesNameFilesThatAreThere) {
  const auto setup = make("n150");
  ASSERT_TRUE(setup) << setup.error().message;
  const Environment& environment = setup->environment();
  EXPECT_EQ(content_of(*environment.get("TT_METAL_MOCK_CLUSTER_DESC_PATH")), cluster_descriptor(*find_board("n150")));
  const std::string root = *environment.get("OPWRIGHT_MOCK_FOLDER") + "/root";
  EXPECT_TRUE(fs::exists(root + "/tt_metal/x"));
  EXPECT_TRUE(fs::exists(root + "/runtime/sfpi/compiler/bin/riscv-tt-elf-g++"));
  EXPECT_EQ(environment.get("OPWRIGHT_MOCK_BOARD"), "n150");
  EXPECT_EQ(environment.get("TT_METAL_SLOW_DISPATCH_MODE"), std::nullopt);
  for (const Change& change : environment.changes()) EXPECT_FALSE(change.why.empty()) << change.name;
}

TEST_F(MockTest, ADescriptorOfTheUsersOwnIsNotABoardOfOurs) {
  library_.write("n150.yaml", cluster_descriptor(*find_board("n300")));
  const auto setup = make(library_.file("n150.yaml"));
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->environment().get("OPWRIGHT_MOCK_BOARD"), "file:n150.yaml");
}

TEST_F(MockTest, SlowDispatchWhereTheBoardOrTheVersionNeedsIt) {
  EXPECT_EQ(make("n300")->environment().get("TT_METAL_SLOW_DISPATCH_MODE"), "1");
  python_.ttnn_version = "0.70.1";
  EXPECT_EQ(make("n150")->environment().get("TT_METAL_SLOW_DISPATCH_MODE"), "1");
}

TEST_F(MockTest, WhatTheUserHasSetStaysUnlessItIsInTheWay) {
  const auto setup =
      make("n150", {"TT_LOGGER_LEVEL=INFO", "TT_METAL_CACHE=/home", "TT_METAL_SIMULATOR=/sim.so", "X=y"});
  ASSERT_TRUE(setup) << setup.error().message;
  const Environment& environment = setup->environment();
  EXPECT_EQ(environment.get("TT_LOGGER_LEVEL"), "INFO");
  EXPECT_EQ(environment.get("X"), "y");
  EXPECT_NE(environment.get("TT_METAL_CACHE"), "/home");
  EXPECT_EQ(environment.get("TT_METAL_SIMULATOR"), std::nullopt);
}

TEST_F(MockTest, NothingIsLeft) {
  std::string folder;
  {
    const auto setup = make("galaxy");
    ASSERT_TRUE(setup) << setup.error().message;
    folder = setup->folder();
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(library_.file("ttnn/tt_metal/x")));
}

TEST_F(MockTest, ADescriptorOfTheUsersOwnIsNamedWhereItLies) {
  const std::string mine = library_.write("mine.yaml", "arch: {0: blackhole}\n");
  EXPECT_EQ(make(mine)->environment().get("TT_METAL_MOCK_CLUSTER_DESC_PATH"), mine);
}

TEST_F(MockTest, ALibraryThatWasBuiltFromSourceIsNamedByItsOwnVariable) {
  library_.write("repo/tt_metal/built", "");
  library_.write("repo/runtime/hw/x", "");
  const auto setup = make("n150", {"TT_METAL_RUNTIME_ROOT=" + library_.file("repo")});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_TRUE(fs::exists(setup->folder() + "/root" + "/tt_metal/built"));
}

TEST_F(MockTest, ARootThatIsNoLibraryIsTheProgramsRepository) {
  provide_package();
  const auto setup = make("n150", {"TT_METAL_RUNTIME_ROOT=/my/models", "LOGURU_LEVEL=TRACE"});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_TRUE(fs::exists(setup->folder() + "/root" + "/tt_metal/x"));
  EXPECT_EQ(setup->environment().get("TT_METAL_RUNTIME_ROOT"), "/my/models");
  EXPECT_EQ(setup->environment().get("LOGURU_LEVEL"), "TRACE");
}

TEST_F(MockTest, TheRootIsNoVariableWhereOurPackageIs) {
  provide_package();
  const auto setup = make("n150", {"PYTHONPATH=/mine"});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->environment().get("TT_METAL_RUNTIME_ROOT"), std::nullopt);
  EXPECT_EQ(setup->environment().get("LOGURU_LEVEL"), std::nullopt);
  EXPECT_EQ(setup->environment().get("PYTHONPATH"), package_.file("python/bootstrap") + ":/mine");
  const auto exported = make("n150", {}, {.export_root = true});
  EXPECT_EQ(exported->environment().get("TT_METAL_RUNTIME_ROOT"), exported->folder() + "/root");
}

TEST_F(MockTest, WithoutOurPackageTheVariableLeadsToTheRoot) {
  setenv("OPWRIGHT_PYTHON", "/no/such/folder", 1);
  const auto setup = make("n150");
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->environment().get("TT_METAL_RUNTIME_ROOT"), setup->folder() + "/root");
  const auto stubs = make("n150", {}, {.stub_device_trace = true});
  ASSERT_FALSE(stubs) << "nothing would put the stand-ins there";
  EXPECT_THAT(stubs.error().message, HasSubstr("OPWRIGHT_PYTHON=/no/such/folder"));
}

TEST_F(MockTest, StandInsAreForThisRunOnly) {
  provide_package();
  EXPECT_EQ(make("n150", {}, {.stub_device_trace = true})->environment().get("OPWRIGHT_MOCK_STUBS"), "device-trace");
  EXPECT_EQ(make("n150", {"OPWRIGHT_MOCK_STUBS=device-trace"})->environment().get("OPWRIGHT_MOCK_STUBS"), std::nullopt);
}

TEST_F(MockTest, CallsOfDeviceTracesAreCounted) {
  const auto setup = make("n150");
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->device_trace_calls().captured, 0);
  ASSERT_TRUE(write_atomically(setup->folder() + "/device-traces", "bexxxrab?"));
  const DeviceTraceCalls calls = setup->device_trace_calls();
  EXPECT_EQ(calls.captured, 2);
  EXPECT_EQ(calls.replayed, 3);
  EXPECT_EQ(calls.released, 1);
  EXPECT_EQ(calls.asked_for, 1);
}

TEST_F(MockTest, AnotherThingThanALibraryIsRefused) {
  python_.ttnn_folder = "/usr";
  const auto setup = make("n150");
  ASSERT_FALSE(setup);
  EXPECT_THAT(setup.error().message, HasSubstr("no ttnn library as opwright knows it"));
}

}  // namespace
}  // namespace opwright::launch
