// The flags that choose calls of a trace, shared by the verbs that work on traces.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "cli/command.h"
#include "format/folder_listing.h"
#include "format/native/call_filter.h"

namespace opwright::cli {

inline constexpr Flag kOnlyFlag{"--only", "OP",
                                "only calls of this operation, e.g. add, ttnn.add, '*matmul*' (may be repeated)", true};
inline constexpr Flag kPhaseFlag{"--phase", "P", "only calls of this phase (may be repeated)", true};
inline constexpr Flag kLabelFlag{"--label", "L", "only calls under this label, e.g. 'layer0*' (may be repeated)", true};
inline constexpr Flag kRangeFlag{"--range", "A:B", "only calls with numbers from A to B"};

inline Result<format::CallFilter> call_filter_of(const ParsedArgs& args) {
  format::CallFilter filter;
  filter.ops = args.all("--only");
  filter.phases = args.all("--phase");
  filter.labels = args.all("--label");
  if (const std::string range = args.value("--range"); !range.empty()) {
    if (const Status parsed = format::parse_range(range, filter); !parsed)
      return fail(ErrorCode::kUsage, "--range " + parsed.error().message);
  }
  return filter;
}

// The native traces that `path` means: a file, or those of a folder (one a process), in the order of their names.
inline Result<std::vector<std::string>> native_traces_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  OPWRIGHT_TRY_ASSIGN(const format::FolderListing listing, format::list_folder(path));
  std::vector<std::string> found;
  for (const format::FolderListing::Entry& entry : listing.files) {
    const std::string& name = entry.name;
    if (!entry.is_folder && (name.ends_with(".opwt") || name.ends_with(".opwt.gz") || name.ends_with(".opwt.zst")))
      found.push_back((fs::path(path) / name).string());
  }
  if (found.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: no native trace (.opwt) in this folder; give it a folder that has one", path));
  return found;
}

}  // namespace opwright::cli
