// The times in names of per-op files: local time with microseconds, `20260228_132954_861394`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opwright::format {

// Nanoseconds since 1970 of `108_ttnn_add_20260228_132954_861394.json`; nothing when the name has no time.
std::optional<std::int64_t> time_of_file(std::string_view name);

// Turns times into the text of names; remembers the second it was asked for last.
class FileTimes {
 public:
  // Appends `20260228_132954_861394`.
  void append(std::int64_t unix_ns, std::string& out);

 private:
  std::int64_t second_ = INT64_MIN;
  std::string text_;
};

}  // namespace opwright::format
