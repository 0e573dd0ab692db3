// The files of a per-op folder, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace opwright::format {

struct PerOpFile {
  std::uint64_t number;
  std::string name;
};

struct PerOpListing {
  std::vector<PerOpFile> records;    // numeric order: the call sequence
  std::vector<std::string> folders;  // sorted
  std::size_t side_files = 0;
  std::size_t links = 0;  // to folders
  std::error_code error;  // why the folder could not be listed
};

// "108_ttnn_to_dtype_20260228_132954_861394.json" -> 108; false when the name is not one of a record.
bool per_op_number(std::string_view name, std::uint64_t& number);
PerOpListing list_per_op(const std::string& folder);

}  // namespace opwright::format
