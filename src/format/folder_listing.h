// What lies in a folder, by kind: only regular files, links to them and folders are entered. FIFOs, sockets and devices
// may never end, links to folders may lead back up: they are counted.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::format {

struct FolderListing {
  struct Entry {
    std::string name;
    bool is_folder = false;
  };
  std::vector<Entry> files;                         // by name
  std::map<std::string_view, std::size_t> skipped;  // "FIFOs" -> how many
};

// Fails when the folder cannot be listed, or has more entries than limits().files.
Result<FolderListing> list_folder(const std::string& folder);

}  // namespace opwright::format
