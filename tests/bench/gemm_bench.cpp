// How fast the matrix engine's model is beside OpenBLAS's sgemm, in one run: one JSON line for each shape, thread
// count and fidelity. A fidelity of n phases is n passes of multiplications; `ratio` is OpenBLAS's rate over the
// model's rate for one pass (2 means half as fast), the median of turns in which both ran one after the other.
//
//   gemm_bench [--quick | M N K]
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "device/sim/gemm_kernel.h"
#include "model/quantize.h"

namespace {

using opwright::Fidelity;
using opwright::sim::Gemm;

struct ProblemSize {
  int m;
  int n;
  int k;
};
constexpr ProblemSize kSizes[] = {
    {512, 512, 512}, {2048, 3072, 4608}, {32, 4096, 4096}, {32768, 96, 64}, {1024, 1024, 2048}};
constexpr ProblemSize kQuickSizes[] = {{512, 512, 512}, {32, 4096, 1024}, {8192, 96, 64}};

// OpenBLAS, loaded by hand: it must be told the processor before it starts, because it misjudges new ones.
struct OpenBlas {
  using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                         const float* b, int ldb, float beta, float* c, int ldc);
  using SetThreads = void (*)(int);
  Sgemm sgemm = nullptr;
  SetThreads set_threads = nullptr;
};

OpenBlas load_openblas() {
  setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell", 0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);  // its threads would spin on for a while and take the cores from us
  OpenBlas blas;
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
    if (void* library = dlopen(name, RTLD_NOW)) {
      blas.sgemm = reinterpret_cast<OpenBlas::Sgemm>(dlsym(library, "cblas_sgemm"));
      blas.set_threads = reinterpret_cast<OpenBlas::SetThreads>(dlsym(library, "openblas_set_num_threads"));
      break;
    }
  }
  return blas;
}

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = opwright::round_bfloat16(normal(random));
  return values;
}

// One thread: processor time, so that other work on the machine does not count. More: the clock on the wall.
double now(int threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The median; null: not measured.
std::string number(const std::vector<double>& values) {
  return values.empty() ? "null" : fmt::format("{:.2f}", median(values));
}

template <class F>
double seconds_of(F f, int threads) {
  const double start = now(threads);
  f();
  return now(threads) - start;
}

void measure(const ProblemSize& size, int threads, const OpenBlas& blas) {
  const auto a = random_values(static_cast<std::size_t>(size.m) * static_cast<std::size_t>(size.k), 1);
  const auto b = random_values(static_cast<std::size_t>(size.k) * static_cast<std::size_t>(size.n), 2);
  std::vector<float> c(static_cast<std::size_t>(size.m) * static_cast<std::size_t>(size.n));
  const double work = 2.0 * size.m * size.n * size.k / 1e9;
  const auto run_blas = [&] {
    constexpr int kRowMajor = 101;
    constexpr int kNoTranspose = 111;
    blas.sgemm(kRowMajor, kNoTranspose, kNoTranspose, size.m, size.n, size.k, 1.0F, a.data(), size.k, b.data(), size.n,
               0.0F, c.data(), size.n);
  };
  if (blas.sgemm != nullptr) blas.set_threads(threads);
  opwright::set_threads(threads);
  for (const Fidelity fidelity : {Fidelity::kLoFi, Fidelity::kHiFi2, Fidelity::kHiFi3, Fidelity::kHiFi4}) {
    for (const bool fp32 : {false, true}) {
      Gemm job;
      job.m = size.m;
      job.n = size.n;
      job.k = size.k;
      job.a = a.data();
      job.lda = size.k;
      job.b = b.data();
      job.ldb = size.n;
      job.c = c.data();
      job.ldc = size.n;
      job.config.fidelity = fidelity;
      job.config.fp32_acc = fp32;
      job.config.l1_acc = true;
      const int passes = opwright::sim::engine::phases_of(fidelity);
      const auto run_model = [&] { opwright::sim::gemm(job); };
      // In turns: a machine that is slow for a while is so for both. The first turn warms up.
      std::vector<double> ours;
      std::vector<double> theirs;
      std::vector<double> ratios;
      double spent = 0;
      for (int turn = 0; turn < 8 || (turn < 100 && spent < 0.6); ++turn) {
        const double model = seconds_of(run_model, threads) / passes;
        const double other = blas.sgemm != nullptr ? seconds_of(run_blas, threads) : 0.0;
        if (turn == 0) continue;
        spent += model * passes + other;
        ours.push_back(work / model);
        if (other <= 0) continue;
        theirs.push_back(work / other);
        ratios.push_back(model / other);
      }
      std::printf(
          "{\"m\":%d,\"n\":%d,\"k\":%d,\"threads\":%d,\"fidelity\":\"%s\",\"fp32_acc\":%s,\"passes\":%d,"
          "\"openblas_gflops\":%s,\"model_gflops_per_pass\":%.1f,\"ratio\":%s}\n",
          size.m, size.n, size.k, threads, std::string(name_of(fidelity)).c_str(), fp32 ? "true" : "false", passes,
          number(theirs).c_str(), median(ours), number(ratios).c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const OpenBlas blas = load_openblas();
  if (blas.sgemm == nullptr) std::fprintf(stderr, "libopenblas not found: the model's rates alone\n");
  for (const int threads : {1, 2}) {
    if (argc == 4) {
      measure({std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])}, threads, blas);
    } else if (quick) {
      for (const ProblemSize& size : kQuickSizes) measure(size, threads, blas);
    } else {
      for (const ProblemSize& size : kSizes) measure(size, threads, blas);
    }
  }
}
