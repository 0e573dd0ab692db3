#include "exec/chip_parts.h"

#include <algorithm>
#include <vector>

namespace opwright {
namespace {

// A lone row is moved on by whole groups of a block float, so that values stay what the dtype can hold.
constexpr std::int64_t kGroup = 16;

// Behind the part that is there, copies of it, each turned on by `step` elements more.
template <class T>
void add_turned(std::vector<T>& values, std::int64_t chips, std::size_t step) {
  const std::size_t count = values.size();
  values.resize(count * static_cast<std::size_t>(chips));
  for (std::int64_t chip = 1; chip < chips; ++chip) {
    const std::size_t from = count == 0 ? 0 : step * static_cast<std::size_t>(chip) % count;
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(count * static_cast<std::size_t>(chip));
    std::rotate_copy(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(from),
                     values.begin() + static_cast<std::ptrdiff_t>(count), to);
  }
}

}  // namespace

void add_parts(const Exchange& exchange, HostTensor& part) {
  std::size_t step = 0;
  if (!exchange.replicated) {
    const std::int64_t length = row_length(part.spec.shape);
    step = static_cast<std::size_t>(part.size() > length ? length : length > kGroup ? kGroup : 1);
  }
  add_turned(part.floats, exchange.chips, step);
  add_turned(part.ints, exchange.chips, step);
}

}  // namespace opwright
