// What the recorder costs a C++ program: nanoseconds of processor time a call (this thread's), bytes a call, memory.
//
//   capture_bench off|repeat|first|many|keep CALLS FOLDER     one JSON object on standard output
//
// `keep` leaves the trace of repeated calls where it is, for whoever measures reading one.
#include <opwright/capture.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

long resident_kib() {
  FILE* file = std::fopen("/proc/self/statm", "r");
  long pages = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

// A matrix product with two tensors, three keyword arguments and a result, as a hook would describe it.
__attribute__((noinline)) void one_call(std::uint64_t i, std::uint32_t spec, double alpha) {
  opwright_call* call = opwright_begin("bench.matmul");
  if (__builtin_expect(call != nullptr, 0)) {
    const opwright_tensor a{1000 + i, 0, 7, 4096, 0, spec}, b{5, 1, 8, 8192, 0, spec},
        c{1001 + i, 0, 9, 1 << 20, 0, spec};
    opwright_arg(call, nullptr);
    opwright_put_tensor(call, &a);
    opwright_arg(call, nullptr);
    opwright_put_tensor(call, &b);
    opwright_arg(call, "transpose_b");
    opwright_put_bool(call, 1);
    opwright_arg(call, "alpha");
    opwright_put_float(call, alpha);
    opwright_arg(call, "fidelity");
    opwright_put_enum(call, "MathFidelity", "HiFi4");
    opwright_run(call);
    opwright_put_tensor(call, &c);
    opwright_end(call);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: capture_bench off|repeat|first|many|keep CALLS FOLDER\n", stderr);
    return 2;
  }
  const std::string mode = argv[1];
  const std::uint64_t calls = std::strtoull(argv[2], nullptr, 10);
  std::uint32_t spec = 0;
  if (mode != "off") {
    opwright_options options = OPWRIGHT_OPTIONS;
    options.folder = argv[3];
    char message[512];
    if (opwright_open(&options, message, sizeof message) != 0) {
      std::fprintf(stderr, "%s\n", message);
      return 3;
    }
    opwright_call* value = opwright_value();
    opwright_put_struct(value, "Tensor", 1);
    opwright_put_field(value, "shape");
    opwright_put_list(value, 2);
    opwright_put_int(value, 32);
    opwright_put_int(value, 64);
    spec = opwright_keep(value);
  }
  const double warm = mode == "first" ? 0.5 : 1.0;
  for (std::uint64_t i = 0; i < 1000; ++i) one_call(i, spec, warm);
  const long before = resident_kib();
  const double begin = thread_seconds();
  if (mode == "first") {
    for (std::uint64_t i = 0; i < calls; ++i) one_call(i, spec, static_cast<double>(i));
  } else {
    for (std::uint64_t i = 0; i < calls; ++i) one_call(i, spec, 1.0);
  }
  const double seconds = thread_seconds() - begin;
  const long grown = resident_kib() - before;
  const std::string path = opwright_path();
  opwright_close();
  struct stat info{};
  if (!path.empty()) ::stat(path.c_str(), &info);
  std::printf(
      "{\"mode\": \"%s\", \"calls\": %llu, \"ns_per_call\": %.3f, \"bytes_per_call\": %.1f, \"grown_kib\": %ld}\n",
      mode.c_str(), static_cast<unsigned long long>(calls), seconds * 1e9 / static_cast<double>(calls),
      static_cast<double>(info.st_size) / static_cast<double>(calls), grown);
  if (!path.empty() && mode != "keep") ::unlink(path.c_str());
  return 0;
}
