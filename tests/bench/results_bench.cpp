// How many results a second several clients add to a store, each a process with a run of its own, one result after the
// other as `opwright run` does. Prints one line of JSON.
//
//   results_bench STORE CLIENTS RESULTS
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "store/store.h"

namespace {

using Clock = std::chrono::steady_clock;

opwright::CaseRecord record_of(std::int64_t index) {
  opwright::CaseRecord record;
  record.index = index;
  record.vector = "0123456789abcdef";
  record.key = std::string(64, 'k');
  record.op = "ttnn.linear";
  record.line =
      "ttnn.linear(tensor([1,1,32,4096], BFLOAT16, TILE, DRAM), tensor([1,1,4096,4096], BFLOAT8_B, TILE, DRAM))";
  record.repeat = "opwright run --case '" + record.line + "' --seed 1";
  record.outcome = opwright::Outcome::kPassed;
  record.pcc = 0.99998;
  record.verdicts = R"([{"pcc":0.99998,"ulp":1.5,"passed":true}])";
  record.outputs = R"([{"shape":[1,1,32,4096],"dtype":"BFLOAT16"}])";
  return record;
}

int client(const std::string& store, int number, std::int64_t results) {
  const auto writer = opwright::store::open_results_writer(store, 60000);
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  opwright::RunRecord run;
  run.uid = "bench-" + std::to_string(getpid()) + "-" + std::to_string(number);
  run.status = "running";
  if (!(*writer)->begin(run)) return 1;
  for (std::int64_t i = 0; i < results; ++i) {
    if (const auto done = (*writer)->add(run.uid, record_of(i)); !done)
      return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;
  }
  return (*writer)->end(run.uid, "complete", "now") ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: results_bench STORE CLIENTS RESULTS\n");
    return 2;
  }
  const int clients = std::atoi(argv[2]);
  const std::int64_t results = std::atoll(argv[3]);
  const auto start = Clock::now();
  for (int i = 0; i < clients; ++i) {
    if (fork() == 0) _exit(client(argv[1], i, results));
  }
  int failed = 0;
  for (int i = 0; i < clients; ++i) {
    int status = 0;
    wait(&status);
    if (status != 0) ++failed;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("{\"clients\": %d, \"results\": %lld, \"failed\": %d, \"seconds\": %.3f, \"per_second\": %.0f}\n",
              clients, static_cast<long long>(results * clients), failed, seconds,
              static_cast<double>(results * clients) / seconds);
  return failed == 0 ? 0 : 1;
}
