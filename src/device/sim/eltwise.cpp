#include "device/sim/eltwise.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "device/sim/activation.h"
#include "device/sim/pack.h"
#include "model/quantize.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kPart = 1 << 15;  // elements

bool wide(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kInt32 || dtype == DType::kUint32 || dtype == DType::kUint8;
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void store(std::span<float> values, std::int64_t length, Dst dst, std::int64_t offset, HostTensor& out) {
  if (out.integer()) {
    for (std::size_t i = 0; i < values.size(); ++i)
      out.ints[at(offset) + i] = to_integer(static_cast<double>(values[i]), out.spec.dtype.value);
    return;
  }
  pack(values, length, out.spec.dtype.value, dst);
  if (values.data() != out.floats.data() + offset) std::ranges::copy(values, out.floats.begin() + offset);
}

// An integer argument; what no integer can be is cut to the largest.
std::int64_t whole_number(double value) {
  constexpr double kMost = 0x1p62;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::min(std::max(value, -kMost), kMost));
}

std::int64_t wrap(std::uint64_t value, DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return static_cast<std::int32_t>(value);
    case DType::kUint16:
      return static_cast<std::uint16_t>(value);
    case DType::kUint8:
      return static_cast<std::uint8_t>(value);
    default:
      return static_cast<std::uint32_t>(value);
  }
}

std::int64_t integer_unary(Unary op, std::int64_t x, std::span<const float> params, DType dtype) {
  const auto u = static_cast<std::uint64_t>(x);
  switch (op) {
    case Unary::kAbs:
      return x < 0 ? wrap(0 - u, dtype) : x;
    case Unary::kClamp:
      return std::min(std::max(x, to_integer(static_cast<double>(params[0]), dtype)),
                      to_integer(static_cast<double>(params[1]), dtype));
    case Unary::kNeg:
      return wrap(0 - u, dtype);
    case Unary::kBitwiseNot:
      return wrap(~u, dtype);
    case Unary::kFill:
      return to_integer(static_cast<double>(params[0]), dtype);
    case Unary::kEqz:
    case Unary::kLogicalNot:
      return x == 0 ? 1 : 0;
    case Unary::kNez:
      return x != 0 ? 1 : 0;
    case Unary::kGtz:
      return x > 0 ? 1 : 0;
    case Unary::kGez:
      return x >= 0 ? 1 : 0;
    case Unary::kLtz:
    case Unary::kSignbit:
      return x < 0 ? 1 : 0;
    case Unary::kLez:
      return x <= 0 ? 1 : 0;
    case Unary::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Unary::kRelu6:
      return std::min<std::int64_t>(std::max<std::int64_t>(x, 0), 6);
    case Unary::kReluMax:
      return std::min(std::max<std::int64_t>(x, 0), to_integer(static_cast<double>(params[0]), dtype));
    case Unary::kReluMin:
      return std::max(std::max<std::int64_t>(x, 0), to_integer(static_cast<double>(params[0]), dtype));
    case Unary::kPower: {
      std::uint64_t out = 1;
      std::uint64_t factor = u;
      for (auto n = whole_number(static_cast<double>(params.empty() ? 1.0F : params[0])); n > 0; n /= 2) {
        if (n % 2 == 1) out *= factor;
        factor *= factor;
      }
      return wrap(out, dtype);
    }
    case Unary::kRelu:
      return std::max<std::int64_t>(x, 0);
    case Unary::kSquare:
      return wrap(u * u, dtype);
    default:
      return x;
  }
}

bool has_integer_path(Unary op) {
  switch (op) {
    case Unary::kAbs:
    case Unary::kBitwiseNot:
    case Unary::kClamp:
    case Unary::kEqz:
    case Unary::kFill:
    case Unary::kGez:
    case Unary::kGtz:
    case Unary::kIdentity:
    case Unary::kLeakyRelu:  // of no sign
    case Unary::kLez:
    case Unary::kLogicalNot:
    case Unary::kLtz:
    case Unary::kNeg:
    case Unary::kNez:
    case Unary::kPower:
    case Unary::kRelu:
    case Unary::kRelu6:
    case Unary::kReluMax:
    case Unary::kReluMin:
    case Unary::kSign:
    case Unary::kSignbit:
    case Unary::kSquare:
    // Whole numbers stay as they are.
    case Unary::kCeil:
    case Unary::kFloor:
    case Unary::kRound:
    case Unary::kTrunc:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::int64_t to_integer(double value, DType dtype) {
  if (std::isnan(value)) return 0;
  const double low = dtype == DType::kInt32 ? -2147483648.0 : 0.0;
  const double high = dtype == DType::kInt32    ? 2147483647.0
                      : dtype == DType::kUint16 ? 65535.0
                      : dtype == DType::kUint8  ? 255.0
                                                : 4294967295.0;
  return static_cast<std::int64_t>(std::min(std::max(std::trunc(value), low), high));
}

void for_row_parts(const Shape& shape, const std::function<void(std::int64_t first, std::int64_t last)>& f) {
  const std::int64_t length = row_length(shape);
  if (length == 0) return;
  parallel_for(0, volume(shape) / length, std::max<std::int64_t>(kPart / length, 1), f);
}

FloatRows::FloatRows(const HostTensor* tensor, float number, const Shape& shape)
    : tensor_(tensor),
      number_(number),
      layout_(tensor != nullptr ? tensor->spec.shape : Shape{}, shape),
      length_(row_length(shape)),
      direct_(tensor != nullptr && !tensor->integer() && layout_.plain()) {}

std::span<const float> FloatRows::rows(std::int64_t first, std::int64_t last, std::vector<float>& buffer) const {
  if (direct_) return std::span(tensor_->floats).subspan(at(first * length_), at((last - first) * length_));
  buffer.resize(at((last - first) * length_));
  if (tensor_ == nullptr) {
    std::ranges::fill(buffer, number_);
    return buffer;
  }
  const bool integer = tensor_->integer();
  const auto value = [&](std::int64_t i) {
    return integer ? static_cast<float>(tensor_->ints[at(i)]) : tensor_->floats[at(i)];
  };
  for (std::int64_t row = first; row < last; ++row) {
    const std::span<float> out = std::span(buffer).subspan(at((row - first) * length_), at(length_));
    const std::int64_t from = layout_.offset(row);
    if (!layout_.steps())
      std::ranges::fill(out, value(from));
    else if (integer)
      for (std::int64_t i = 0; i < length_; ++i) out[at(i)] = value(from + i);
    else
      std::copy_n(tensor_->floats.begin() + from, length_, out.begin());
  }
  return buffer;
}

Checked<bool> wants_fast(const BoundCall& call) {
  const auto flag = call.flag("fast_and_approximate_mode", false);
  if (!flag) return refuse(flag.error());
  const auto mode = call.text("mode", "Accurate");
  if (!mode) return refuse(mode.error());
  const auto variant = call.text("variant", "Accurate");
  if (!variant) return refuse(variant.error());
  return *flag || *mode == "FastApproximate" || *mode == "AccurateWithFastExp" || *variant == "FastLut";
}

Checked<std::vector<HostTensor>> run_unary(const KernelJob& job, const UnaryCall& how) {
  const HostTensor& input = *job.input(how.input);
  HostTensor out = unwritten(job.outputs[0]);
  const DType to = out.spec.dtype.value;
  if (input.integer() && out.integer()) {
    if (!has_integer_path(how.op)) return unsupported(std::string(how.input), "integers have no path here");
    for (std::size_t i = 0; i < input.ints.size(); ++i)
      out.ints[i] = integer_unary(how.op, input.ints[i], how.params, to);
    return std::vector{std::move(out)};
  }
  const Dst dst = dst_of(wide(input.spec.dtype.value) || wide(to));
  const std::int64_t length = row_length(out.spec.shape);
  const FloatRows source(&input, 0, out.spec.shape);
  for_row_parts(out.spec.shape, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> buffer;
    std::vector<float> values;
    const std::span<const float> from = source.rows(first, last, buffer);
    values.assign(from.begin(), from.end());
    sfpu(how.op, values, dst, how.approx, how.params);
    store(values, length, dst, first * length, out);
  });
  return std::vector{std::move(out)};
}

Checked<std::vector<HostTensor>> run_unary(const KernelJob& job, Unary op) {
  const auto fast = wants_fast(job.call);
  if (!fast) return refuse(fast.error());
  return run_unary(job, UnaryCall{.op = op, .approx = *fast, .params = {}});
}

Checked<void> admit_binary(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  for (const std::string_view param : {"activations", "input_tensor_a_activations", "input_tensor_b_activations"})
    OPWRIGHT_CHECK(fused_functions(call.find(param), param));
  return {};
}

namespace {

// One operand on its way to the engine: what the call fuses before it is applied, and stored in the operand's dtype.
class Operand {
 public:
  Operand(const HostTensor* tensor, float number, const Shape& shape, std::vector<FusedFunction> functions, DType dtype)
      : rows_(tensor, number, shape),
        functions_(std::move(functions)),
        length_(row_length(shape)),
        dtype_(dtype),
        // Integers beside floats are converted first.
        converts_(tensor != nullptr && tensor->integer()) {}

  std::span<const float> rows(std::int64_t first, std::int64_t last, Dst dst, std::vector<float>& buffer) const {
    const std::span<const float> from = rows_.rows(first, last, buffer);
    if (functions_.empty() && !converts_) return from;
    if (from.data() != buffer.data()) buffer.assign(from.begin(), from.end());
    if (converts_) pack(buffer, length_, dtype_, Dst::kFp32);
    if (functions_.empty()) return buffer;
    apply_all(functions_, buffer, dst);
    pack(buffer, length_, dtype_, dst);
    return buffer;
  }

 private:
  FloatRows rows_;
  std::vector<FusedFunction> functions_;
  std::int64_t length_;
  DType dtype_;
  bool converts_;
};

// The dtype that an operand has at the engine, beside the other one.
DType float_dtype(DType own, DType other) {
  if (!is_integer(own)) return own;
  return is_integer(other) || other == DType::kFloat32 ? DType::kFloat32 : DType::kBfloat16;
}

Checked<std::vector<HostTensor>> run_integers(const KernelJob& job, const BinaryCall& how, const HostTensor& a,
                                              const HostTensor* b, double number) {
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& shape = out.spec.shape;
  const DType dtype = a.spec.dtype.value;
  const BroadcastRows of_a(a.spec.shape, shape);
  const BroadcastRows of_b(b != nullptr ? b->spec.shape : Shape{}, shape);
  const std::int64_t scalar = whole_number(number);
  const std::int64_t length = row_length(shape);
  for_row_parts(shape, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t x = of_a.offset(row);
      const std::int64_t y = of_b.offset(row);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t right = b == nullptr ? scalar : b->ints[at(y + (of_b.steps() ? i : 0))];
        const std::int64_t value = wrap(
            static_cast<std::uint64_t>(integer_binary(how.op, a.ints[at(x + (of_a.steps() ? i : 0))], right)), dtype);
        if (out.integer())
          out.ints[at(row * length + i)] = wrap(static_cast<std::uint64_t>(value), out.spec.dtype.value);
        else
          out.floats[at(row * length + i)] = static_cast<float>(value);
      }
    }
  });
  if (!out.integer()) pack(out.floats, length, out.spec.dtype.value, Dst::kFp32);
  return std::vector{std::move(out)};
}

}  // namespace

Checked<std::vector<HostTensor>> run_binary(const KernelJob& job, const BinaryCall& how) {
  const BoundCall& call = job.call;
  const HostTensor& a = *job.input(how.first);
  const HostTensor* b = job.input(how.second);
  OPWRIGHT_CHECK_ASSIGN(const double number, b != nullptr ? Checked<double>(0.0) : call.number(how.second, 0));
  auto on_first = fused_functions(call.find("input_tensor_a_activations"), "input_tensor_a_activations");
  if (!on_first) return refuse(on_first.error());
  auto on_second = fused_functions(call.find("input_tensor_b_activations"), "input_tensor_b_activations");
  if (!on_second) return refuse(on_second.error());
  auto after = fused_functions(call.find("activations"), "activations");
  if (!after) return refuse(after.error());

  const bool whole = b != nullptr ? b->integer() : number == std::trunc(number);
  const bool fused = !on_first->empty() || !on_second->empty() || !after->empty();
  if (a.integer() && whole && how.op != Binary::kDiv && !fused) return run_integers(job, how, a, b, number);

  HostTensor out = unwritten(job.outputs[0]);
  const Shape& shape = out.spec.shape;
  const DType dtype_a = float_dtype(a.spec.dtype.value, b != nullptr ? b->spec.dtype.value : DType::kFloat32);
  const DType dtype_b = b != nullptr ? float_dtype(b->spec.dtype.value, a.spec.dtype.value) : dtype_a;
  const Dst dst = dst_of(wide(dtype_a) || wide(dtype_b) || wide(out.spec.dtype.value));
  const Engine engine = engine_of(how.op, dtype_a, dtype_b, how.fast);
  auto scalar = static_cast<float>(number);
  if (dtype_a != DType::kFloat32) scalar = round_bfloat16(scalar);
  const Operand left(&a, 0, shape, *std::move(on_first), dtype_a);
  const Operand right(b, scalar, shape, *std::move(on_second), dtype_b);
  const std::int64_t length = row_length(shape);
  for_row_parts(shape, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> buffer_a;
    std::vector<float> buffer_b;
    std::vector<float> values(at((last - first) * length));
    binary(how.op, engine, dst, left.rows(first, last, dst, buffer_a), right.rows(first, last, dst, buffer_b), values);
    apply_all(*after, values, dst);
    store(values, length, dst, first * length, out);
  });
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim
