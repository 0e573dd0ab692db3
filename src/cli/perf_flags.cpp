#include "cli/perf_flags.h"

#include <fmt/format.h>

namespace opwright::cli {
namespace {

Result<Iterations> iterations_of(const ParsedArgs& args, std::string_view flag, Iterations otherwise) {
  const std::string text = args.value(flag);
  if (text.empty()) return otherwise;
  const auto iterations = parse_iterations(text);
  if (!iterations)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: warm-up and measured iterations, as in 10+100", flag, text));
  return *iterations;
}

}  // namespace

Result<std::optional<PerfPlan>> perf_plan_of(const ParsedArgs& args) {
  PerfPlan plan;
  OPWRIGHT_TRY_ASSIGN(plan.end_to_end, iterations_of(args, "--perf-iterations", plan.end_to_end));
  OPWRIGHT_TRY_ASSIGN(plan.device, iterations_of(args, "--perf-device-iterations", plan.device));
  OPWRIGHT_TRY_ASSIGN(const std::size_t rounds, count_of(args, "--perf-rounds", 5));
  if (rounds == 0 || rounds > 1000) return fail(ErrorCode::kUsage, "--perf-rounds: from 1 to 1000");
  plan.rounds = static_cast<int>(rounds);
  plan.trace = args.is_set("--perf-trace");
  plan.program_cache = !args.is_set("--perf-no-program-cache");
  if (plan.trace && !plan.program_cache)
    return fail(ErrorCode::kUsage, "--perf-trace needs the program cache: a trace replays programs that are kept");
  if (args.is_set("--perf")) return std::optional<PerfPlan>(plan);
  for (const char* flag : {"--perf-iterations", "--perf-device-iterations", "--perf-rounds"})
    if (!args.value(flag).empty()) return fail(ErrorCode::kUsage, fmt::format("{} goes with --perf", flag));
  for (const char* flag : {"--perf-trace", "--perf-no-program-cache", "--perf-force"})
    if (args.is_set(flag)) return fail(ErrorCode::kUsage, fmt::format("{} goes with --perf", flag));
  return std::optional<PerfPlan>();
}

}  // namespace opwright::cli
