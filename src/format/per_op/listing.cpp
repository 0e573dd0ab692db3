#include "format/per_op/listing.h"

#include <algorithm>
#include <charconv>

#include "format/folder_listing.h"

namespace opwright::format {

bool per_op_number(std::string_view name, std::uint64_t& number) {
  if (!name.ends_with(".json")) return false;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end != name.data() && *end == '_';
}

Result<PerOpListing> list_per_op(const std::string& folder) {
  OPWRIGHT_TRY_ASSIGN(FolderListing found, list_folder(folder));
  PerOpListing listing;
  listing.skipped = std::move(found.skipped);
  for (FolderListing::Entry& entry : found.files) {
    std::uint64_t number = 0;
    if (entry.is_folder)
      listing.folders.push_back(std::move(entry.name));
    else if (per_op_number(entry.name, number))
      listing.records.push_back({number, std::move(entry.name)});
    else
      ++listing.side_files;
  }
  std::sort(listing.records.begin(), listing.records.end(), [](const PerOpFile& a, const PerOpFile& b) {
    return a.number != b.number ? a.number < b.number : a.name < b.name;
  });
  return listing;
}

}  // namespace opwright::format
