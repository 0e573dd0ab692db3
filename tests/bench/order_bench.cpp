// What the order of a run is worth, in virtual time: the cases of a store start as `opwright run` starts them, and each
// takes what it was estimated at, times a chance factor as wide as estimates are wrong.
//
//   opwright vectors --format jsonl | order_bench [WORKERS [SEED]]      prints what a run prints of its order
//
// So it says what the order does on any machine; how long a real run takes is what `./x bench run --order` measures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "device/device.h"
#include "exec/budget.h"
#include "exec/case_line.h"
#include "exec/case_spool.h"
#include "exec/run_order.h"
#include "exec/seen_early.h"
#include "exec/size_class.h"
#include "exec/traced_board.h"

namespace {

using namespace opwright;

// Nine of ten take 0.55 to 3.5 times the estimate (exec/size_class.cpp).
constexpr double kMiddle = 0.1;
constexpr double kWide = 0.55;
constexpr std::int64_t kMemory = std::int64_t{16} << 30;

bool read_cases(CaseSpool& spool) {
  std::string line;
  const Board usual = *find_board("n300");
  while (std::getline(std::cin, line)) {
    json::Document document;
    const auto vector = document.parse(line);
    const auto config = vector ? parse_case(std::string((*vector)->string_field("case").value_or("")))
                               : Result<OpConfig>(fail(ErrorCode::kBadInput, "no JSON: " + line));
    if (!config) {
      std::fprintf(stderr, "order_bench: %s\n", config.error().message.c_str());
      return false;
    }
    const json::Node* calls = (*vector)->find("calls");
    const CaseEstimate cost = estimate(
        *config, traced_board((*vector)->string_field("machine").value_or("")).value_or(usual), CostModel::kSimulated);
    const Status added =
        spool.append("{}", {.bytes = cost.bytes,
                            .weight = calls == nullptr ? std::int64_t{0} : std::stoll(std::string(calls->text)),
                            .op = spool.op_id(config->op),
                            .seconds = static_cast<float>(cost.seconds),
                            .features = cost.features});
    if (!added) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::stoi(argv[1]) : 2;
  std::mt19937_64 random(argc > 2 ? std::stoull(argv[2]) : 1);
  auto spool = CaseSpool::create();
  if (!spool || !read_cases(*spool)) return 3;
  const auto cases = spool->cases();
  const CoverageOrder order = coverage_order(cases);
  SeenEarly seen(cases, order.order);
  RunQueue queue(cases, order.order, {.cap = kMemory, .jobs = workers, .opening = order.opening});
  std::lognormal_distribution<double> factor(kMiddle, kWide);
  struct Running {
    double end = 0;
    double seconds = 0;
    std::uint32_t index = 0;
  };
  std::vector<Running> running;
  double now = 0;
  while (!queue.empty() || !running.empty()) {
    while (std::ssize(running) < workers) {
      const auto index = queue.next();
      if (!index) break;
      const double took = static_cast<double>(cases[*index].seconds) * factor(random);
      running.push_back({now + took, took, *index});
    }
    const auto first = std::ranges::min_element(running, {}, &Running::end);
    now = first->end;
    seen.ended(first->index, now, first->seconds);
    queue.ended(first->index);
    running.erase(first);
  }
  std::fputs(seen.text(now, workers, true).c_str(), stdout);
  return 0;
}
