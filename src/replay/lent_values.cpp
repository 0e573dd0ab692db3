#include "replay/lent_values.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "ops/read_rows.h"

namespace opwright::replay {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 22;
constexpr std::size_t kStep = std::size_t{1} << 20;

// Whole pages between two places go back to the system, which gives zeros to whoever reads them.
void give_back(float* begin, float* end) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

// Zeros that take no memory: a vector writes what it grows by, a step is given back before the next one.
std::vector<float> untouched(std::size_t count) {
  std::vector<float> out;
  out.reserve(count);
  while (out.size() < count) {
    const std::size_t before = out.size();
    out.resize(std::min(count, before + kStep));
    give_back(out.data() + before, out.data() + out.size());
  }
  return out;
}

void put_rows(const Content& content, const std::vector<std::int64_t>& rows, HostTensor& tensor) {
  const auto length = static_cast<std::size_t>(row_length(tensor.spec.shape));
  tensor.floats = untouched(content.device->size());
  for (const std::int64_t row : rows)
    content.device->expand(static_cast<std::size_t>(row) * length,
                           {tensor.floats.data() + static_cast<std::size_t>(row) * length, length});
}

void put_all(const Content& content, Whose whose, HostTensor& tensor) {
  Values values = content.device->expanded();
  if (whose == Whose::kChain && content.chain) content.chain->put_onto(values);
  tensor.floats = std::move(values.floats);
  tensor.ints = std::move(values.ints);
}

}  // namespace

std::vector<HostTensor> lend(const BoundCall& call, const std::vector<const Content*>& contents, Whose whose) {
  std::vector<HostTensor> out;
  out.reserve(contents.size());
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    out.push_back({call.tensors[i].spec, {}, {}});
    const Packed& device = *contents[i]->device;
    if (device.size() >= kLarge && !device.integer() && (whose == Whose::kDevice || !contents[i]->chain))
      large.push_back(i);
    else
      put_all(*contents[i], whose, out[i]);
  }
  // Only now: which rows are read is told by the others.
  for (const std::size_t i : large) {
    if (const auto rows = rows_read(call, out, i))
      put_rows(*contents[i], *rows, out[i]);
    else
      put_all(*contents[i], whose, out[i]);
  }
  return out;
}

}  // namespace opwright::replay
