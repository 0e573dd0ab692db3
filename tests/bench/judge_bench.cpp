// How fast the judge is on one core, by error budget and dtype: prints one JSON object a line.
//
//   judge_bench [MILLIONS_OF_ELEMENTS [TURNS [WORD]]]     default: 16, and 7 turns; WORD: only what has it in its name
//
// `gb_per_s` counts the actual values as float32 (4 bytes an element). `read_gb_per_s` is what a plain loop over the
// same buffers does in the same turn, counted the same way: the limit that memory sets. `of_reading` is their ratio.
// Figures are medians over the turns; a turn measures each of them once, so that a busy neighbour disturbs all alike.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/vectorised.h"
#include "compare/judge.h"
#include "model/value.h"
#include "ops/shared/activation.h"

namespace {

using namespace opwright;

constexpr std::int64_t kRow = 1024;

void keep(double value) {
  volatile double sink = value;
  static_cast<void>(sink);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Processor time: what one core does, whatever else the machine is busy with.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The least that a judge must do: every byte passes the core once.
[[gnu::always_inline]] inline std::uint64_t read_all_loop(const std::uint64_t* words, std::size_t n) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < n; ++i) all ^= words[i];
  return all;
}
OPWRIGHT_VECTORISED(std::uint64_t, read_all, (const std::uint64_t* words, std::size_t n), (words, n))

template <class T>
void read(std::span<const T> values) {
  keep(static_cast<double>(read_all(reinterpret_cast<const std::uint64_t*>(values.data()),
                                    values.size() * sizeof(T) / sizeof(std::uint64_t))));
}

struct Subject {
  std::string name;
  const HostTensor* actual;
  std::span<const double> exact;
  std::span<const double> magnitude;
  ErrorBudget budget;
  SameChoice same_choice = {};
  std::span<const double> before = {};
  EachOf after = {};
  std::vector<double> read_seconds = {};
  std::vector<double> judge_seconds = {};
  std::string outcome = {};
};

void turn(Subject& subject) {
  subject.read_seconds.push_back(seconds([&] {
    read(std::span<const float>(subject.actual->floats));
    read(std::span<const std::int64_t>(subject.actual->ints));
    read(subject.exact);
    read(subject.magnitude);
    read(subject.before);
  }));
  subject.judge_seconds.push_back(seconds([&] {
    const Verdict verdict = judge({.wanted = subject.actual->spec,
                                   .actual = *subject.actual,
                                   .budget = subject.budget,
                                   .value = subject.exact,
                                   .magnitude = subject.magnitude,
                                   .before = subject.before,
                                   .after = subject.after,
                                   .same_choice = subject.same_choice});
    subject.outcome = name_of(verdict.outcome);
    keep(verdict.metrics.pcc);
  }));
}

void print(const Subject& subject) {
  const double bytes = 4.0 * static_cast<double>(subject.exact.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < subject.read_seconds.size(); ++i)
    ratios.push_back(subject.read_seconds[i] / subject.judge_seconds[i]);
  std::printf(
      R"({"bench": "judge %s", "elements": %zu, "outcome": "%s", "cpu_seconds": %.4f, "gb_per_s": %.3f, "read_gb_per_s": %.2f, "of_reading": %.3f})"
      "\n",
      subject.name.c_str(), subject.exact.size(), subject.outcome.c_str(), median(subject.judge_seconds),
      bytes / median(subject.judge_seconds) / 1e9, bytes / median(subject.read_seconds) / 1e9, median(ratios));
}

HostTensor tensor_of(std::size_t elements, DType dtype) {
  HostTensor tensor;
  tensor.spec.shape = {static_cast<std::int64_t>(elements) / kRow, kRow};
  tensor.spec.dtype.value = dtype;
  return tensor;
}

// A number that bfloat16 holds, near this one.
float cut(double value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xFFFF0000u);
}

// A function behind what is judged, as references hand it over.
struct Fused {
  Fused(const char* function, std::span<const double> before, const HostTensor& given) : name(function), actual(given) {
    const Value argument{name};
    Exact exact;
    exact.value.assign(before.begin(), before.end());
    apply_after(*exact_activations(&argument, "activation"), exact);
    value = std::move(exact.value);
    after = std::move(exact.after);
    std::vector<double> values(actual.floats.begin(), actual.floats.end());
    after(values);
    std::ranges::transform(values, actual.floats.begin(), cut);
  }
  std::string name;
  HostTensor actual;
  std::vector<double> value;
  EachOf after;
};

ErrorBudget budget_of(ErrorBudget::Kind kind) {
  ErrorBudget budget;
  budget.kind = kind;
  budget.ulps = 4;
  budget.terms = 1024;
  budget.accumulator_bits = 8;
  return budget;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 16;
  const std::size_t turns = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 7;
  const std::size_t n = std::clamp<std::size_t>(millions, 1, 4096) * 1'048'576;
  std::vector<double> exact(n);
  std::vector<double> magnitude(n);
  std::vector<double> held(n);
  std::vector<double> whole(n);
  HostTensor fp32 = tensor_of(n, DType::kFloat32);
  HostTensor bf16 = tensor_of(n, DType::kBfloat16);
  HostTensor moved = tensor_of(n, DType::kBfloat16);
  HostTensor int32 = tensor_of(n, DType::kInt32);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    exact[i] = static_cast<double>(state >> 40) * 0x1p-23 - 1.0;
    magnitude[i] = 20 + std::abs(exact[i]);
    fp32.floats.push_back(static_cast<float>(exact[i] * (1 + static_cast<double>(state & 7) * 0x1p-25)));
    bf16.floats.push_back(cut(exact[i] * (1 + 0x1p-8)));
    moved.floats.push_back(cut(exact[i]));
    held[i] = static_cast<double>(moved.floats.back());
    int32.ints.push_back(static_cast<std::int64_t>(state >> 33));
    whole[i] = static_cast<double>(int32.ints.back());
  }
  HostTensor block = bf16;
  block.spec.dtype.value = DType::kBfloat8B;
  HostTensor moved_block = moved;
  moved_block.spec.dtype.value = DType::kBfloat8B;
  using Kind = ErrorBudget::Kind;
  ErrorBudget shared = budget_of(Kind::kElementwise);
  shared.common = 0.01;
  const SameChoice never = [](std::int64_t, double, double) { return false; };
  Fused relu("relu", exact, bf16), silu("silu", exact, bf16), gelu("gelu", exact, bf16);
  HostTensor narrow = bf16;
  narrow.spec.shape = {static_cast<std::int64_t>(n) / 32, 32};
  HostTensor single = bf16;
  single.spec.shape = {static_cast<std::int64_t>(n), 1};
  std::vector<Subject> subjects = {
      {"exact float32", &fp32, exact, {}, budget_of(Kind::kExact)},
      {"exact bfloat16", &moved, held, {}, budget_of(Kind::kExact)},
      {"exact bfloat8_b", &moved_block, held, {}, budget_of(Kind::kExact)},
      {"exact int32", &int32, whole, {}, budget_of(Kind::kExact)},
      {"selection bfloat16", &moved, held, {}, budget_of(Kind::kSelection)},
      {"selection int32", &int32, whole, {}, budget_of(Kind::kSelection), never},
      {"elementwise float32", &fp32, exact, {}, budget_of(Kind::kElementwise)},
      {"elementwise bfloat16", &bf16, exact, {}, budget_of(Kind::kElementwise)},
      {"elementwise bfloat16, magnitudes", &bf16, exact, magnitude, budget_of(Kind::kElementwise)},
      {"elementwise bfloat16, by row", &bf16, exact, {}, shared},
      {"elementwise bfloat16, rows of 32", &narrow, exact, {}, shared},
      {"elementwise bfloat8_b", &block, exact, {}, budget_of(Kind::kElementwise)},
      {"contraction float32", &fp32, exact, magnitude, budget_of(Kind::kContraction)},
      {"contraction bfloat16", &bf16, exact, magnitude, budget_of(Kind::kContraction)},
      {"contraction bfloat16, rows of 32", &narrow, exact, magnitude, budget_of(Kind::kContraction)},
      {"contraction bfloat16, rows of 1", &single, exact, magnitude, budget_of(Kind::kContraction)},
      {"contraction bfloat16, no magnitudes", &bf16, exact, {}, budget_of(Kind::kContraction)},
      {"contraction bfloat8_b", &block, exact, magnitude, budget_of(Kind::kContraction)},
  };
  for (const Fused* fused : {&relu, &silu, &gelu})
    subjects.push_back({"contraction bfloat16, fused " + fused->name,
                        &fused->actual,
                        fused->value,
                        magnitude,
                        budget_of(Kind::kContraction),
                        {},
                        exact,
                        fused->after});
  if (argc > 3) std::erase_if(subjects, [&](const Subject& s) { return s.name.find(argv[3]) == std::string::npos; });
  for (std::size_t i = 0; i < turns; ++i)
    for (Subject& subject : subjects) turn(subject);
  for (const Subject& subject : subjects) print(subject);
  return 0;
}
