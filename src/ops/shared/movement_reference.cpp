#include "ops/shared/movement_reference.h"

#include <algorithm>
#include <cmath>

namespace opwright {
namespace {

const Shape& output_shape(const ReferenceJob& job) { return job.outputs[job.output].spec.shape; }

// The index of row `row` in each dimension but the last.
void split_row(const Shape& shape, std::int64_t row, Shape& index) {
  index.resize(shape.empty() ? 0 : shape.size() - 1);
  for (std::size_t i = index.size(); i-- > 0;) {
    index[i] = row % shape[i];
    row /= shape[i];
  }
}

Exact sized(const ReferenceJob& job) {
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  return exact;
}

double low_bits(double truncated, double modulus) {
  const double rest = std::fmod(truncated, modulus);
  return rest < 0 ? rest + modulus : rest;
}

}  // namespace

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void append_elements(const HostTensor& from, std::int64_t start, std::int64_t count, std::int64_t step,
                     std::vector<double>& out) {
  const auto begin = static_cast<std::size_t>(start);
  const auto by = static_cast<std::size_t>(step);
  const auto n = static_cast<std::size_t>(count);
  if (from.integer()) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<double>(from.ints[begin + i * by]));
  } else {
    for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<double>(from.floats[begin + i * by]));
  }
}

Checked<Exact> same_elements(const ReferenceJob& job, const HostTensor& input) {
  Exact exact = sized(job);
  for (std::int64_t i = 0; i < job.rows.count(); ++i)
    append_elements(input, job.rows.at(i) * job.rows.length, job.rows.length, 1, exact.value);
  return exact;
}

Checked<Exact> strided_elements(const ReferenceJob& job, const HostTensor& input, const Shape& strides,
                                std::int64_t offset) {
  const std::int64_t step = strides.empty() ? 1 : strides.back();
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t start = offset;
    for (std::size_t i = 0; i < index.size(); ++i) start += index[i] * strides[i];
    append_elements(input, start, job.rows.length, step, out);
  });
}

Checked<Exact> rows_of(const ReferenceJob& job,
                       const std::function<void(const Shape& index, std::vector<double>& out)>& row) {
  Exact exact = sized(job);
  Shape index;
  for (std::int64_t i = 0; i < job.rows.count(); ++i) {
    split_row(output_shape(job), job.rows.at(i), index);
    row(index, exact.value);
  }
  return exact;
}

double converted(double value, DType from, DType to) {
  if (!is_integer(to)) return value;
  const bool integral = is_integer(from);
  const double whole = std::trunc(value);
  switch (to) {
    case DType::kInt32:
      if (integral) return value > 0x7FFFFFFFLL ? value - 4294967296.0 : value;
      return std::clamp(whole, -2147483647.0, 2147483647.0);
    case DType::kUint32:
      return integral ? low_bits(value, 4294967296.0) : std::clamp(whole, 0.0, 4294967295.0);
    case DType::kUint16:
      return integral ? low_bits(value, 65536.0) : std::clamp(std::nearbyint(value), 0.0, 65535.0);
    default:
      return low_bits(whole, 256.0);
  }
}

Checked<Exact> converted(Checked<Exact> exact, DType from, DType to) {
  if (exact && from != to && is_integer(to))
    for (double& value : exact->value) value = converted(value, from, to);
  return exact;
}

}  // namespace opwright
