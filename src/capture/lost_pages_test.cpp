// A recorded program and its trace file, to which something happens.
#include "capture/lost_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "capture/scan_for_tests.h"
#include "opwright/capture.h"

namespace {

using opwright::capture::testing::scan;
using opwright::capture::testing::Scanned;

class LostPages : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/opwright-lost-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  void TearDown() override {
    opwright_close();
    std::filesystem::remove_all(folder_);
  }
  std::string open() const {
    opwright_options options = OPWRIGHT_OPTIONS;
    options.folder = folder_.c_str();
    char message[512] = "";
    EXPECT_EQ(opwright_open(&options, message, sizeof message), 0) << message;
    return opwright_path();
  }
  std::vector<std::string> traces() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) paths.push_back(entry.path());
    return paths;
  }
  std::string folder_;
};

void call(const char* op, std::int64_t argument = 0) {
  opwright_call* call = opwright_begin(op);
  opwright_arg(call, "n");
  opwright_put_int(call, argument);
  opwright_run(call);
  opwright_end(call);
}

// What `body` does to a process of its own: its exit status, or the negative number of the signal that ended it.
template <class Body>
int in_a_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void use_for_a_while() {
  for (int i = 0; i < 20'000; ++i) call("lib.add", i);
}

TEST_F(LostPages, AProgramOutlivesItsTruncatedTrace) {
  for (const off_t size : {0, 100, 4096, 5000, 70'000}) {
    SCOPED_TRACE(size);
    EXPECT_EQ(in_a_child([&] {
                const std::string path = open();
                use_for_a_while();
                if (::truncate(path.c_str(), size) != 0) ::_exit(2);
                use_for_a_while();
                for (int i = 0; i < 100; ++i) call("lib.after");
                if (opwright_path() == path) ::_exit(3);
                opwright_close();
              }),
              0);
    bool is_told = false;
    std::size_t after = 0;
    for (const std::string& path : traces()) {
      if (std::filesystem::file_size(path) < 4096) continue;
      const Scanned scanned = scan(path);
      for (const auto& [kind, text] : scanned.notes) {
        if (kind != "lost") continue;
        is_told = true;
        for (const auto& [seq, call] : scanned.calls) after += call.finished ? 1 : 0;
      }
    }
    EXPECT_TRUE(is_told);
    EXPECT_GE(after, 100U);
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(LostPages, ATraceThatCannotGoOnCostsTheProgramNothing) {
  EXPECT_EQ(in_a_child([&] {
              const std::string path = open();
              use_for_a_while();
              std::filesystem::remove_all(folder_);
              std::ofstream(folder_) << "in the way";
              const std::string held = "/proc/self/fd/";
              for (const auto& entry : std::filesystem::directory_iterator(held)) {
                std::error_code ignored;
                const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
                if (target.starts_with(path) && ::truncate(entry.path().c_str(), 0) != 0) ::_exit(2);
              }
              use_for_a_while();
              opwright_close();
            }),
            0);
}

// A page of the program's own that it lost: none of our business.
char* a_lost_page(const std::string& folder) {
  const std::string path = folder + "/own";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, 4096) != 0) ::_exit(2);
  auto* const page = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (::ftruncate(fd, 0) != 0) ::_exit(2);
  return page;
}

void leave_with_7(int) { ::_exit(7); }

TEST_F(LostPages, OtherBusErrorsGoWhereTheyWent) {
  const auto as_by_default = [] { std::signal(SIGBUS, SIG_DFL); };  // without the sanitizer's handler
  EXPECT_EQ(in_a_child([&] {
              as_by_default();
              open();
              *const_cast<volatile char*>(a_lost_page(folder_)) = 1;
            }),
            -SIGBUS);
  EXPECT_EQ(in_a_child([&] {
              as_by_default();
              open();
              ::kill(::getpid(), SIGBUS);
            }),
            -SIGBUS);
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGBUS, leave_with_7);
              open();
              *const_cast<volatile char*>(a_lost_page(folder_)) = 1;
            }),
            7);
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGBUS, SIG_IGN);
              open();
              ::kill(::getpid(), SIGBUS);
            }),
            0);
  // Put there after us: the recorder goes on top of it, and passes on to it.
  EXPECT_EQ(in_a_child([&] {
              as_by_default();
              const std::string path = open();
              std::signal(SIGBUS, leave_with_7);
              ::usleep(100'000);
              use_for_a_while();
              if (::truncate(path.c_str(), 0) != 0) ::_exit(2);
              use_for_a_while();
              *const_cast<volatile char*>(a_lost_page(folder_)) = 1;
            }),
            7);
}

// As Python's faulthandler: says something, puts back what it found, raises anew.
struct sigaction found_below{};
void put_back_and_raise(int number) {
  ::usleep(60'000);  // long enough for the flush thread to find the loss in the meantime
  ::sigaction(number, &found_below, nullptr);
  std::raise(number);
}

// The flush thread looks every 20 ms: in one of ten programs it would come at the right moment by chance.
TEST_F(LostPages, AHandlerThatCameOverOursDoesNotHearOfOurPages) {
  for (int program = 0; program < 10; ++program) {
    EXPECT_EQ(in_a_child([&] {
                const std::string path = open();
                for (int i = 0; i < 100; ++i) call("lib.add", i);
                ::usleep(50'000);  // spare chunks are reserved
                std::signal(SIGBUS, leave_with_7);
                ::usleep(500);
                if (::truncate(path.c_str(), 0) != 0) ::_exit(2);
                use_for_a_while();
              }),
              0);
  }
}

TEST_F(LostPages, ASignalThatIsRaisedAnewIsMendedAfterTheLossWasFound) {
  for (int program = 0; program < 10; ++program) {
    EXPECT_EQ(in_a_child([&] {
                const std::string path = open();
                for (int i = 0; i < 100; ++i) call("lib.add", i);
                ::usleep(50'000);
                call("lib.add");
                struct sigaction above{};
                above.sa_handler = put_back_and_raise;
                ::sigaction(SIGBUS, &above, &found_below);
                if (::truncate(path.c_str(), 0) != 0) ::_exit(2);
                use_for_a_while();
              }),
              0);
  }
}

TEST_F(LostPages, ASignalThatSomebodySendsReachesTheProgramThoughPagesAreLost) {
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGBUS, leave_with_7);
              const std::string path = open();
              for (int i = 0; i < 100; ++i) call("lib.add", i);
              ::usleep(50'000);  // spare chunks are reserved, and nobody touches them
              if (::truncate(path.c_str(), 0) != 0) ::_exit(2);
              ::kill(::getpid(), SIGBUS);
            }),
            7);
}

TEST_F(LostPages, ATraceIsItsOwnersAlone) {
  const std::string path = open();
  struct stat state{};
  ASSERT_EQ(::stat(path.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777U, 0600U);
}

TEST_F(LostPages, TheRunningTestIsInTheFirstPage) {
  const std::string path = open();
  opwright_test("test_a.py::test_that_dies");
  opwright_test_result("test_a.py::test_that_dies", "passed", 1);
  std::ifstream file(path, std::ios::binary);
  opwright::capture::Header header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  EXPECT_STREQ(header.running_test, "test_a.py::test_that_dies");
  opwright_test(std::string(2000, 'x').c_str());
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  EXPECT_EQ(std::string(header.running_test), std::string(sizeof header.running_test - 1, 'x'));
}

}  // namespace
