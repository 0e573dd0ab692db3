// Takes the place of cblas_sgemm in a program it is loaded into (LD_PRELOAD), records the call, and hands on to the
// real one. $OPWRIGHT_TRACE names the folder of the trace; without it nothing is recorded.
#include <dlfcn.h>
#include <opwright/capture.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

struct OpenAtStart {
  OpenAtStart() {
    opwright_options options = OPWRIGHT_OPTIONS;
    options.folder = std::getenv("OPWRIGHT_TRACE");
    if (options.folder == nullptr) return;
    char message[512];
    if (opwright_open(&options, message, sizeof message) != 0) std::fprintf(stderr, "opwright: %s\n", message);
  }
} open_at_start;

// The memory of a matrix stands for its identity: this library has no tensors of its own.
opwright_tensor matrix(const float* data, int rows, int columns) {
  opwright_call* spec = opwright_value();
  opwright_put_struct(spec, "Matrix", 2);
  opwright_put_field(spec, "shape");
  opwright_put_list(spec, 2);
  opwright_put_int(spec, rows);
  opwright_put_int(spec, columns);
  opwright_put_field(spec, "dtype");
  opwright_put_string(spec, "float32");
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return {address, 0, address, address, 0, opwright_keep(spec)};
}

}  // namespace

extern "C" void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  static auto* const real = reinterpret_cast<Sgemm*>(dlsym(RTLD_NEXT, "cblas_sgemm"));
  opwright_call* call = opwright_begin("cblas.sgemm");
  opwright_tensor left{}, right{}, result{};
  if (call != nullptr) {
    left = matrix(a, transpose_a == 111 ? m : k, transpose_a == 111 ? k : m);
    right = matrix(b, transpose_b == 111 ? k : n, transpose_b == 111 ? n : k);
    result = matrix(c, m, n);
  }
  opwright_arg(call, nullptr);
  opwright_put_tensor(call, &left);
  opwright_arg(call, nullptr);
  opwright_put_tensor(call, &right);
  opwright_arg(call, "c");
  opwright_put_tensor(call, &result);
  opwright_arg(call, "order");
  opwright_put_enum(call, "CBLAS_ORDER", order == 101 ? "RowMajor" : "ColMajor");
  opwright_arg(call, "transpose_a");
  opwright_put_bool(call, transpose_a != 111);
  opwright_arg(call, "transpose_b");
  opwright_put_bool(call, transpose_b != 111);
  opwright_arg(call, "alpha");
  opwright_put_float(call, alpha);
  opwright_arg(call, "beta");
  opwright_put_float(call, beta);
  opwright_run(call);
  real(order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  ++result.version;
  opwright_wrote(call, &result);
  opwright_put_tensor(call, &result);
  opwright_end(call);
}
