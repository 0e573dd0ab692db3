// Rows of an output that equal another row of it. Where only a sample is judged, a row that a kernel wrote to the wrong
// place, or twice, is most likely none of the sample: but it is alike another one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/host_tensor.h"

namespace opwright {

// Ascending; at most `most` of them. Rows of one value say nothing and are left out, and pairs come before crowds:
// operators that repeat rows do so often, a mistake does it once.
std::vector<std::int64_t> alike_rows(const HostTensor& output, std::int64_t row_length, std::size_t most);

}  // namespace opwright
