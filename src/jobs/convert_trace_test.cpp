#include "jobs/convert_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/test_folder.h"
#include "format/native/native_trace.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

format::Conversion converted(const ConvertOptions& options) {
  const auto done = convert_trace(options);
  EXPECT_TRUE(done) << done.error().message;
  return done ? *done : format::Conversion();
}

TEST(ConvertTrace, EveryFormatBecomesEveryOther) {
  const TestFolder folder;
  std::size_t number = 0;
  for (const char* name : {"native/mlp.opwt.zst", "per_op/per_test", "jsonl/ops.jsonl"}) {
    const std::string input = fixture_path(name);
    const auto as_native =
        converted({.input = input, .to = TraceFormat::kNative, .output = folder.file(std::to_string(++number))});
    EXPECT_GT(as_native.calls, 4) << name;
    const auto trace = format::NativeTrace::open(folder.file(std::to_string(number)));
    EXPECT_TRUE(trace) << name;
    for (const TraceFormat to : {TraceFormat::kPerOp, TraceFormat::kJsonl}) {
      const auto done = converted({.input = input, .to = to, .output = folder.file(std::to_string(++number))});
      EXPECT_LE(done.calls, as_native.calls) << name;
      EXPECT_GT(done.calls, 3) << name;
      EXPECT_TRUE(fs::exists(folder.file(std::to_string(number)))) << name;
    }
  }
}

TEST(ConvertTrace, LinesGoWhereTheCallerTakesThem) {
  std::string lines;
  ConvertOptions options{.input = fixture_path("native/mlp.opwt.zst"), .to = TraceFormat::kJsonl};
  options.write = [&](std::string_view more) -> Status {
    lines += more;
    return {};
  };
  const auto done = converted(options);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), static_cast<std::ptrdiff_t>(done.calls));
}

TEST(ConvertTrace, ACallerThatCannotTakeMoreStopsIt) {
  ConvertOptions options{.input = fixture_path("native/mlp.opwt.zst"), .to = TraceFormat::kJsonl};
  options.write = [](std::string_view) -> Status { return fail(ErrorCode::kIo, "full"); };
  const auto done = convert_trace(options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
}

TEST(ConvertTrace, WhatHasNoPlaceIsCounted) {
  const TestFolder folder;
  const auto done = converted(
      {.input = fixture_path("native/tiny_llm.opwt"), .to = TraceFormat::kJsonl, .output = folder.file("ops.jsonl")});
  EXPECT_TRUE(done.dropped.contains("outcomes of tests"));
  EXPECT_TRUE(done.dropped.contains("calls that never ended"));
}

TEST(ConvertTrace, WhatIsNoTraceOfCallsIsRefusedAndLeavesNothing) {
  const TestFolder folder;
  const std::string out = folder.file("out");
  for (const std::string& input : {fixture_path("demo/tiny_llm.json"), fixture_path("no/such/file")}) {
    EXPECT_FALSE(convert_trace({.input = input, .output = out})) << input;
  }
  EXPECT_EQ(convert_trace({.input = fixture_path("demo/tiny_llm.json"), .output = out}).error().code,
            ErrorCode::kNotATrace);
  EXPECT_EQ(convert_trace({.input = fixture_path("native"), .output = out}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(TrimTrace, KeepsWhatIsAskedForAndSaysHowMuch) {
  const TestFolder folder;
  TrimOptions options{.input = fixture_path("native/mlp.opwt.zst"), .output = folder.file("part.opwt")};
  options.filter.ops = {"ttnn.linear"};
  const auto done = trim_trace(options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GT(done->calls.kept, 0U);
  EXPECT_LT(done->bytes, done->bytes_before);
  EXPECT_EQ(done->bytes, static_cast<std::int64_t>(fs::file_size(options.output)));
  const auto again = trim_trace({.input = options.output, .output = options.output, .filter = options.filter});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace opwright::jobs
