#include "launch/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void make_library(const TestFolder& folder) {
  folder.write("ttnn/__init__.py", "");
  folder.write("ttnn/tt_metal/kernel.cpp", "kernel");
  folder.write("ttnn/runtime/hw/lib.o", "object");
  folder.write("ttnn/runtime/sfpi/compiler/bin/riscv-tt-elf-g++", "the vendor's");
}

TEST(Overlay, EverythingIsALinkExceptTheCompiler) {
  const TestFolder folder;
  make_library(folder);
  const std::string compiler = folder.write("opwright", "program"), made = folder.file("overlay");
  const Status done = make_overlay(folder.file("ttnn"), made, compiler);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(content_of(made + "/tt_metal/kernel.cpp"), "kernel");
  EXPECT_TRUE(fs::is_symlink(made + "/tt_metal"));
  EXPECT_FALSE(fs::is_symlink(made + "/runtime"));
  EXPECT_EQ(content_of(made + "/runtime/hw/lib.o"), "object");
  EXPECT_EQ(content_of(made + "/runtime/sfpi/compiler/bin/riscv-tt-elf-g++"), "program");
}

TEST(Overlay, RemovingItLeavesTheLibrary) {
  const TestFolder folder;
  make_library(folder);
  ASSERT_TRUE(make_overlay(folder.file("ttnn"), folder.file("overlay"), folder.write("opwright", "")));
  fs::remove_all(folder.file("overlay"));
  EXPECT_EQ(content_of(folder.file("ttnn/tt_metal/kernel.cpp")), "kernel");
  EXPECT_EQ(content_of(folder.file("ttnn/runtime/sfpi/compiler/bin/riscv-tt-elf-g++")), "the vendor's");
}

TEST(Overlay, AFolderThatCannotBeMadeIsAnErrorWithAWayOut) {
  const TestFolder folder;
  make_library(folder);
  const Status done = make_overlay(folder.file("ttnn"), folder.write("file", "") + "/below", "/bin/true");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("set TMPDIR"));
}

TEST(Overlay, TheRootIsThePackageOfAWheelOrTheTopOfASourceTree) {
  const TestFolder folder;
  make_library(folder);
  EXPECT_EQ(*library_root(folder.file("ttnn")), folder.file("ttnn"));
  folder.write("repo/tt_metal/x", "");
  folder.write("repo/runtime/x", "");
  folder.write("repo/ttnn/ttnn/__init__.py", "");
  EXPECT_EQ(*library_root(folder.file("repo/ttnn/ttnn")), folder.file("repo"));
}

TEST(Overlay, AFolderThatIsNoLibraryIsRefused) {
  const TestFolder folder;
  folder.write("a/b/c/d/ttnn/__init__.py", "");
  const auto root = library_root(folder.file("a/b/c/d/ttnn"));
  ASSERT_FALSE(root);
  EXPECT_THAT(root.error().message, HasSubstr("there is no folder 'tt_metal' beside 'runtime'"));
}

}  // namespace
}  // namespace opwright::launch
