// Names of files made of names that a trace chose.
#pragma once

#include <string>
#include <string_view>

namespace opwright {

// Of `text` what every file system takes: letters, digits, `_` and `-`, all else as `_`. No more than `most` bytes (at
// least 14): a longer one is cut and ends in a hash of the whole, so that two long names stay two.
std::string file_name_part(std::string_view text, std::size_t most);
// The same in lower case, with a hash where a letter was not: on some file systems Add and add are one file.
std::string lower_file_name_part(std::string_view text, std::size_t most);

}  // namespace opwright
