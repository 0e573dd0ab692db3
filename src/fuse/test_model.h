// Traces of small models for tests: layers of a gated perceptron with a residual, written by hand.
#pragma once

#include <string>
#include <vector>

#include "format/native/native_trace.h"
#include "format/native/test_trace.h"

namespace opwright::fuse {

namespace native = format::testing;

struct TestModel {
  native::TestTrace trace;
  native::TtnnValues values{trace};
  std::uint32_t rows = values.spec({1, 1, 32, 64});
  std::uint32_t square = values.spec({1, 1, 64, 64});
  std::uint64_t last = 0;  // tensor

  std::uint64_t tensor() { return ++last; }  // from outside

  std::uint64_t binary(std::string_view op, std::uint64_t a, std::uint64_t b, std::uint32_t b_spec) {
    const std::uint64_t out = ++last;
    trace.call(trace.call_value(op, {native::tensor(rows), native::tensor(b_spec)}), {{a, 1}, {b, 1}},
               {.result = trace.value(native::tensor(rows)), .tensors = {{out, 1, out}}});
    return out;
  }
  std::uint64_t linear(std::uint64_t x, std::uint64_t weight) { return binary("ttnn.linear", x, weight, square); }
  std::uint64_t multiply(std::uint64_t a, std::uint64_t b) { return binary("ttnn.multiply", a, b, rows); }
  std::uint64_t add(std::uint64_t a, std::uint64_t b) { return binary("ttnn.add", a, b, rows); }
  std::uint64_t unary(std::string_view op, std::uint64_t x) {
    const std::uint64_t out = ++last;
    trace.call(trace.call_value(op, {native::tensor(rows)}), {{x, 1}},
               {.result = trace.value(native::tensor(rows)), .tensors = {{out, 1, out}}});
    return out;
  }
  void free(std::uint64_t x) {
    trace.call(trace.call_value("ttnn.deallocate", {native::tensor(rows)}), {{x, 1}}, {.frees = {0}});
  }
  void phase(std::string_view name) { trace.context({{"phase", native::string(name)}}); }

  // x + down(gate(x) * up(x)); `up_first`: in the other order, with a call between that has nothing to do with it.
  std::uint64_t layer(std::uint64_t x, bool up_first = false) {
    const std::uint64_t wg = tensor(), wu = tensor(), wd = tensor();
    std::uint64_t gate = 0, up = 0;
    if (up_first) {
      up = linear(x, wu);
      unary("ttnn.relu", tensor());
      gate = linear(x, wg);
    } else {
      gate = linear(x, wg);
      up = linear(x, wu);
    }
    const std::uint64_t hidden = multiply(gate, up);
    free(gate);
    free(up);
    return add(x, linear(hidden, wd));
  }

  format::NativeTrace open() const { return *format::NativeTrace::from_bytes(trace.bytes(), "model"); }
};

}  // namespace opwright::fuse
