#include "compare/alike_rows.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"

namespace opwright {
namespace {

template <class T>
std::vector<std::int64_t> alike(const std::vector<T>& values, std::size_t length, std::size_t most) {
  struct Row {
    std::uint64_t sum;
    std::int64_t row;
  };
  std::vector<Row> rows;
  for (std::size_t at = 0; at + length <= values.size(); at += length) {
    const T* first = values.data() + at;
    if (std::all_of(first, first + length, [&](T v) { return v == *first; })) continue;
    const std::string_view bytes(reinterpret_cast<const char*>(first), length * sizeof(T));
    rows.push_back({xxh64(bytes), static_cast<std::int64_t>(at / length)});
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) { return a.sum != b.sum ? a.sum < b.sum : a.row < b.row; });
  struct Crowd {
    std::size_t first;
    std::size_t count;
  };
  std::vector<Crowd> crowds;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end].sum == rows[i].sum) ++end;
    if (end - i > 1) crowds.push_back({i, end - i});
    i = end;
  }
  std::ranges::stable_sort(crowds, {}, &Crowd::count);
  std::vector<std::int64_t> out;
  for (const Crowd& crowd : crowds)
    for (std::size_t i = 0; i < crowd.count && out.size() < most; ++i) out.push_back(rows[crowd.first + i].row);
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<std::int64_t> alike_rows(const HostTensor& output, std::int64_t row_length, std::size_t most) {
  if (row_length < 2 || most == 0) return {};
  const auto length = static_cast<std::size_t>(row_length);
  return output.integer() ? alike(output.ints, length, most) : alike(output.floats, length, most);
}

}  // namespace opwright
