// Configurations of a store as a text that other tools read.
#pragma once

#include <string>
#include <string_view>

#include "jobs/export_master.h"
#include "jobs/question.h"
#include "normalize/foreign_hash.h"

namespace opwright::jobs {

enum class ExportFormat : std::uint8_t { kMaster, kMaster1, kJsonl, kCsv };

struct ExportOptions {
  Question question;
  ExportFormat format = ExportFormat::kMaster;
  bool include_raised = false;                                    // masters: also what never returned
  normalize::Generation generation = normalize::Generation::kG5;  // kMaster: of hashes that no file has yet
};

struct ExportedConfigs {
  std::string text;
  ExportReport report;
};

Result<ExportedConfigs> export_configs(const ExportOptions& options);

}  // namespace opwright::jobs
