#include "cli/tolerance_flags.h"

namespace opwright::cli {

Result<jobs::Tolerance> tolerance_of(const ParsedArgs& args) {
  jobs::Tolerance tolerance;
  OPWRIGHT_TRY_ASSIGN(const std::size_t failed, count_of(args, kMaxFailedFlag.name, 0));
  tolerance.failed = static_cast<std::int64_t>(failed);
  const bool is_strict = args.is_set(kStrictVerdictsFlag.name);
  const bool is_limited = !args.value(kMaxUnprovenFlag.name).empty();
  if (is_strict && is_limited)
    return fail(ErrorCode::kUsage, "--strict-verdicts allows no unproven case; leave out --max-unproven, or that");
  if (is_strict) tolerance.unproven = 0;
  if (is_limited) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t unproven, count_of(args, kMaxUnprovenFlag.name, 0));
    tolerance.unproven = static_cast<std::int64_t>(unproven);
  }
  return tolerance;
}

bool has_tolerance(const ParsedArgs& args) {
  return args.is_set(kStrictVerdictsFlag.name) || !args.value(kMaxUnprovenFlag.name).empty() ||
         !args.value(kMaxFailedFlag.name).empty();
}

}  // namespace opwright::cli
