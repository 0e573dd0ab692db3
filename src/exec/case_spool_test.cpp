#include "exec/case_spool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/test_folder.h"

namespace opwright {
namespace {

std::string job_of(std::size_t index) {
  return R"({"vector":"model_traced:)" + std::to_string(index) + R"(","line":")" + std::string(index % 900, 'x') +
         "\n\"}";
}

// Bytes of this process that are in memory now.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(CaseSpool, JobsComeBackByIndexInAnyOrder) {
  auto spool = CaseSpool::create();
  ASSERT_TRUE(spool.has_value());
  constexpr std::size_t kCases = 3000;  // more than one write
  for (std::size_t i = 0; i < kCases; ++i)
    ASSERT_TRUE(spool->append(job_of(i), {.bytes = static_cast<std::int64_t>(i)}).has_value());
  const auto waiting = spool->read(kCases - 1);  // not yet written
  ASSERT_TRUE(waiting.has_value()) << waiting.error().message;
  EXPECT_EQ(*waiting, job_of(kCases - 1));
  for (std::size_t i = 0; i < kCases; ++i) {
    const std::size_t index = i * 7919 % kCases;
    const auto job = spool->read(index);
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(*job, job_of(index));
    EXPECT_EQ(spool->cases()[index].bytes, static_cast<std::int64_t>(index));
  }
  ASSERT_TRUE(spool->append("", {}).has_value());
  EXPECT_EQ(*spool->read(kCases), "");
  EXPECT_EQ(spool->read(kCases + 1).error().code, ErrorCode::kNotFound);
}

TEST(CaseSpool, AnOperatorHasOneId) {
  auto spool = CaseSpool::create();
  const std::uint32_t add = spool->op_id("ttnn.add");
  EXPECT_NE(spool->op_id("ttnn.linear"), add);
  CaseSpool moved = std::move(*spool);
  EXPECT_EQ(moved.op_id("ttnn.add"), add);
  EXPECT_EQ(moved.op_name(add), "ttnn.add");
  EXPECT_EQ(moved.ops(), 2U);
}

TEST(CaseSpool, LeavesNoFileBehind) {
  const TestFolder folder;
  auto spool = CaseSpool::create(folder.path());
  ASSERT_TRUE(spool.has_value());
  ASSERT_TRUE(spool->append(std::string(1 << 20, 'x'), {}).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CaseSpool, AFolderThatIsNotThereIsNamed) {
  const auto spool = CaseSpool::create("/nowhere/at/all");
  ASSERT_FALSE(spool.has_value());
  EXPECT_EQ(spool.error().code, ErrorCode::kIo);
  EXPECT_NE(spool.error().message.find("/nowhere/at/all"), std::string::npos);
  EXPECT_NE(spool.error().message.find("TMPDIR"), std::string::npos);
}

TEST(CaseSpool, AFullDiskIsAnErrorThatSaysWhatToDo) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  auto spool = CaseSpool::create();
  ASSERT_TRUE(spool.has_value());
  rlimit small = old;
  small.rlim_cur = 100'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status;
  for (int i = 0; i < 1000 && status; ++i) status = spool->append(std::string(1000, 'x'), {});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_NE(status.error().message.find("File too large"), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("--shard"), std::string::npos);
}

TEST(CaseSpool, AMillionCasesTakeLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed";
#endif
  const std::size_t count = std::getenv("OPWRIGHT_SLOW") != nullptr ? 1'000'000 : 100'000;
  auto spool = CaseSpool::create();
  const std::int64_t before = resident_bytes();
  const std::string job(900, 'x');
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(spool->append(job, {}).has_value());
  const std::int64_t planned = resident_bytes();
  for (std::size_t i = 0; i < count; i += 10) ASSERT_TRUE(spool->read(i * 7919 % count).has_value());
  const std::int64_t after = resident_bytes();
  EXPECT_EQ(spool->file_bytes(), count * job.size());
  EXPECT_LT(planned - before, static_cast<std::int64_t>(count) * 100 + (4 << 20));
  EXPECT_LT(after - planned, 4 << 20) << "reading jobs must not grow";
}

}  // namespace
}  // namespace opwright
