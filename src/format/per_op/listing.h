// The files of a per-op folder, by their names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::format {

struct PerOpFile {
  std::uint64_t number;
  std::string name;
};

struct PerOpListing {
  std::vector<PerOpFile> records;    // numeric order: the call sequence
  std::vector<std::string> folders;  // sorted
  std::size_t side_files = 0;
  std::map<std::string_view, std::size_t> skipped;  // what no folder is entered for: "FIFOs" -> how many
};

// "108_ttnn_to_dtype_20260228_132954_861394.json" -> 108; false when the name is not one of a record.
bool per_op_number(std::string_view name, std::uint64_t& number);
// Fails as list_folder() does.
Result<PerOpListing> list_per_op(const std::string& folder);

}  // namespace opwright::format
