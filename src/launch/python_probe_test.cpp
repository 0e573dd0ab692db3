#include "launch/python_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A folder of programs that is all of PATH.
class PythonProbeTest : public testing::Test {
 protected:
  std::string program(std::string_view name, std::string_view text = "#!/bin/sh\n") {
    std::string path = folder_.write(name, text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // One that answers as a Python would.
  std::string python(std::string_view name, std::string_view answers) {
    std::string text = "#!/bin/sh\necho a line of sitecustomize\n";
    for (std::size_t at = 0; at < answers.size();) {
      const std::size_t end = std::min(answers.find(' ', at), answers.size());
      text += "echo opwright-probe " + std::string(answers.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    return program(name, text);
  }
  Environment environment() const { return Environment({"PATH=" + folder_.path()}); }
  std::string chosen(const std::vector<std::string>& command) {
    const auto choice = choose_python(command, environment());
    return choice ? choice->argv.front() : choice.error().message;
  }
  TestFolder folder_;
};

TEST_F(PythonProbeTest, TheCommandMayBeAPython) {
  const std::string python3 = program("python3"), other = program("env/bin/python3.10");
  EXPECT_EQ(chosen({"python3", "x.py"}), python3);
  EXPECT_EQ(chosen({other, "x.py"}), other);
}

TEST_F(PythonProbeTest, AScriptNamesItInItsFirstLine) {
  program("python3");
  const std::string inner = program("env/bin/python");
  program("pytest", "#!" + inner + "\nimport x\n");
  EXPECT_EQ(chosen({"pytest", "tests"}), inner);
  program("long", "#!/bin/sh\n'''exec' \"" + inner + "\" \"$0\" \"$@\"\n' '''\n");
  EXPECT_EQ(chosen({"long"}), inner);
  program("long2", "#!/bin/sh\n'''exec' " + inner + " \"$0\" \"$@\"\n' '''\n");
  EXPECT_EQ(chosen({"long2"}), inner);
  program("by-env", "#!/usr/bin/env -S A=b python3 -u\n");
  EXPECT_EQ(chosen({"by-env"}), folder_.file("python3"));
}

TEST_F(PythonProbeTest, APythonMayStandBehindAnotherProgram) {
  const std::string python = program("python");
  program("python3");
  program("timeout");
  EXPECT_EQ(chosen({"timeout", "60", "python", "x.py"}), python);
}

TEST_F(PythonProbeTest, AToolThatChoosesIsAsked) {
  program("python3");
  const std::string uv = program("uv");
  EXPECT_THAT(choose_python({"uv", "run", "pytest", "-x"}, environment())->argv, ElementsAre(uv, "run", "python"));
  EXPECT_THAT(choose_python({"uv", "run", "--with", "x", "python3", "y.py"}, environment())->argv,
              ElementsAre(uv, "run", "--with", "x", "python3"));
}

TEST_F(PythonProbeTest, ElseTheOneOnPathIsMeant) {
  program("run.sh");
  EXPECT_THAT(chosen({"run.sh"}), HasSubstr("there is no Python on PATH"));
  const std::string python = program("python");
  EXPECT_EQ(chosen({"run.sh"}), python);
  const std::string python3 = program("python3");
  EXPECT_EQ(chosen({"run.sh"}), python3);
  EXPECT_EQ(chosen({}), python3);
  EXPECT_EQ(chosen({"pythonista"}), python3);
}

TEST_F(PythonProbeTest, AnswersAreReadAmongOtherLines) {
  const std::string path = python("python3",
                                  "version=3.10.13 executable=/x/python ttnn_version=0.81.1 "
                                  "ttnn_folder=/x/ttnn torch_version=2.7.0");
  const auto probe = probe_python({{path}, "test"}, environment());
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->version, "3.10.13");
  EXPECT_EQ(probe->executable, "/x/python");
  EXPECT_EQ(probe->ttnn_version, "0.81.1");
  EXPECT_EQ(probe->ttnn_folder, "/x/ttnn");
  EXPECT_EQ(probe->torch_version, "2.7.0");
  EXPECT_TRUE(check_ttnn(*probe));
}

TEST_F(PythonProbeTest, OneThatDoesNotAnswerIsAnError) {
  const auto probe = probe_python({{program("python3", "#!/bin/sh\necho broken >&2\nexit 4\n")}, ""}, environment());
  ASSERT_FALSE(probe);
  EXPECT_THAT(probe.error().message, HasSubstr("exit status 4: broken"));
}

TEST_F(PythonProbeTest, WithoutTtnnTheWayToGetItIsSaid) {
  const PythonProbe has_wheels{.executable = "/x/python", .version = "3.10.13"};
  EXPECT_THAT(check_ttnn(has_wheels).error().message, HasSubstr("/x/python -m pip install ttnn"));
  const PythonProbe has_none{.executable = "/x/python", .version = "3.11.7"};
  EXPECT_THAT(check_ttnn(has_none).error().message, HasSubstr("only for 3.10 and 3.12"));
  const PythonProbe bare{.executable = "/x/python", .version = "3.10.1", .ttnn_folder = "/y", .ttnn_is_package = false};
  EXPECT_THAT(check_ttnn(bare).error().message, HasSubstr("only a bare folder"));
}

TEST_F(PythonProbeTest, VersionsThatAreKnownNotToWorkAreRefused) {
  PythonProbe probe{
      .executable = "/x/python", .version = "3.10.13", .ttnn_version = "0.65.1", .ttnn_folder = "/x/ttnn"};
  EXPECT_THAT(check_ttnn(probe).error().message, HasSubstr("0.65.1"));
  for (const char* version : {"0.70.1", "0.81.1", "0.100.0", "1.0", "0.75.0.dev20260101", ""}) {
    probe.ttnn_version = version;
    EXPECT_TRUE(check_ttnn(probe)) << version;
  }
}

TEST_F(PythonProbeTest, WhenAnyPythonMayBeMeantOneWithTtnnIsTaken) {
  python("python3", "version=3.11.2 executable=/usr/bin/python3");
  python("python", "version=3.10.13 executable=/x/python ttnn_version=0.81.1 ttnn_folder=/x/ttnn");
  const auto any = find_ttnn({}, environment());
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_EQ(any->executable, "/x/python");
  const auto told = find_ttnn({"python3", "x.py"}, environment());
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message, HasSubstr("there is no ttnn in /usr/bin/python3"));
}

TEST_F(PythonProbeTest, ARealPythonUnderstandsTheQuestion) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  folder_.write("ttnn/__init__.py", "raise SystemExit('was imported')\n");
  const auto probe = probe_python({{"/usr/bin/python3"}, ""}, Environment({"PYTHONPATH=" + folder_.path()}));
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_TRUE(probe->version.starts_with("3."));
  EXPECT_EQ(probe->ttnn_folder, folder_.file("ttnn"));
}

TEST_F(PythonProbeTest, AProbeSeesNoneOfTheVariablesThatLeadToCode) {
  const std::string path = program("python3",
                                   "#!/bin/sh\necho \"opwright-probe version=$PYTHONPATH$PYTHONSTARTUP$PYTHONWARNINGS|"
                                   "$PYTHONHOME|$OPWRIGHT_PROBE_PATH\"\n");
  const auto probe = probe_python({{path}, ""}, Environment({"PYTHONPATH=/a:", "PYTHONSTARTUP=/b", "PYTHONWARNINGS=x",
                                                             "PYTHONHOME=/home", "PATH=/usr/bin:/bin"}));
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->version, "|/home|/a:");
}

TEST_F(PythonProbeTest, OfOurOwnChoiceIsOnlyWhatAnAbsolutePathLeadsTo) {
  const std::string python3 = program("python3");
  const std::string here = std::filesystem::relative(folder_.path()).string();
  for (const std::string& path : {std::string(""), std::string("."), here, ":" + here + ":./"})
    EXPECT_EQ(find_installed("python3", Environment({"PATH=" + path})), std::nullopt) << path;
  EXPECT_EQ(find_installed("python3", Environment({"PATH=:.:" + here + ":" + folder_.path()})), python3);
}

TEST_F(PythonProbeTest, OptionsThatKeepPythonFromOurPackage) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"python", "-I", "x.py"}, Words{"/x/python3.10", "-uE"}, Words{"python", "-X", "dev", "-S"},
        Words{"python", "-Wall", "-I"}, Words{"python", "--check-hash-based-pycs", "never", "-I"}})
    EXPECT_TRUE(is_isolated_python(words)) << words.back();
  for (const Words& words : {Words{}, Words{"python"}, Words{"python", "x.py", "-I"}, Words{"python", "-c", "-I"},
                             Words{"python", "-m", "pytest", "-I"}, Words{"python", "-X", "-I"}, Words{"python", "-WI"},
                             Words{"python", "-", "-I"}, Words{"python", "-s", "x"}, Words{"bash", "-I"}})
    EXPECT_FALSE(is_isolated_python(words)) << (words.empty() ? "nothing" : words.back());
}

}  // namespace
}  // namespace opwright::launch
