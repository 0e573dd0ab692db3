#include "exec/noise_canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>

namespace opwright {
namespace {

constexpr int kPieces = 100;
constexpr std::chrono::milliseconds kPause{2};  // between pieces, so that others get their turn as they would

double processor_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// About two milliseconds of arithmetic that the compiler cannot leave out.
void work() {
  volatile double sum = 0;
  for (int i = 1; i < 400'000; ++i) sum = sum + 1.0 / i;
}

// All and idle ticks of all cores since the machine was started; zeros where nobody tells.
std::pair<double, double> ticks() {
  std::ifstream file("/proc/stat");
  std::string line, word;
  if (!std::getline(file, line)) return {};
  std::istringstream in(line);
  in >> word;
  double all = 0, idle = 0, value = 0;
  for (int i = 0; i < 8 && in >> value; ++i) {  // guests are in the first ones already
    all += value;
    if (i == 3 || i == 4) idle += value;  // idle, waiting for a disk
  }
  return {all, idle};
}

}  // namespace

double Busyness::worst() const { return std::max({taken / kMostTaken, others / kMostOthers, spread / kMostSpread}); }

Busyness busyness_of(const CanaryPieces& pieces) {
  Busyness busy;
  if (pieces.wall.empty()) return busy;
  const double wall = std::accumulate(pieces.wall.begin(), pieces.wall.end(), 0.0);
  const double processor = std::accumulate(pieces.processor.begin(), pieces.processor.end(), 0.0);
  if (wall > 0) busy.taken = std::clamp(1 - processor / wall, 0.0, 1.0);
  std::vector<double> sorted = pieces.wall;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  if (median > 0) busy.spread = std::max(0.0, sorted[sorted.size() * 9 / 10] / median - 1);
  if (pieces.all_ticks > 0)
    busy.others = std::clamp((pieces.all_ticks - pieces.idle_ticks - pieces.own_ticks) / pieces.all_ticks, 0.0, 1.0);
  return busy;
}

Busyness listen_to_machine() {
  CanaryPieces pieces;
  const auto [all, idle] = ticks();
  const double own = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < kPieces; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
    work();
    pieces.processor.push_back(processor_seconds(CLOCK_THREAD_CPUTIME_ID) - processor);
    pieces.wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::this_thread::sleep_for(kPause);
  }
  const auto [all_now, idle_now] = ticks();
  pieces.all_ticks = all_now - all;
  pieces.idle_ticks = idle_now - idle;
  constexpr double kTicksASecond = 100;
  pieces.own_ticks = (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - own) * kTicksASecond;
  return busyness_of(pieces);
}

std::string too_busy(const Busyness& busy) {
  std::string out;
  const auto add = [&](double value, double most, std::string_view what) {
    if (value > most)
      out += fmt::format("{}{} {:.0f} % (at most {:.0f} %)", out.empty() ? "" : ", ", what, 100 * value, 100 * most);
  };
  add(busy.others, kMostOthers, "other processes use");
  add(busy.taken, kMostTaken, "a piece of work waited for a core");
  add(busy.spread, kMostSpread, "the same work took longer by");
  return out;
}

}  // namespace opwright
