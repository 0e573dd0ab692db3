// What a JSON text costs in memory before it is parsed. The parser keeps four bytes for every place where a token
// begins: a text of nothing but brackets needs five times its size.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace opwright::json {

// Bytes of the parser's index over `text`; never less than the truth, and hardly more.
std::uint64_t index_bytes(std::string_view text);

// An error when a text that is in memory already, and its index, take more than twice the limit of a document.
Status check_index(std::string_view text, std::string_view path);

}  // namespace opwright::json
