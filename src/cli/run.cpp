#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/value_json.h"
#include "device/device.h"
#include "exec/case_line.h"
#include "exec/run_case.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--case", "LINE", "the case: OP(name=value, …), as every failure prints it"},
    Flag{"--device", "DEVICE", "where to run it: sim:n300, sim:BOARD.json, null (default sim:n150)"},
    Flag{"--seed", "N", "of the input data (default 1)"},
    Flag{"--data", "NAME",
         "distribution of plain inputs: normal N(0,1), uniform U(0,1), positive |N(0,1)|+0.1 (default normal)"},
    Flag{"--pcc", "X", "threshold of the correlation instead of the operator's own"},
    Flag{"--metric", "NAME",
         "also say what this PCC of the existing suites gives: pcc, pcc-2026-06, pcc-corrcoef, pcc-tt-lib"},
    Flag{"--sample", "N", "judge about N elements of larger outputs (default 4194304)"},
};

constexpr char kDetails[] =
    "  opwright run --case 'ttnn.relu(input_tensor=tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM "
    "INTERLEAVED)))'\n"
    "  opwright run --device sim:n300 --seed 7 --case '…'\n\n"
    "The call is checked as the real library would check it, run on the device, and every output is compared with a\n"
    "reference in double precision. Exit code 0: passed (or accepted by a device without numerics); 1: failed,\n"
    "mistrusted or refused.";

Result<RunOptions> options_of(const ParsedArgs& args) {
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
  return options;
}

std::string result_text(const CaseResult& result, std::string_view repeat) {
  std::string text = fmt::format("{}", name_of(result.outcome));
  if (!result.argument.empty()) text += fmt::format(" [{}]", result.argument);
  if (!result.reason.empty()) text += ": " + result.reason;
  text += '\n';
  if (!result.assumed.empty())
    text += fmt::format("  assumed as not passed, because the trace lost them: {}\n", fmt::join(result.assumed, ", "));
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    text += fmt::format("  output {}: {}\n", i, tensor_line(result.outputs[i].spec));
    if (i < result.verdicts.size()) {
      const std::string verdict = to_text(result.verdicts[i]);
      for (std::size_t at = 0; at < verdict.size();) {
        const std::size_t end = std::min(verdict.find('\n', at), verdict.size());
        text += "    " + verdict.substr(at, end - at) + '\n';
        at = end + 1;
      }
    }
  }
  if (result.outcome != Outcome::kNotRun && !result.verdicts.empty())
    text += fmt::format("  device {:.3f} s, reference and judge {:.3f} s, L1 {} a core, DRAM {}\n", result.seconds,
                        result.reference_seconds, size_text(result.memory.l1_per_core), size_text(result.memory.dram));
  return text + fmt::format("  repeat: {}\n", repeat);
}

JsonObject result_json(const CaseResult& result, std::string_view line, const Device& device, std::string_view repeat) {
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    JsonObject output;
    output.add_raw("spec", value_json(Value::tensor(result.outputs[i].spec)))
        .add_raw("padded_shape", to_text(result.outputs[i].padded));
    if (i < result.verdicts.size()) output.add_raw("verdict", to_json(result.verdicts[i]));
    outputs.push_back(output.text());
  }
  return JsonObject()
      .add("outcome", name_of(result.outcome))
      .add("reason", result.reason)
      .add("argument", result.argument)
      .add_raw("assumed", json_array(result.assumed, false))
      .add("case", line)
      .add("device", device.can().name)
      .add("numerics", name_of(device.can().numerics))
      .add_raw("outputs", json_array(outputs, true))
      .add("l1_per_core", result.memory.l1_per_core)
      .add("dram", result.memory.dram)
      .add_number("seconds", result.seconds)
      .add_number("reference_seconds", result.reference_seconds)
      .add("repeat", repeat);
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string line = args.value("--case");
  if (line.empty())
    return fail(ErrorCode::kUsage, "run needs --case 'OP(name=value, …)'; 'opwright help run' shows one");
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(line));
  OPWRIGHT_TRY_ASSIGN(const RunOptions options, options_of(args));
  OPWRIGHT_TRY_ASSIGN(const auto device, open_device(args.value("--device", "sim:n150")));
  const CaseResult result = run_case(config, *device, options);
  const std::string repeat = repeat_command(case_line(config), device->can().name, options.recipe);
  print_object(result_json(result, case_line(config), *device, repeat),
               {{"outcome", std::string(name_of(result.outcome))}, {"reason", result.reason}, {"case", line}},
               result_text(result, repeat), env);
  return result.outcome == Outcome::kPassed || result.outcome == Outcome::kAccepted ? kExitOk : kExitDifference;
}

}  // namespace

const Command kRun{
    "run", "Run a case on a device and judge it against an independent reference.", kDetails, "", 0, 0, kFlags, run};

}  // namespace opwright::cli
