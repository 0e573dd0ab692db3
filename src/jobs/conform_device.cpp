#include "jobs/conform_device.h"

#include <algorithm>

namespace opwright::jobs {

Result<ConformReport> conform_device(const ConformOptions& options) {
  std::unique_ptr<Device> program;
  if (is_device_program(options.device)) {
    OPWRIGHT_TRY_ASSIGN(program, open_any_device(options.device, options.program));
  }
  OPWRIGHT_TRY_ASSIGN(Conform conform, program ? Conform::on(*program) : Conform::on(options.device));
  for (const std::string& file : options.files) {
    OPWRIGHT_TRY(read_oracle(file, [&](OracleCase&& oracle) -> Status {
      if (options.ops.empty() || std::ranges::find(options.ops, oracle.config.op) != options.ops.end())
        conform.add(oracle);
      return {};
    }));
  }
  return conform.report();
}

}  // namespace opwright::jobs
