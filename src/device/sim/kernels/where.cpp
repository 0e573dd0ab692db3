#include "device/sim/eltwise.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const OutputSpec& output = job.outputs[0];
  const Shape& shape = output.spec.shape;
  const DType dtype = output.spec.dtype.value;
  const std::int64_t length = row_length(shape);
  const auto number = [&](std::string_view param) { return static_cast<float>(job.call.number(param, 0).value_or(0)); };
  const FloatRows predicate(job.input("predicate"), 0, shape);
  const FloatRows yes(job.input("true_value"), number("true_value"), shape);
  const FloatRows no(job.input("false_value"), number("false_value"), shape);
  HostTensor out = unwritten(output);
  const Dst dst = dst_of(dtype == DType::kFloat32 || out.integer());
  for_row_parts(shape, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> buffers[3];
    const auto p = predicate.rows(first, last, buffers[0]);
    const auto t = yes.rows(first, last, buffers[1]);
    const auto f = no.rows(first, last, buffers[2]);
    std::vector<float> values(p.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = p[i] != 0 ? t[i] : f[i];
    const auto offset = static_cast<std::size_t>(first * length);
    if (out.integer()) {
      for (std::size_t i = 0; i < values.size(); ++i)
        out.ints[offset + i] = to_integer(static_cast<double>(values[i]), dtype);
      return;
    }
    truncate_to_dst(values, dst);
    pack(values, length, dtype, dst);
    for (std::size_t i = 0; i < values.size(); ++i) out.floats[offset + i] = values[i];
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kWhereKernel{.op = "ttnn.where", .run = run};

}  // namespace opwright::sim
