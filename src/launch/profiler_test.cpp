#include "launch/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const Environment kPath({"PATH=/usr/bin:/bin"});

std::vector<std::string> behind_options(const std::vector<std::string>& command, std::string_view why) {
  const ProfilerRun run{.id = "id", .folder = "/out/id"};
  const auto words = profiled_command(command, {.why = std::string(why), .executable = "/venv/bin/python"}, run, kPath);
  if (!words) return {words.error().message};
  EXPECT_THAT(std::vector<std::string>(words->begin(), words->begin() + 12),
              ElementsAreArray({"/venv/bin/python", "-m", "tracy", "-p", "-r", "-o", "/out/id", "-n", "id",
                                "--check-exit-code", "--op-support-count", "10000"}));
  return {words->begin() + 12, words->end()};
}

TEST(Profiler, WordsAreQuotedForEachShellThatTakesThemApart) {
  EXPECT_THAT(behind_options({"sh", "a b", "it's"}, "python3 on PATH"),
              ElementsAreArray({"/usr/bin/sh", R"(''"'"'a b'"'"'')", R"(''"'"'it'"'"'"'"'"'"'"'"'s'"'"'')"}));
  EXPECT_THAT(behind_options({"sh", "a b", "$X"}, "first line of /usr/bin/sh"),
              ElementsAreArray({"/usr/bin/sh", "'a b'", "'$X'"}));
}

TEST(Profiler, PythonsBecomeFilesAndModules) {
  EXPECT_THAT(behind_options({"/bin/sh", "-m", "model", "x y"}, kCommandIsPython),
              ElementsAreArray({"-m", "model", "'x y'"}));
  EXPECT_THAT(behind_options({"/bin/sh", "model.py", "x"}, kCommandIsPython), ElementsAreArray({"model.py", "x"}));
  EXPECT_THAT(behind_options({"/bin/sh", "-c", "x"}, kCommandIsPython)[0], HasSubstr("cannot pass -c on"));
  EXPECT_THAT(behind_options({"/bin/sh"}, kCommandIsPython)[0], HasSubstr("without a program"));
}

TEST(Profiler, AFolderThatAShellWouldTakeApartIsRefused) {
  const auto words = profiled_command({"sh"}, {}, {.id = "id", .folder = "/a b/id"}, kPath);
  ASSERT_FALSE(words);
  EXPECT_THAT(words.error().message, HasSubstr("--output"));
}

TEST(Profiler, AReportIsFoundByTheNameOfItsRunAndNeverGuessed) {
  const TestFolder folder;
  const ProfilerRun run{.id = "run7", .folder = folder.path()};
  EXPECT_EQ(find_report(run).value_or("error"), "");
  const auto write = [&](const std::string& path) {
    const std::filesystem::path file = folder.path() + "/reports/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "x";
    return file.string();
  };
  const std::string old = write("2030/ops_perf_results_2030.csv");
  write("run7/2026/other.csv");
  EXPECT_EQ(find_report(run).value_or("error"), old);
  const std::string own = write("run7/2026/ops_perf_results_run7_2026.csv");
  EXPECT_EQ(find_report(run).value_or("error"), own);
  write("run7/2027/ops_perf_results_run7_2027.csv");
  const auto two = find_report(run);
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("2 reports of this run"));
}

TEST(Profiler, ThePythonThatTheProfilerStartsByNameIsThisOne) {
  Environment environment({"PATH=/usr/bin:/bin"});
  add_profiling(environment, {.executable = "/venv/bin/python"}, {.id = "id", .folder = "/out"});
  EXPECT_EQ(environment.get("PATH"), "/venv/bin:/usr/bin:/bin");
  EXPECT_EQ(environment.get("TT_METAL_DEVICE_PROFILER"), "1");
}

}  // namespace
}  // namespace opwright::launch
