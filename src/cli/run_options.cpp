#include "cli/run_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/secrets.h"
#include "base/words.h"

namespace opwright::cli {

Result<RunOptions> run_options_of(const ParsedArgs& args) {
  RunOptions options;
  OPWRIGHT_TRY_ASSIGN(const std::size_t seed, count_of(args, "--seed", 1));
  options.recipe.seed = seed;
  OPWRIGHT_TRY_ASSIGN(const std::size_t sample,
                      count_of(args, "--sample", static_cast<std::size_t>(options.most_elements)));
  if (sample == 0) return fail(ErrorCode::kUsage, "--sample: at least 1");
  options.most_elements = static_cast<std::int64_t>(sample);
  const std::string data = args.value("--data", "normal");
  const auto distribution = parse_distribution(data);
  if (!distribution)
    return fail(ErrorCode::kUsage,
                fmt::format("--data: no distribution '{}'; normal, uniform, positive or integers", data));
  options.recipe.distribution = *distribution;
  if (const std::string text = args.value("--pcc"); !text.empty()) {
    double pcc = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pcc);
    if (error != std::errc() || end != text.data() + text.size() || pcc < -1 || pcc > 1)
      return fail(ErrorCode::kUsage, fmt::format("--pcc: '{}' is no number between -1 and 1", text));
    options.pcc = pcc;
  }
  if (const std::string name = args.value("--metric"); !name.empty()) {
    options.variant = parse_pcc_variant(name);
    if (!options.variant)
      return fail(ErrorCode::kUsage,
                  fmt::format("--metric: no '{}'; pcc, pcc-2026-06, pcc-corrcoef or pcc-tt-lib", name));
  }
  options.compute = !args.is_set("--check");
  options.mutate = args.is_set("--mutate");
  options.repeat = args.is_set("--warm") ? 2 : 1;
  options.capture = true;
  if (args.is_set("--golden") && !args.value("--against").empty())
    return fail(ErrorCode::kUsage, "--golden and --against: one second opinion at a time");
  return options;
}

std::string repeat_flags(const ParsedArgs& args) {
  std::string text;
  for (const char* flag : {"--pcc", "--sample", "--against", "--python"})
    if (const std::string value = args.value(flag); !value.empty())
      text += fmt::format(" {} {}", flag, shell_word(masked(value)));
  for (const char* flag : {"--check", "--golden", "--mutate"})
    if (args.is_set(flag)) text += fmt::format(" {}", flag);
  return text;
}

}  // namespace opwright::cli
