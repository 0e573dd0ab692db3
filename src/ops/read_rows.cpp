#include "ops/read_rows.h"

#include <algorithm>

namespace opwright {
namespace {

// A table and the tensor whose values are rows of it.
struct Lookup {
  std::string_view op, ids, table;
};
constexpr Lookup kLookups[] = {{"ttnn.embedding", "input_tensor", "weight"}};

}  // namespace

std::optional<std::vector<std::int64_t>> rows_read(const BoundCall& call, std::span<const HostTensor> inputs,
                                                   std::size_t slot) {
  const auto* const known = std::ranges::find(kLookups, call.op, &Lookup::op);
  if (known == std::end(kLookups) || call.slot(known->table) != slot) return std::nullopt;
  const auto ids = call.slot(known->ids);
  const std::int64_t length = row_length(inputs[slot].spec.shape);
  if (!ids || length == 0 ||
      inputs[*ids].floats.size() + inputs[*ids].ints.size() != static_cast<std::size_t>(inputs[*ids].size()))
    return std::nullopt;
  const std::int64_t known_rows = inputs[slot].size() / length;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < inputs[*ids].size(); ++i)
    if (const double id = inputs[*ids].at(i); id >= 0 && id < static_cast<double>(known_rows))
      rows.push_back(static_cast<std::int64_t>(id));
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace opwright
