#include "ops/shared/cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opwright {
namespace {

std::int64_t rows_of(const HostTensor& tensor) {
  const std::int64_t length = row_length(tensor.spec.shape);
  return length == 0 ? 0 : tensor.size() / length;
}

std::vector<std::int64_t> shuffled(std::int64_t count, Random& random) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
  std::iota(out.begin(), out.end(), 0);
  for (std::size_t i = out.size() - 1; i > 0; --i)
    std::swap(out[i], out[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
  return out;
}

}  // namespace

std::vector<CacheRow> settled(std::vector<CacheRow> rows, const HostTensor& cache) {
  const std::int64_t total = rows_of(cache);
  std::erase_if(rows, [&](const CacheRow& row) { return row.cache < 0 || row.cache >= total; });
  std::ranges::stable_sort(rows, {}, &CacheRow::cache);
  std::vector<CacheRow> out;
  for (const CacheRow& row : rows) {
    if (!out.empty() && out.back().cache == row.cache) out.pop_back();
    out.push_back(row);
  }
  return out;
}

std::vector<CacheRow> decode_rows(const DecodeWrite& write, const HostTensor& cache, const HostTensor& input) {
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  std::vector<CacheRow> rows;
  for (std::int64_t user = 0; user < in[1]; ++user) {
    std::int64_t position = write.positions[static_cast<std::size_t>(user)];
    if (position < 0) continue;
    if (write.modulo > 0) position %= write.modulo;
    std::int64_t block = write.shared ? 0 : user;
    if (write.pages != nullptr) {
      const std::int64_t columns = write.pages->spec.shape.back();
      const std::int64_t page = position / c[2];
      if (page >= columns) continue;
      block = static_cast<std::int64_t>(write.pages->at(user * columns + page));
      position %= c[2];
    }
    if (block < 0 || block >= c[0] || position >= c[2]) continue;
    for (std::int64_t head = 0; head < c[1]; ++head)
      rows.push_back({(block * c[1] + head) * c[2] + position, head < in[2] ? user * in[2] + head : -1});
  }
  return settled(std::move(rows), cache);
}

Exact cache_exact(const ReferenceJob& job, const HostTensor& cache, const HostTensor& input,
                  const std::vector<CacheRow>& rows) {
  const std::int64_t length = job.rows.length;
  const std::int64_t width = row_length(input.spec.shape);
  constexpr std::int64_t kGroup = 16;  // elements that share an exponent
  Exact exact;
  exact.value.resize(static_cast<std::size_t>(job.rows.count() * length));
  exact.magnitude.resize(exact.value.size());
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    double* const value = exact.value.data() + r * length;
    const auto found = std::ranges::lower_bound(rows, row, {}, &CacheRow::cache);
    if (found == rows.end() || found->cache != row) {
      for (std::int64_t i = 0; i < length; ++i) value[i] = cache.at(row * length + i);
      continue;
    }
    for (std::int64_t i = 0; i < length; ++i)
      value[i] = found->input < 0 || i >= width ? 0.0 : input.at(found->input * width + i);
    double* const magnitude = exact.magnitude.data() + r * length;
    for (std::int64_t i = 0; i < length; i += kGroup) {
      const std::int64_t end = std::min(i + kGroup, length);
      double largest = 0;
      for (std::int64_t j = i; j < end; ++j) largest = std::max(largest, std::abs(value[j]));
      std::fill(magnitude + i, magnitude + end, largest);
    }
  }
  return exact;
}

std::vector<std::int64_t> cache_rows(const Checked<std::vector<CacheRow>>& rows) {
  std::vector<std::int64_t> out;
  if (!rows) return out;
  out.reserve(rows->size());
  for (const CacheRow& row : *rows) out.push_back(row.cache);
  return out;
}

ErrorBudget cache_budget(const BoundCall& call, std::string_view cache, std::string_view input) {
  const TensorSpec* to = call.tensor(cache);
  const TensorSpec* from = call.tensor(input);
  if (to == nullptr || from == nullptr || to->dtype.value == from->dtype.value || to->dtype.value == DType::kFloat32)
    return {.kind = ErrorBudget::Kind::kExact, .why = "rows move into the cache"};
  const int bits = to->dtype.value == DType::kBfloat4B ? 3 : to->dtype.value == DType::kBfloat8B ? 7 : 8;
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 0,
          .relative = std::ldexp(1.0, 1 - bits),
          .pcc = bits == 3 ? 0.98 : 0.9999,
          .why = "rows are packed into the cache's dtype, exponents shared by 16; all others stay"};
}

void fill_pages(HostTensor& tensor, std::int64_t blocks, Random& random) {
  const std::vector<std::int64_t> order = shuffled(blocks, random);
  tensor.ints.resize(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < tensor.ints.size(); ++i) tensor.ints[i] = order[i % order.size()];
}

void fill_positions(HostTensor& tensor, std::int64_t begin, std::int64_t end, Random& random) {
  tensor.ints.resize(static_cast<std::size_t>(tensor.size()));
  begin = std::clamp<std::int64_t>(begin, 0, std::max<std::int64_t>(end - 1, 0));
  for (std::size_t i = 0; i < tensor.ints.size(); ++i) {
    constexpr std::int64_t kTile = 32;
    std::int64_t& value = tensor.ints[i];
    value = begin + random.below(std::max<std::int64_t>(end - begin, 1));
    // Every second one is the first or the last of a tile, where pages and chunks begin and end too.
    if (i % 2 == 0) continue;
    const std::int64_t edge = value / kTile * kTile + (random.below(2) == 0 ? 0 : kTile - 1);
    if (edge >= begin && edge < end) value = edge;
  }
}

}  // namespace opwright
