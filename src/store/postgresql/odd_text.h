// Any bytes as text that the server takes, and back. The server refuses NUL and what is no UTF-8; traces have both.
//
// Bytes that cannot be said so are U+EE00 + byte, and so are the bytes of those characters themselves, so that every
// text has one spelling and comes back as it was.
#pragma once

#include <string>
#include <string_view>

namespace opwright::store::postgresql {

void append_as_text(std::string& out, std::string_view bytes);
std::string bytes_of_text(std::string_view text);

}  // namespace opwright::store::postgresql
