#include "jobs/perf_diff.h"

#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace opwright::jobs {

Result<PerfPair> read_perf_pair(const PerfRequest& a, const PerfRequest& b) {
  std::optional<Result<perf::Report>> second;
  std::exception_ptr thrown;
  std::thread reader([&] {
    try {
      second = read_perf(b);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  struct Join {
    std::thread& thread;
    ~Join() {
      if (thread.joinable()) thread.join();
    }
  } join{reader};
  Result<perf::Report> first = read_perf(a);
  reader.join();
  if (thrown) std::rethrow_exception(thrown);
  if (!first) return fail(std::move(first).error());
  if (!*second) return fail(std::move(*second).error());
  return PerfPair{std::move(*first), std::move(**second)};
}

}  // namespace opwright::jobs
