#include "cli/device_flags.h"

namespace opwright::cli {

Result<app::ProgramSettings> program_settings_of(const ParsedArgs& args) {
  app::ProgramSettings settings;
  settings.python = args.value(kPythonFlag.name);
  if (const std::string text = args.value(kStartTimeoutFlag.name); !text.empty()) {
    OPWRIGHT_TRY_ASSIGN(settings.start_seconds, app::parse_start_seconds(text));
  }
  return settings;
}

}  // namespace opwright::cli
