// What `fuse make` found out, stage by stage: report.json (for scripts, docs/formats/fuse.md) and report.md (for
// people).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/fused_test.h"

namespace opwright::fuse {

enum class StageStatus : std::uint8_t { kPass, kFail, kSkip };
std::string_view name_of(StageStatus status);  // "pass", "fail", "skip"

struct Section {
  std::string id;
  StageStatus status = StageStatus::kSkip;
  std::string reason;          // why it failed or was skipped; "" it passed
  std::string metrics = "{}";  // JSON
  std::string log;             // path in the folder
  double seconds = 0;
  bool is_reused = false;  // of an earlier run on the same input
  std::string evidence;    // text of the log
};

// The stages in their order.
inline constexpr auto kStages = std::to_array<std::string_view>(
    {"baseline", "match", "boundary", "emit", "unit", "substitute", "config", "perf", "single_device", "negative"});

struct Report {
  std::string name, trace, commit;
  std::vector<std::string> phases;
  std::vector<Section> sections;
  FusedTest test;

  bool failed() const;
  const Section* section(std::string_view id) const;
};

// The steps of the guide that people follow by hand, and the stage that does each; "" none: the report itself.
struct GuideStep {
  int number;
  std::string_view what, stage;
};
std::span<const GuideStep> guide_steps();

std::string report_json(const Report& report);
std::string report_markdown(const Report& report);

// One parameter set as a row: shapes, bytes, expectation, times.
std::string row_json(const FusedTest& test, const ParameterSet& set);

}  // namespace opwright::fuse
