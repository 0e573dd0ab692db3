// Text inside XML and HTML, between tags and in attributes.
#pragma once

#include <string>
#include <string_view>

namespace opwright::report {

// XML 1.0 has no way to write most control characters, and a message of a crashed process may hold any byte: what
// nobody would see is written as an escape that everybody sees (base/visible_text.h).
std::string markup_text(std::string_view text);

}  // namespace opwright::report
