// Ascending configuration ids in few bytes: differences as variable-length numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opwright::store {

// Appends the step from `previous` to `id` (id > previous).
void append_step(std::string& out, std::int64_t previous, std::int64_t id);
// The steps of a list behind its first id. `ids` ascending, each once, at least one.
std::string steps_of(std::span<const std::int64_t> ids);
// Appends the ids of a list that starts at `first`. False when the bytes are damaged.
bool decode_ids(std::int64_t first, std::string_view steps, std::vector<std::int64_t>& out);

}  // namespace opwright::store
