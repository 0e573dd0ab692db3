#include "jobs/fuse_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/input.h"
#include "base/json.h"
#include "jobs/replay_trace.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".params.json";
constexpr int kDeepest = 6;  // folders below the one that was named

// Status of each stage in the report beside a test; empty where there is none.
std::map<std::string, std::string> stages_beside(const fs::path& params) {
  std::map<std::string, std::string> out;
  std::string text;
  if (!read_file((params.parent_path() / "report.json").string(), text)) return out;
  json::Document document;
  const auto root = document.parse(text);
  const json::Node* sections = root ? (*root)->find("sections") : nullptr;
  if (sections == nullptr) return out;
  for (const json::Node& section : *sections)
    out[std::string(section.string_field("id").value_or(""))] = section.string_field("status").value_or("");
  return out;
}

}  // namespace

Result<FuseChecked> check_fused(const std::string& params, const std::string& trace, const std::string& store,
                                int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(fuse::FusedTest test, fuse::read_fused_test(params));
  OPWRIGHT_TRY_ASSIGN(RecordedTrace recorded, open_recorded(trace, store, wait_ms));
  OPWRIGHT_TRY_ASSIGN(fuse::DriftReport drift, fuse::find_drift(recorded.trace, test));
  return FuseChecked{std::move(test), std::move(drift)};
}

Result<FuseList> list_fused(const std::string& folder) {
  FuseList out;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return fail(ErrorCode::kNotFound, fmt::format("{}: no such folder", folder));
  std::vector<fs::path> files;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    if (at->is_regular_file(error) && at->path().filename().string().ends_with(kEnding)) files.push_back(at->path());
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: {}", folder, error.message()));
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const auto test = fuse::read_fused_test(file.string());
    if (!test) {
      out.unreadable.push_back(test.error().message);
      continue;
    }
    std::map<std::string, std::string> stages = stages_beside(file);
    for (const fuse::ParameterSet& set : test->sets) {
      FuseListed row;
      row.test = test->name;
      row.set = set.id;
      row.mode = set.mode;
      row.seq_len = set.seq_len;
      row.folder = fs::relative(file.parent_path(), folder, error).generic_string();
      if (set.expected) {
        row.pcc = set.expected->pcc;
        row.atol = set.expected->atol;
      }
      if (set.targets) {
        row.device_us = (set.targets->kernel_ns + set.targets->op_to_op_ns) / 1000;
        row.roofline_us = set.targets->roofline_ns / 1000;
      }
      row.single_device = set.no_single_device.empty() ? "yes" : set.no_single_device;
      const bool recorded = std::ranges::any_of(set.contents, [](const std::string& hash) { return !hash.empty(); });
      row.weights = recorded ? "recorded" : "random";
      row.unit = stages["unit"];
      row.substitute = stages["substitute"];
      row.config = stages["config"];
      row.negative = stages["negative"];
      row.failed = std::ranges::any_of(stages, [](const auto& stage) { return stage.second == "fail"; });
      out.rows.push_back(std::move(row));
    }
  }
  return out;
}

}  // namespace opwright::jobs
