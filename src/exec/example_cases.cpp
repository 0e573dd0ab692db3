#include "exec/example_cases.h"

#include <algorithm>
#include <vector>

namespace opwright {
namespace embedded {
extern const std::string_view kExampleCasesTxt;
extern const std::string_view kCanaryCasesTxt;
}  // namespace embedded

namespace {

// Lines that are no comments.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty() && !line.starts_with('#')) out.push_back(line);
    at = end + 1;
  }
  return out;
}

}  // namespace

std::span<const std::string_view> example_cases() {
  static const std::vector<std::string_view> lines = lines_of(embedded::kExampleCasesTxt);
  return lines;
}

std::span<const std::string_view> canary_cases() {
  static const std::vector<std::string_view> lines = lines_of(embedded::kCanaryCasesTxt);
  return lines;
}

}  // namespace opwright
