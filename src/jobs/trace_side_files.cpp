#include "jobs/trace_side_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/words.h"
#include "format/jsonl/writer.h"
#include "format/per_op/folder_writer.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

void add(format::Conversion& all, const format::Conversion& part) {
  all.calls += part.calls;
  for (const auto& [what, count] : part.dropped) all.drop(what, count);
}

std::string told(const format::Conversion& done, const std::string& as, const std::string& where) {
  std::string line = fmt::format("{} as {} in {}", plural(static_cast<std::int64_t>(done.calls), "call"), as, where);
  std::string names;
  for (const auto& [what, count] : done.dropped)
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", what, grouped(static_cast<std::int64_t>(count)));
  return names.empty() ? line : fmt::format("{}; no place for: {}", line, names);
}

}  // namespace

Result<std::vector<std::string>> write_side_files(const std::vector<std::string>& traces, const SideFiles& wanted) {
  std::vector<std::string> lines;
  format::Conversion per_op, jsonl;
  for (const std::string& path : traces) {
    if (!wanted.per_op.empty()) {
      OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace, format::NativeTrace::open(path));
      const std::string folder =
          traces.size() == 1 ? wanted.per_op : (fs::path(wanted.per_op) / fs::path(path).stem()).string();
      OPWRIGHT_TRY_ASSIGN(const format::Conversion done, format::native_to_per_op(trace, folder));
      add(per_op, done);
    }
    if (!wanted.jsonl.empty()) {
      OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace, format::NativeTrace::open(path));
      std::ofstream file(wanted.jsonl, std::ios::app | std::ios::binary);
      OPWRIGHT_TRY_ASSIGN(const format::Conversion done,
                          format::native_to_jsonl(trace, [&](std::string_view text) -> Status {
                            file << text << std::flush;
                            if (file) return {};
                            return fail(ErrorCode::kIo, fmt::format("{}: cannot be written", wanted.jsonl));
                          }));
      add(jsonl, done);
    }
  }
  if (!wanted.per_op.empty()) lines.push_back(told(per_op, "per-op files", wanted.per_op));
  if (!wanted.jsonl.empty()) lines.push_back(told(jsonl, "op JSONL", wanted.jsonl));
  return lines;
}

}  // namespace opwright::jobs
