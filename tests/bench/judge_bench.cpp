// How fast the judge is on one core: prints one JSON object a line.
//
//   judge_bench [MILLIONS_OF_ELEMENTS]     default: 64
//
// `gb_per_s` counts the bytes of the actual values as float32 (4 an element); `gb_per_s_read` counts all that is read:
// the exact values too (8 an element) and magnitudes (8).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "compare/judge.h"
#include "model/value.h"

namespace {

using namespace opwright;

// Processor time of the fastest of a few runs: what one core does, whatever else the machine is busy with.
double seconds(const std::function<void()>& work) {
  double best = 1e30;
  for (int turn = 0; turn < 5; ++turn) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void print(const std::string& name, std::size_t elements, double bytes_read, const std::function<void()>& work) {
  const double time = seconds(work);
  const double n = static_cast<double>(elements);
  std::printf(R"({"bench": "%s", "elements": %zu, "cpu_seconds": %.4f, "gb_per_s": %.2f, "gb_per_s_read": %.2f})"
              "\n",
              name.c_str(), elements, time, 4 * n / time / 1e9, bytes_read * n / time / 1e9);
}

void keep(double value) {
  volatile double sink = value;
  static_cast<void>(sink);
}

HostTensor tensor_of(const std::vector<float>& values, DType dtype) {
  HostTensor tensor;
  tensor.spec.shape = {static_cast<std::int64_t>(values.size() / 1024), 1024};
  tensor.spec.dtype.value = dtype;
  tensor.floats = values;
  return tensor;
}

void judge_as(const std::string& name, const HostTensor& actual, const std::vector<double>& exact,
              ErrorBudget::Kind kind, bool magnitudes) {
  ErrorBudget budget;
  budget.kind = kind;
  budget.ulps = 4;
  budget.terms = 1024;
  budget.accumulator_bits = 8;
  print(name, exact.size(), 4 + 8 + (magnitudes ? 8 : 0), [&] {
    const Verdict verdict =
        judge({.wanted = actual.spec,
               .actual = actual,
               .budget = budget,
               .value = exact,
               .magnitude = magnitudes ? std::span<const double>(exact) : std::span<const double>()});
    keep(verdict.metrics.pcc);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64;
  const std::size_t n = std::clamp<std::size_t>(millions, 1, 4096) * 1'048'576;
  std::vector<float> actual(n);
  std::vector<double> exact(n);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    exact[i] = static_cast<double>(state >> 40) * 0x1p-23 - 1.0;
    actual[i] = static_cast<float>(exact[i]) * (1.0F + static_cast<float>(state & 7) * 1e-7F);
  }
  const HostTensor fp32 = tensor_of(actual, DType::kFloat32);
  judge_as("judge elementwise fp32", fp32, exact, ErrorBudget::Kind::kElementwise, false);
  judge_as("judge exact fp32", fp32, exact, ErrorBudget::Kind::kExact, false);
  judge_as("judge contraction fp32", fp32, exact, ErrorBudget::Kind::kContraction, true);
  const HostTensor block = tensor_of(actual, DType::kBfloat8B);
  judge_as("judge elementwise bf8", block, exact, ErrorBudget::Kind::kElementwise, false);
  return 0;
}
