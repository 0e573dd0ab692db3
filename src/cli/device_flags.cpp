#include "cli/device_flags.h"

namespace opwright::cli {

Result<jobs::ProgramSettings> program_settings_of(const ParsedArgs& args) {
  jobs::ProgramSettings settings;
  settings.python = args.value(kPythonFlag.name);
  if (const std::string text = args.value(kStartTimeoutFlag.name); !text.empty()) {
    OPWRIGHT_TRY_ASSIGN(settings.start_seconds, jobs::parse_start_seconds(text));
  }
  return settings;
}

}  // namespace opwright::cli
