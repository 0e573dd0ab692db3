// The recorder through its C functions, as a program would use it.
#include "opwright/capture.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "capture/scan_for_tests.h"

namespace {

using opwright::capture::kEndError;
using opwright::capture::kUnit;
using opwright::capture::State;
using opwright::capture::testing::Call;
using opwright::capture::testing::scan;
using opwright::capture::testing::Scanned;

class Capture : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/opwright-capture-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  void TearDown() override {
    opwright_close();
    std::filesystem::remove_all(folder_);
  }
  std::string open(opwright_options options = OPWRIGHT_OPTIONS) {
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

void call(const char* op, std::int64_t argument = 0, std::uint64_t tensor = 1) {
  opwright_call* call = opwright_begin(op);
  const opwright_tensor input{tensor, 0, 0, 0, 0, 0};
  opwright_arg(call, nullptr);
  opwright_put_tensor(call, &input);
  opwright_arg(call, "n");
  opwright_put_int(call, argument);
  opwright_run(call);
  opwright_end(call);
}

TEST_F(Capture, IsOffUntilItIsOpened) {
  EXPECT_EQ(opwright_recording(), 0);
  EXPECT_EQ(opwright_begin("x"), nullptr);
  call("x");  // every function takes the null call
  EXPECT_TRUE(traces().empty());
}

TEST_F(Capture, RecordsACallWithItsArgumentsAndResult) {
  const std::string path = open();
  opwright_call* spec = opwright_value();
  opwright_put_struct(spec, "Tensor", 1);
  opwright_put_field(spec, "shape");
  opwright_put_list(spec, 2);
  opwright_put_int(spec, 32);
  opwright_put_int(spec, -64);
  const opwright_tensor a{7, 3, 11, 4096, 0, opwright_keep(spec)};
  opwright_call* call = opwright_begin("lib.matmul");
  opwright_arg(call, nullptr);
  opwright_put_tensor(call, &a);
  opwright_arg(call, "alpha");
  opwright_put_float(call, 0.5);
  opwright_run(call);
  const opwright_tensor c{8, 0, 12, 8192, 7, a.spec};
  opwright_put_tensor(call, &c);
  opwright_freed(call, 7);
  opwright_end(call);
  opwright_close();

  const Scanned trace = scan(path);
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_EQ(trace.header.state, static_cast<std::uint32_t>(State::kClosed));
  EXPECT_EQ(trace.header.calls, 1U);
  ASSERT_EQ(trace.calls.size(), 1U);
  const Call& seen = trace.calls.begin()->second;
  EXPECT_TRUE(seen.finished);
  EXPECT_GE(seen.ended, seen.began);
  EXPECT_EQ(seen.tensors, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{7, 3}}));
  EXPECT_EQ(seen.results, std::vector<std::uint64_t>{8});
  EXPECT_EQ(seen.frees, std::vector<std::uint64_t>{0});
  const std::string& value = trace.values.at(seen.value);
  EXPECT_EQ(value[0], 'C');
  EXPECT_NE(value.find("alpha"), std::string::npos);
}

TEST_F(Capture, WritesAConfigurationOnce) {
  const std::string path = open();
  for (int i = 0; i < 1000; ++i) call("op", i % 3);
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.calls.size(), 1000U);
  EXPECT_EQ(trace.header.first_sightings, 3U);
  EXPECT_EQ(trace.values.size(), 3U + 1U + 1U);  // three configurations, the name, the empty context
}

TEST_F(Capture, KnowsWhoCalledWhom) {
  const std::string path = open();
  opwright_call* outer = opwright_begin("outer");
  opwright_run(outer);
  call("inner");
  opwright_end(outer);
  call("after");
  opwright_close();
  const Scanned trace = scan(path);
  ASSERT_EQ(trace.calls.size(), 3U);
  EXPECT_EQ(trace.calls.at(1).parent, 0U);
  EXPECT_EQ(trace.calls.at(2).parent, 1U);
  EXPECT_EQ(trace.calls.at(3).parent, 0U);
}

TEST_F(Capture, KeepsCallsThatFail) {
  const std::string path = open();
  opwright_call* failing = opwright_begin("op");
  opwright_run(failing);
  opwright_failed(failing, "RuntimeError", "no");
  opwright_end(failing);
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.header.errors, 1U);
  EXPECT_EQ(trace.calls.at(1).flags & kEndError, kEndError);
  EXPECT_NE(trace.values.at(trace.calls.at(1).error).find("RuntimeError"), std::string::npos);
}

TEST_F(Capture, ThreadsLoseNoCall) {
  const std::string path = open();
  constexpr int kThreads = 8, kCalls = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kCalls; ++i) call("op", (i * kThreads + t) % 100, static_cast<std::uint64_t>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.damaged, 0U);
  ASSERT_EQ(trace.calls.size(), std::size_t{kThreads} * kCalls);
  EXPECT_EQ(trace.calls.rbegin()->first, std::uint64_t{kThreads} * kCalls);  // numbers without a gap
  EXPECT_EQ(trace.header.calls, std::uint64_t{kThreads} * kCalls);
  for (const auto& [seq, seen] : trace.calls) {
    ASSERT_TRUE(seen.finished);
    ASSERT_EQ(trace.values.count(seen.value), 1U);
  }
}

TEST_F(Capture, ThreadsThatEndHandTheirChunkOn) {
  const std::string path = open();
  for (int t = 0; t < 200; ++t) std::thread([] { call("op"); }).join();
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.calls.size(), 200U);
  EXPECT_LT(std::filesystem::file_size(path), 8 * kUnit);
}

TEST_F(Capture, ClosesUnderThreadsThatGoOn) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = open();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&stop] {
        while (!stop.load()) call("op", 1);
      });
    }
    ::usleep(2000);
    opwright_close();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    const Scanned trace = scan(path);
    EXPECT_EQ(trace.damaged, 0U);
    EXPECT_EQ(trace.header.calls, trace.calls.size());
  }
}

TEST_F(Capture, CountsWhatItFilters) {
  opwright_options options = OPWRIGHT_OPTIONS;
  options.only = "lib.mat*,add";
  const std::string path = open(options);
  for (const char* op : {"lib.matmul", "lib.add", "lib.sub", "lib.sub", "other.add"}) call(op);
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.calls.size(), 3U);  // "add" stands for "lib.add" and "other.add"
  EXPECT_EQ(trace.header.calls_filtered, 2U);
  ASSERT_EQ(trace.counts.size(), 1U);
  EXPECT_EQ(trace.counts.begin()->second, 2U);
}

TEST_F(Capture, RecordsTheFirstCallsOnly) {
  opwright_options options = OPWRIGHT_OPTIONS;
  options.first = 10;
  const std::string path = open(options);
  for (int i = 0; i < 25; ++i) call("op");
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.calls.size(), 10U);
  EXPECT_EQ(trace.header.calls_filtered, 15U);
}

TEST_F(Capture, RecordsOnePhase) {
  opwright_options options = OPWRIGHT_OPTIONS;
  options.phase = "decode";
  const std::string path = open(options);
  call("op");
  opwright_phase("prefill");
  call("op");
  opwright_phase("decode");
  opwright_label("layer0");
  call("op");
  opwright_phase(nullptr);
  opwright_close();
  const Scanned trace = scan(path);
  ASSERT_EQ(trace.calls.size(), 1U);
  const std::string context = trace.values.at(trace.calls.begin()->second.context);
  EXPECT_NE(context.find("decode"), std::string::npos);
  EXPECT_NE(context.find("layer0"), std::string::npos);
}

TEST_F(Capture, MisuseStaysReadable) {
  const std::string path = open();
  opwright_call* wrong = opwright_begin("op");
  opwright_arg(wrong, nullptr);  // no value
  opwright_arg(wrong, "list");
  opwright_put_list(wrong, 3);
  opwright_put_int(wrong, 1);  // two more promised
  opwright_arg(wrong, "two");
  opwright_put_int(wrong, 1);
  opwright_put_int(wrong, 2);
  opwright_arg(wrong, nullptr);  // positional behind keyword
  opwright_put_int(wrong, 3);
  opwright_end(wrong);  // never run
  opwright_call* forgotten = opwright_begin("forgotten");
  opwright_run(forgotten);
  call("op");
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_EQ(trace.calls.size(), 3U);
  EXPECT_GE(trace.notes.size(), 3U);
  EXPECT_FALSE(trace.calls.at(2).finished);
}

TEST_F(Capture, KeepsContentsOncePerContent) {
  const std::string path = open();
  const std::vector<float> zeros(100'000, 0.0F);
  const std::vector<std::int32_t> ids = {1, 2, 3, 40'000};
  const std::vector<std::int32_t> same_bytes(100'000, 0);
  const std::int64_t zeros_shape[] = {100'000}, ids_shape[] = {2, 2};
  for (int i = 0; i < 3; ++i) {
    opwright_call* call = opwright_begin("op");
    opwright_run(call);
    opwright_data(call, 0, 0, "float32", zeros_shape, 1, zeros.data(), OPWRIGHT_CONTENT | OPWRIGHT_SKETCH);
    opwright_data(call, 1, 0, "int32", ids_shape, 2, ids.data(), OPWRIGHT_CONTENT);
    opwright_data(call, 3, 0, "int32", zeros_shape, 1, same_bytes.data(), OPWRIGHT_CONTENT);
    opwright_data(call, 2, 0, "strange", ids_shape, 2, ids.data(), OPWRIGHT_CONTENT);
    opwright_end(call);
  }
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_EQ(trace.blobs, 3U);  // the same bytes as another type are another content
  EXPECT_EQ(trace.data, 9U);
  EXPECT_EQ(trace.notes.size(), 3U);
}

TEST_F(Capture, SaysWhyAFolderCannotBeWritten) {
  const std::string file = folder_ + "/file";
  ASSERT_NE(::fclose(::fopen(file.c_str(), "w")), EOF);
  opwright_options options = OPWRIGHT_OPTIONS;
  const std::string below = file + "/below";
  options.folder = below.c_str();
  char message[512] = "";
  EXPECT_EQ(opwright_open(&options, message, sizeof message), -1);
  EXPECT_NE(std::string(message).find(below), std::string::npos) << message;
  EXPECT_NE(std::string(message).find("trace folder"), std::string::npos) << message;
  EXPECT_EQ(opwright_recording(), 0);
  call("op");
}

TEST_F(Capture, TwoTracesInOneFolderHaveTheirOwnNames) {
  const std::string first = open();
  opwright_close();
  const std::string second = open();
  opwright_close();
  EXPECT_NE(first, second);
  EXPECT_EQ(traces().size(), 2U);
}

TEST_F(Capture, StopsWhereTheTraceMayNotGrow) {
  opwright_options options = OPWRIGHT_OPTIONS;
  options.max_bytes = 4096 + 6 * kUnit;
  const std::string path = open(options);
  for (int i = 0; i < 100'000; ++i) call("op", i);
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_EQ(trace.header.state, static_cast<std::uint32_t>(State::kDiskFull));
  EXPECT_GT(trace.header.calls_lost, 0U);
  EXPECT_EQ(trace.calls.size() + trace.header.calls_lost, 100'000U);
}

// Runs `body` in a child process and returns how it ended.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(Capture, AFullDiskIsNoSignal) {
  const int status = in_child([this] {
    const rlimit limit{4096 + 5 * kUnit, 4096 + 5 * kUnit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    open();
    for (int i = 0; i < 100'000; ++i) call("op", i);
    opwright_close();
  });
  EXPECT_EQ(status, 0);
  const Scanned trace = scan(traces().at(0));
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_GT(trace.header.calls_lost, 0U);
}

TEST_F(Capture, AForkedChildWritesItsOwnTrace) {
  const std::string path = open();
  opwright_fact("model", "m");
  call("before");
  const int status = in_child([] {
    call("in_child");
    call("in_child");
    opwright_close();
  });
  EXPECT_EQ(status, 0);
  call("after");
  opwright_close();
  const Scanned parent = scan(path);
  EXPECT_EQ(parent.calls.size(), 2U);
  ASSERT_EQ(traces().size(), 2U);
  for (const std::string& other : traces()) {
    if (other == path) continue;
    const Scanned child = scan(other);
    EXPECT_EQ(child.calls.size(), 2U);
    EXPECT_EQ(child.facts.count("model"), 1U);
    EXPECT_EQ(child.facts.count("forked_from"), 1U);
  }
}

TEST_F(Capture, AChildThatCallsNothingLeavesNoTrace) {
  const std::string path = open();
  call("before");
  EXPECT_EQ(in_child([] { opwright_close(); }), 0);
  EXPECT_EQ(traces().size(), 1U);
  call("after");
  opwright_close();
  EXPECT_EQ(scan(path).calls.size(), 2U);
}

TEST_F(Capture, AForkSeesNoThreadOfOurs) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a thread of its own";
#endif
  open();
  call("before");
  EXPECT_EQ(in_child([] {
              const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
              if (std::distance(begin(tasks), end(tasks)) != 1) ::_exit(1);
            }),
            0);
  for (int i = 0; i < 200'000; ++i) call("after", i);  // and the flush thread is there again
}

TEST_F(Capture, EndingWithoutCloseLosesNothing) {
  EXPECT_EQ(in_child([this] {
              open();
              for (int i = 0; i < 5000; ++i) call("op", i % 7);
            }),
            0);  // _exit
  const Scanned trace = scan(traces().at(0));
  EXPECT_EQ(trace.damaged, 0U);
  EXPECT_EQ(trace.calls.size(), 5000U);
  EXPECT_EQ(trace.header.state, static_cast<std::uint32_t>(State::kOpen));
}

TEST_F(Capture, ACrashShowsTheCallThatDidIt) {
  const int status = in_child([this] {
    open();
    call("fine");
    opwright_call* fatal = opwright_begin("fatal");
    opwright_run(fatal);
    ::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const Scanned trace = scan(traces().at(0));
  ASSERT_EQ(trace.calls.size(), 2U);
  EXPECT_TRUE(trace.calls.at(1).finished);
  EXPECT_FALSE(trace.calls.at(2).finished);
}

// Killed anywhere, every call that had returned is there and nothing is corrupt. OPWRIGHT_SLOW: 1,000 points.
TEST_F(Capture, SurvivesKillAtRandomPoints) {
  const int points = ::getenv("OPWRIGHT_SLOW") != nullptr ? 1000 : 60;
  std::mt19937 random(4);
  auto* done = static_cast<std::atomic<std::uint64_t>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::uint64_t recovered = 0;
  for (int point = 0; point < points; ++point) {
    done->store(0);
    const pid_t child = ::fork();
    if (child == 0) {
      open();
      std::vector<std::thread> threads;
      for (int t = 0; t < 2; ++t) {
        threads.emplace_back([done, t] {
          for (std::int64_t i = 0;; ++i) {
            call("op", i % 1000 + t);
            done->fetch_add(1);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    ::usleep(1000 + random() % 12'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::vector<std::string> left = traces();
    if (left.empty()) continue;  // killed before the file was made
    const Scanned trace = scan(left.at(0));
    if (trace.header.magic[0] == 0) {  // killed before the header was whole: no call had begun
      ASSERT_EQ(done->load(), 0U);
      std::filesystem::remove(left.at(0));
      continue;
    }
    ASSERT_EQ(trace.damaged, 0U) << "point " << point;
    ASSERT_GE(trace.calls.size(), done->load()) << "point " << point;
    for (const auto& [seq, seen] : trace.calls) ASSERT_EQ(trace.values.count(seen.value), 1U);
    recovered += trace.calls.size();
    std::filesystem::remove(left.at(0));
  }
  EXPECT_GT(recovered, 0U);
  ::munmap(done, 4096);
}

TEST_F(Capture, RecordsLessWhereItCostsTooMuch) {
  opwright_options options = OPWRIGHT_OPTIONS;
  options.max_overhead = 0.000001;
  const std::string path = open(options);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(900);
  std::uint64_t made = 0;
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 1000; ++i, ++made) call("op", i);
  }
  opwright_close();
  const Scanned trace = scan(path);
  EXPECT_EQ(trace.header.level, 3U);
  EXPECT_GE(trace.notes.size(), 3U);
  EXPECT_LT(trace.calls.size(), made);
  EXPECT_EQ(trace.calls.size() + trace.header.calls_thinned, made);
}

TEST_F(Capture, ChecksumsAreCrc32c) {
  EXPECT_EQ(opwright::capture::crc32c("123456789", 9), 0xe3069283U);
  const std::string text(1000, 'x');
  EXPECT_EQ(opwright::capture::crc32c(text.data(), text.size()),
            ~opwright::capture::detail::crc32c_portable(reinterpret_cast<const unsigned char*>(text.data()),
                                                        text.size(), ~0U));
}

}  // namespace
