#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/test_folder.h"

namespace opwright {
namespace {

std::string script(const TestFolder& folder, std::string_view name, std::string_view text) {
  std::string path = folder.write(name, text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

Result<Captured> sh(const std::string& program, const CaptureOptions& options = {}) {
  return capture({"/bin/sh", "-c", program}, options);
}

TEST(Subprocess, OutputAndErrorAndStatusComeBack) {
  const auto done = sh("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
  EXPECT_EQ(done->status, 7);
}

TEST(Subprocess, ASignalIsAStatusAsInAShell) {
  const auto done = sh("kill -TERM $$");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 128 + SIGTERM);
}

TEST(Subprocess, MoreThanAPipeHoldsOnBothStreams) {
  const auto done =
      sh("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
         "echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->out.size(), 3000U * 41);
  EXPECT_EQ(done->err.size(), 3000U * 41);
}

TEST(Subprocess, WhatIsTooMuchIsDroppedAndTheProgramStillEnds) {
  const auto done = sh("i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done; exit 3", {.max_bytes = 10});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->out, "0123456789");
  EXPECT_EQ(done->status, 3);
}

TEST(Subprocess, TooLongIsAnErrorAndLeavesNoProcess) {
  const TestFolder folder;
  const auto done =
      capture({"/bin/sh", "-c", "echo $$ > " + folder.file("pid") + "; exec sleep 100"}, {.seconds = 0.5});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("no end within 0.5 s"), std::string::npos) << done.error().message;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was left";
}

TEST(Subprocess, TheEnvironmentIsExactlyTheOneGiven) {
  const auto done = capture({"/usr/bin/env"}, {.environment = std::vector<std::string>{"A=1", "B=x y"}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "A=1\nB=x y\n");
}

TEST(Subprocess, StandardInputIsEmpty) {
  const auto done = sh("cat; echo end");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "end\n");
}

TEST(Subprocess, AProgramThatIsNotThereIsAnError) {
  const auto done = capture({"/no/such/program"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound);
}

TEST(Subprocess, ProgramsAreFoundAsAShellFindsThem) {
  const TestFolder folder;
  script(folder, "b/tool", "#!/bin/sh\n");
  folder.write("a/tool", "not executable");
  std::filesystem::create_directories(folder.file("c/tool"));
  const std::string path = folder.file("c") + ":" + folder.file("a") + ":" + folder.file("b");
  EXPECT_EQ(find_program("tool", path), folder.file("b/tool"));
  EXPECT_EQ(find_program(folder.file("b/tool"), ""), folder.file("b/tool"));
  EXPECT_EQ(find_program(folder.file("a/tool"), path), std::nullopt);
  EXPECT_EQ(find_program("other", path), std::nullopt);
  EXPECT_EQ(find_program("", path), std::nullopt);
}

TEST(Subprocess, MoreDescriptorsHaveTheNumbersBehindStandardError) {
  int first[2], second[2];
  ASSERT_EQ(pipe(first), 0);
  ASSERT_EQ(pipe(second), 0);
  // In an order in which each would take the other's place.
  const std::string script = "read line <&3; echo \"got $line\" >&4";
  const auto child = spawn("/bin/sh", {"sh", "-c", script}, process_environment(), {.more = {first[0], second[1]}});
  ASSERT_TRUE(child) << child.error().message;
  close(second[1]);
  ASSERT_EQ(write(first[1], "this\n", 5), 5);
  char answer[64] = "";
  EXPECT_EQ(read(second[0], answer, sizeof answer - 1), 9);
  EXPECT_STREQ(answer, "got this\n");
  int status = -1;
  waitpid(*child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int descriptor : {first[0], first[1], second[0]}) close(descriptor);
}

}  // namespace
}  // namespace opwright
