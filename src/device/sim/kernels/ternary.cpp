// Functions of three operands as steps of the engines, a row each: numerics are modelled.
#include <algorithm>
#include <array>
#include <cmath>

#include "device/sim/eltwise.h"
#include "device/sim/kernels/families.h"
#include "device/sim/pack.h"
#include "model/host_tensor.h"

namespace opwright::sim {
namespace {

struct Steps {
  std::string_view op;
  std::array<std::string_view, 3> operands;
  std::string_view number = {};
  // The three in order, then the number; results go into the first.
  void (*run)(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float number, Dst dst);
};

void step(Binary op, std::vector<float>& a, const std::vector<float>& b, Dst dst) {
  binary(op, Engine::kVector, dst, a, b, a);
}
void scale(std::vector<float>& a, float number, Dst dst) {
  if (number != 1.0F) binary(Binary::kMul, Engine::kVector, dst, a, number, a);
}

// The vector unit keeps float32 from one step to the next where one kernel does them all, and rounds what it stores: so
// do the recorded ones.
constexpr Dst kKept = dst_of(true);
// a + number * (b op c)
void add_scaled(Binary op, std::vector<float>& a, std::vector<float>& b, const std::vector<float>& c, float number,
                Dst dst) {
  step(op, b, c, kKept);
  scale(b, number, kKept);
  step(Binary::kAdd, a, b, dst);
}

constexpr std::array kRows{
    Steps{"ttnn.addalpha",
          {"input_tensor_a", "input_tensor_b", "alpha"},
          {},
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float, Dst dst) {
            step(Binary::kMul, b, c, dst);
            step(Binary::kAdd, a, b, dst);
          }},
    Steps{"ttnn.addcdiv",
          {"input_a", "input_b", "input_c"},
          "value",
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float number, Dst dst) {
            add_scaled(Binary::kDiv, a, b, c, number, dst);
          }},
    Steps{"ttnn.addcmul",
          {"input_a", "input_b", "input_c"},
          "value",
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float number, Dst dst) {
            add_scaled(Binary::kMul, a, b, c, number, dst);
          }},
    Steps{"ttnn.lerp",
          {"input", "end", "weight"},
          {},
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float, Dst dst) {
            step(Binary::kSub, b, a, dst);
            step(Binary::kMul, b, c, dst);
            step(Binary::kAdd, a, b, dst);
          }},
    Steps{"ttnn.mac",
          {"input_tensor_a", "input_tensor_b", "input_tensor_c"},
          {},
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float, Dst dst) {
            step(Binary::kMul, a, b, kKept);
            step(Binary::kAdd, a, c, dst);
          }},
    Steps{"ttnn.subalpha",
          {"input_tensor_a", "input_tensor_b", "alpha"},
          {},
          [](std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, float, Dst dst) {
            step(Binary::kMul, b, c, dst);
            step(Binary::kSub, a, b, dst);
          }},
};

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const Steps& steps = *std::ranges::find(kRows, job.call.op, &Steps::op);
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& shape = out.spec.shape;
  bool wide = out.spec.dtype.value == DType::kFloat32;
  for (const HostTensor& input : job.inputs) wide = wide || input.spec.dtype.value == DType::kFloat32;
  const Dst dst = dst_of(wide);
  std::vector<FloatRows> operands;
  for (const std::string_view name : steps.operands) {
    const HostTensor* tensor = job.input(name);
    OPWRIGHT_CHECK_ASSIGN(const double number, tensor != nullptr ? Checked<double>(0.0) : job.call.number(name, 0));
    operands.emplace_back(tensor, static_cast<float>(number), shape);
  }
  OPWRIGHT_CHECK_ASSIGN(const double number,
                        steps.number.empty() ? Checked<double>(1.0) : job.call.number(steps.number, 1));
  const std::int64_t length = row_length(shape);
  for_row_parts(shape, [&](std::int64_t first, std::int64_t last) {
    std::array<std::vector<float>, 3> values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<float> buffer;
      const std::span<const float> rows = operands[i].rows(first, last, buffer);
      values[i].assign(rows.begin(), rows.end());
    }
    steps.run(values[0], values[1], values[2], static_cast<float>(number), dst);
    pack(values[0], length, out.spec.dtype.value, dst);
    std::ranges::copy(values[0], out.floats.begin() + first * length);
  });
  return std::vector{std::move(out)};
}

}  // namespace

std::span<const Kernel> ternary_kernels() {
  static const auto list = [] {
    std::array<Kernel, kRows.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {.op = kRows[i].op, .run = run};
    return out;
  }();
  return list;
}

}  // namespace opwright::sim
