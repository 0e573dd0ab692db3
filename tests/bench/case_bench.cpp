// What the time of real cases goes to: device, reference, judge and each check, in one process.
//
//   opwright vectors --format jsonl | case_bench      prints one JSON object an operation, and one of all
//
// Processor seconds. Each line is an object with `case` and `machine`, the board that it was traced on.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <string>

#include "base/json.h"
#include "base/large_memory.h"
#include "device/device.h"
#include "exec/case_line.h"
#include "exec/run_case.h"
#include "exec/traced_board.h"

namespace {

using namespace opwright;

struct Spent {
  std::size_t cases = 0;
  std::size_t judged = 0;
  std::size_t looked_twice = 0;
  double all = 0;
  CaseTimes times;

  void add(const CaseResult& result, double seconds) {
    ++cases;
    judged += result.verdicts.empty() ? 0 : 1;
    looked_twice += result.times.whole > 0 ? 1 : 0;
    all += seconds;
    times.data += result.times.data;
    times.device += result.times.device;
    times.reference += result.times.reference;
    times.judge += result.times.judge;
    times.blind += result.times.blind;
    times.whole += result.times.whole;
  }
  void print(const std::string& name) const {
    std::printf(
        R"({"operation": "%s", "cases": %zu, "judged": %zu, "looked_twice": %zu, "seconds": %.4f, "data": %.4f, "device": %.4f, )"
        R"("reference": %.4f, "judge": %.4f, "blind": %.4f, "whole": %.4f})"
        "\n",
        name.c_str(), cases, judged, looked_twice, all, times.data, times.device, times.reference, times.judge,
        times.blind, times.whole);
  }
};

}  // namespace

int main() {
  reuse_large_blocks();
  std::map<std::string, Spent> sums;
  Spent all;
  std::string line;
  while (std::getline(std::cin, line)) {
    json::Document document;
    const auto vector = document.parse(line);
    if (!vector) {
      std::fprintf(stderr, "case_bench: no JSON: %s\n", line.c_str());
      return 3;
    }
    const auto config = parse_case(std::string((*vector)->string_field("case").value_or("")));
    const auto board = traced_board((*vector)->string_field("machine").value_or(""));
    if (!config) {
      std::fprintf(stderr, "case_bench: %s\n", config.error().message.c_str());
      return 3;
    }
    const auto device = board ? open_device("sim", *board) : std::move(*open_device("sim:n150"));
    const std::clock_t start = std::clock();
    const CaseResult result = run_case(*config, *device, {});
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    sums[std::string((*vector)->string_field("operation").value_or(""))].add(result, seconds);
    all.add(result, seconds);
  }
  for (const auto& [name, sum] : sums) sum.print(name);
  all.print("all");
  return 0;
}
