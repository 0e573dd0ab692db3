#include "format/per_op/listing.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace opwright::format {

namespace fs = std::filesystem;

bool per_op_number(std::string_view name, std::uint64_t& number) {
  if (!name.ends_with(".json")) return false;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end != name.data() && *end == '_';
}

PerOpListing list_per_op(const std::string& folder) {
  PerOpListing listing;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, listing.error)) {
    std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    if (entry.is_directory(ignored)) {
      if (!entry.is_symlink(ignored))
        listing.folders.push_back(std::move(name));  // a link may lead back up
      else
        ++listing.links;
    } else if (per_op_number(name, number)) {
      listing.records.push_back({number, std::move(name)});
    } else {
      ++listing.side_files;
    }
  }
  std::sort(listing.records.begin(), listing.records.end(), [](const PerOpFile& a, const PerOpFile& b) {
    return a.number != b.number ? a.number < b.number : a.name < b.name;
  });
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

}  // namespace opwright::format
