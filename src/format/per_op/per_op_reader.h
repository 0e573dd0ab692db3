// Folders of per-op JSON files, variants v0 to v3 and pre-op: one file a call, `<number>_<op>_<time>.json`, side files
// that start with `_`, and per-test sub-folders with a `_status.json`.
#pragma once

#include <string>
#include <string_view>

#include "format/trace_sink.h"

namespace opwright::format {

// True when the folder itself or a sub-folder of tests holds files named like per-op records.
bool is_per_op_folder(const std::string& folder);
Status read_per_op_folder(const std::string& folder, const ReadOptions& options, TraceSink& sink);
// A single record outside a folder.
Status read_per_op_file(std::string_view text, const std::string& path, TraceSink& sink);

}  // namespace opwright::format
