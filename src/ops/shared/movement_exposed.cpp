#include "ops/shared/movement_exposed.h"

#include <algorithm>

#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {

Checked<Exact> exposed_elements(const ReferenceJob& job, const HostTensor& input) {
  const OutputSpec& output = job.outputs[job.output];
  const std::int64_t height = std::max<std::int64_t>(1, last(output.padded, 2));
  const std::int64_t own_height = std::max<std::int64_t>(1, last(padded_shape(input.spec), 2));
  const std::int64_t own_rows = last(input.spec.shape, 2);
  const std::int64_t own_width = last(input.spec.shape);
  const std::int64_t matrices = own_rows * own_width == 0 ? 0 : input.size() / (own_rows * own_width);
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t matrix = 0;
    for (std::size_t i = 0; i + 1 < index.size(); ++i) matrix = matrix * output.spec.shape[i] + index[i];
    const std::int64_t place = matrix * height + (index.empty() ? 0 : index.back());
    const std::int64_t from = place / own_height;
    const std::int64_t row = place % own_height;
    std::int64_t known = 0;
    if (from < matrices && row < own_rows) {
      known = std::min(own_width, job.rows.length);
      append_elements(input, (from * own_rows + row) * own_width, known, 1, out);
    }
    out.insert(out.end(), static_cast<std::size_t>(job.rows.length - known), 0.0);
  });
}

}  // namespace opwright
