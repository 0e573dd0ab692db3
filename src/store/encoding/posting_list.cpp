#include "store/encoding/posting_list.h"

#include <limits>

#include "base/bytes.h"

namespace opwright::store {

void append_step(std::string& out, std::int64_t previous, std::int64_t id) {
  append_varint(out, static_cast<std::uint64_t>(id - previous));
}

std::string steps_of(std::span<const std::int64_t> ids) {
  std::string steps;
  for (std::size_t i = 1; i < ids.size(); ++i) append_step(steps, ids[i - 1], ids[i]);
  return steps;
}

bool decode_ids(std::int64_t first, std::string_view steps, std::vector<std::int64_t>& out) {
  out.push_back(first);
  std::uint64_t step = 0;
  int shift = 0;
  for (const char byte : steps) {
    const auto bits = static_cast<unsigned char>(byte);
    if (shift > 56) return false;
    step |= static_cast<std::uint64_t>(bits & 0x7F) << shift;
    shift += 7;
    if ((bits & 0x80) != 0) continue;
    const auto room = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - first);
    if (step == 0 || first < 0 || step > room) return false;
    first += static_cast<std::int64_t>(step);
    out.push_back(first);
    step = 0;
    shift = 0;
  }
  return shift == 0;
}

}  // namespace opwright::store
