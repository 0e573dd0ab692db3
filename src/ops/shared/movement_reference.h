// Exact results of operators that only move values, for the rows that are asked for.
#pragma once

#include <functional>

#include "ops/op.h"

namespace opwright {

Shape strides_of(const Shape& shape);  // row major

// The elements of `input` in their own order: the output has the same ones, in another shape.
Checked<Exact> same_elements(const ReferenceJob& job, const HostTensor& input);

// Element (i0, i1, …) of the output is element offset + sum i * strides of the input; one stride a dimension.
Checked<Exact> strided_elements(const ReferenceJob& job, const HostTensor& input, const Shape& strides,
                                std::int64_t offset);

// Rows one by one: `row` gets the index of an output row in each dimension but the last, and appends its elements.
Checked<Exact> rows_of(const ReferenceJob& job,
                       const std::function<void(const Shape& index, std::vector<double>& out)>& row);

// Appends `count` elements of the tensor, `step` apart.
void append_elements(const HostTensor& from, std::int64_t start, std::int64_t count, std::int64_t step,
                     std::vector<double>& out);

// What a conversion to `to` makes of an exact value, before it is rounded to a float dtype.
double converted(double value, DType from, DType to);
// Does that to all values of `exact`.
Checked<Exact> converted(Checked<Exact> exact, DType from, DType to);

}  // namespace opwright
