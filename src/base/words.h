// Counts, sizes and lists as people read them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opwright {

// Columns on a terminal: a character takes one, those of East Asia and pictures two, marks that combine none.
std::size_t width_of(std::string_view text);
// At most `width` columns of a terminal, with … where it was cut.
std::string cut_text(std::string_view text, std::size_t width);
// A cell as RFC 4180 writes it, on which a spreadsheet has nothing to compute: a text that would begin a formula gets
// an apostrophe in front, as does one that begins with an apostrophe, so that taking one away gives the text again.
// Numbers stay numbers. What no terminal should get raw is escaped (base/visible_text.h); lines stay lines.
std::string csv_cell(std::string_view text);
// As a shell takes it for one word; with characters that nobody sees, in the form $'…' that bash, zsh and ksh read.
std::string shell_quoted(std::string_view text);
std::string shell_word(std::string_view text);  // quoted only where it must be
// 1 -> "1 file", 2 -> "2 files"; `many` for words with another plural
std::string plural(std::int64_t count, std::string_view one, std::string_view many = "");
// 512 -> "512 B", 34246 -> "34.2 kB", 20100000 -> "20.1 MB"
std::string size_text(std::int64_t bytes);
// 12345678 -> "12,345,678"
std::string grouped(std::int64_t number);
// The largest first.
std::vector<std::pair<std::string, std::int64_t>> by_count(const std::map<std::string, std::int64_t>& counts);
// "ttnn.add 12, ttnn.linear 3, and 4 more"
std::string count_list(const std::map<std::string, std::int64_t>& counts, std::size_t most);

}  // namespace opwright
