// A file that no folder lists: it goes away with its last descriptor, whatever becomes of us.
#pragma once

#include <string>

namespace opwright {

// $TMPDIR, else /var/tmp or /tmp.
std::string temporary_folder();
// Open for reading and writing by its owner; -1 with errno.
int open_nameless(const std::string& folder);

}  // namespace opwright
