#include "fuse/emit_pytest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/visible_text.h"
#include "fuse/python_parts.h"
#include "fuse/spelling.h"
#include "model/host_tensor.h"

namespace opwright::fuse {
namespace {

using gentest::Python;

constexpr double kPccIfNotMeasured = 0.99;
constexpr std::size_t kMostOfLine = 110;

bool is_mesh(const FusedTest& test) { return volume(test.mesh) > 1; }

bool has_recorded(const FusedTest& test) {
  return std::ranges::any_of(test.sets, [](const ParameterSet& set) {
    return std::ranges::any_of(set.contents, [](const std::string& hash) { return !hash.empty(); });
  });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// What a trace says, in a comment of the program: on one line, and not without end.
std::string comment_text(std::string_view text) {
  std::string out = visible(text);
  if (out.size() > kMostOfLine) out = out.substr(0, kMostOfLine) + "…";
  std::ranges::replace(out, '"', '\'');
  return out;
}

std::string indented(const std::string& text, std::size_t columns) {
  const std::string pad(columns, ' ');
  std::string out = pad + text;
  replace_all(out, "\n", "\n" + pad);
  return out + "\n";
}

Python microseconds(double ns) { return Python::atom(fmt::format("{:.3f}", ns / 1000)); }
Python text(const std::string& value) { return Python::atom(gentest::python_string(value)); }

Python dict_of(const std::vector<std::pair<std::string, Python>>& items) {
  Python out = Python::call("dict");
  for (const auto& [name, item] : items) out.add(item, name);
  return out;
}

// "2 matches, the first from call 96 on: layer0/feed_forward in test_decoder[decode-32]"
std::string origin_of(const ParameterSet& set) {
  if (set.matches.empty()) return "";
  const Match& first = set.matches.front();
  std::string out = fmt::format("{} match{}", set.matches.size(), set.matches.size() == 1 ? "" : "es");
  if (!first.calls.empty())
    out += fmt::format(", {}from call {} on", set.matches.size() == 1 ? "" : "the first ", first.calls.front());
  if (!first.label.empty()) out += ": " + first.label;
  const std::size_t name = first.test.rfind("::");
  if (name != std::string::npos) out += " in " + first.test.substr(name + 2);
  return out;
}

// Measured times are targets; what a model of the hardware says is for people only.
Python targets_of(const ParameterSet& set) {
  Python out = Python::call("dict");
  if (!set.targets) return out;
  const bool measured = set.targets->source == "profiler";
  const auto name = [&](std::string_view time) {
    return measured ? std::string(time) : fmt::format("modelled_{}", time);
  };
  if (set.targets->kernel_ns > 0) out.add(microseconds(set.targets->kernel_ns), name("kernel_us"));
  if (set.targets->op_to_op_ns > 0) out.add(microseconds(set.targets->op_to_op_ns), name("op_to_op_us"));
  if (set.targets->roofline_ns > 0) out.add(microseconds(set.targets->roofline_ns), "roofline_us");
  return out;
}

// What is the same in all entries stands once in front of them.
std::set<std::string> common_inputs(const SpelledTest& spelled) {
  std::set<std::string> out;
  if (spelled.sets.size() < 2) return out;
  for (std::size_t i = 0; i < spelled.sets[0].inputs.size(); ++i) {
    const auto& [name, first] = spelled.sets[0].inputs[i];
    const std::string text = gentest::on_one_line(first);
    if (std::ranges::all_of(spelled.sets,
                            [&](const SpelledSet& set) { return gentest::on_one_line(set.inputs[i].second) == text; }))
      out.insert(name);
  }
  return out;
}

std::string limits_of(const ParameterSet& set) {
  if (!set.expected)
    return fmt::format("pcc={}, atol=float(\"inf\"), rtol=0.0,  # the usual bound: nothing was measured",
                       kPccIfNotMeasured);
  return fmt::format("pcc={}, atol={}, rtol={},  # measured: PCC {:.7f} over {} seeds",
                     gentest::python_float(set.expected->pcc), gentest::python_float(set.expected->atol),
                     gentest::python_float(set.expected->rtol), set.expected->measured_pcc, set.expected->seeds);
}

std::string parameters(const FusedTest& test, const SpelledTest& spelled) {
  std::string out;
  const auto line = [&](const std::string& name, const Python& value) {
    out += "        " + name + "=";
    gentest::lay_out(out, value, 8, gentest::kColumns - 1);
    out += ",\n";
  };
  const std::set<std::string> common = common_inputs(spelled);
  if (!common.empty()) {
    std::vector<std::pair<std::string, Python>> items;
    for (const auto& input : spelled.sets[0].inputs)
      if (common.contains(input.first)) items.push_back(input);
    out += "# Inputs that are the same in all entries.\nCOMMON = ";
    gentest::lay_out(out, dict_of(items), 0);
    out += "\n\n";
  }
  out += "# One entry for each way in which the model calls it.\nPARAMS = [\n";
  for (std::size_t s = 0; s < test.sets.size(); ++s) {
    const ParameterSet& set = test.sets[s];
    out += fmt::format("    # {}\n    Params(\n", comment_text(origin_of(set)));
    out += fmt::format("        id={}, mode={}, seq_len={},\n        {}\n", gentest::python_string(set.id),
                       gentest::python_string(set.mode), set.seq_len, limits_of(set));
    line("targets", targets_of(set));
    std::vector<std::pair<std::string, Python>> inputs;
    for (const auto& input : spelled.sets[s].inputs)
      if (!common.contains(input.first)) inputs.push_back(input);
    Python own = dict_of(inputs);
    if (!common.empty()) own.add(Python::atom("**COMMON"));
    line("inputs", own);
    line("outputs", dict_of(spelled.sets[s].outputs));
    for (const auto& [name, value] : spelled.sets[s].differing) line(name, value);
    if (is_mesh(test))
      line("no_single_device", set.no_single_device.empty() ? Python::atom("None") : text(set.no_single_device));
    out += "    ),\n";
  }
  return out + "]\n";
}

std::string function(const std::string& name, const std::string& first, const FusedTest& test,
                     const std::vector<std::string>& lines, const std::string& returns) {
  std::vector<std::string> names{"p"};
  if (!first.empty()) names.push_back(first);
  for (const FusedInput& input : test.inputs) names.push_back(input.name);
  std::string out = fmt::format("def {}({}):\n", name, fmt::join(names, ", "));
  for (const std::string& line : lines) out += indented(line, 4);
  return out + fmt::format("    return {}\n", returns);
}

std::string header(const FusedTest& test) {
  return fmt::format(
      "\"\"\"{0}: {1}.\n\nOut of {2}.\n`{0}_ttnn` makes the recorded calls, `{0}_reference` computes "
      "the same in float64.\nNeeds pytest, torch and ttnn; README.md says how to run it. Written by `opwright fuse "
      "make`.\n\"\"\"\n",
      test.name, comment_text(test.pattern), test.source.empty() ? "a trace" : comment_text(test.source));
}

std::string imports(const std::string& body) {
  std::string out;
  for (const std::string_view module :
       {"csv", "functools", "itertools", "math", "os", "re", "subprocess", "sys", "time"})
    if (body.find(fmt::format("{}.", module)) != std::string::npos) out += fmt::format("import {}\n", module);
  out +=
      "from pathlib import Path\nfrom types import SimpleNamespace as Params\nfrom typing import Callable, "
      "NamedTuple\n\n";
  out += "import pytest\nimport torch\nimport ttnn\nfrom loguru import logger\n";
  if (body.find("functional") != std::string::npos) out += "from torch.nn import functional\n";
  return out +
         "\ntry:\n    from tracy import signpost\nexcept ImportError:  # no profiler here\n\n"
         "    def signpost(_name):\n        pass\n\n";
}

std::string settings(const FusedTest& test) {
  std::string out;
  if (is_mesh(test)) out += fmt::format("MESH = {}\n", gentest::on_one_line(gentest::python_tuple(test.mesh)));
  out += "SEEDS = (1, 2, 3)\nWARMUP_ITERATIONS, MEASURED_ITERATIONS, DEVICE_ITERATIONS = 10, 100, 10\n";
  out += "DEVICE_PERF_MARGIN = 0.1\nL1_SMALL_SIZE = 32768\n";
  out +=
      fmt::format("DEVICE_PERF_VARIABLE = \"{}\"  # set while the profiler runs a test\n", device_perf_variable(test));
  out += "DEVICE_PERF = os.environ.get(DEVICE_PERF_VARIABLE)\n";
  out += "MOCK = bool(os.environ.get(\"TT_METAL_MOCK_CLUSTER_DESC_PATH\"))  # checks every call, computes no number\n";
  if (has_recorded(test)) out += "DATA = Path(__file__).parent / \"data\"\n";
  return out;
}

std::string tests(const FusedTest& test) {
  const std::string ways = "\"p, use_real_weights, program_cache_enabled, trace_mode\"";
  const std::string arguments = "use_real_weights, program_cache_enabled, trace_mode";
  const std::string no_profiler =
      "not_measured = pytest.mark.skipif(MOCK or bool(DEVICE_PERF), reason=\"runs the profiler on hardware\")\n"
      "each_set = pytest.mark.parametrize(\"p\", PARAMS, ids=lambda p: p.id)\n";
  if (!is_mesh(test))
    return no_profiler +
           fmt::format(
               "\n\n@pytest.mark.parametrize({}, cases())\ndef test_{}(device, p, {}):\n    run_test(p, device, {})\n",
               ways, test.name, arguments, arguments) +
           fmt::format(
               "\n\n@not_measured\n@each_set\ndef test_{}_device_perf(p):\n    check_device_perf(p, \"test_{}\")\n",
               test.name, test.name) +
           "\n\n# The model runs on one chip: these are its single device tests, too.\n" +
           fmt::format("test_{0}_single_device = test_{0}\ntest_{0}_single_device_device_perf = test_{0}_device_perf\n",
                       test.name);
  const std::string chips = fmt::format(
      "needs_mesh = pytest.mark.skipif(f\"ttnn.get_num_devices() < {{math.prod(MESH)}}\", reason=\"a mesh of {} "
      "chips\")\n",
      fmt::join(test.mesh, "x"));
  std::string out = chips + no_profiler;
  out +=
      "alone = pytest.mark.parametrize(\n    \"p\",\n    [\n        pytest.param(p, id=p.id, marks=[pytest.mark.skip("
      "reason=p.no_single_device)] if p.no_single_device else [])\n        for p in PARAMS\n    ],\n)\n";
  for (const bool single : {false, true}) {
    const std::string name = single ? test.name + "_single_device" : test.name;
    out +=
        fmt::format("\n\n{}@pytest.mark.parametrize({}, cases({}))\ndef test_{}({}, p, {}):\n    run_test(p, {}, {})\n",
                    single ? "" : "@needs_mesh\n", ways, single ? "single_device=True" : "", name,
                    single ? "device" : "mesh_device", arguments, single ? "device" : "mesh_device", arguments);
    out += fmt::format("\n\n{}@not_measured\n@{}\ndef test_{}_device_perf(p):\n    check_device_perf(p, \"test_{}\")\n",
                       single ? "" : "@needs_mesh\n", single ? "alone" : "each_set", name, name);
  }
  return out;
}

// What the template's lines are about that end with `# if NAME`.
std::set<std::string> conditions(const FusedTest& test) {
  std::set<std::string> out;
  const auto any = [](const auto& range, auto&& is) { return std::ranges::any_of(range, is); };
  const bool freed = any(test.inputs, [](const FusedInput& input) { return input.is_freed; });
  out.insert(freed ? "freed" : "kept");
  out.insert(has_recorded(test) ? "recorded" : "random_only");
  if (any(test.sets, [&](const ParameterSet& set) {
        return any(set.inputs, [](const TensorSpec& spec) { return spec.storage.value == StorageType::kHost; });
      }))
    out.insert("host");
  return out;
}

}  // namespace

std::string device_perf_variable(const FusedTest& test) {
  std::string out = test.name + "_device_perf";
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

Result<std::string> emit_pytest(const FusedTest& test) {
  OPWRIGHT_TRY_ASSIGN(const SpelledTest spelled, spell(test));
  std::set<std::string> roots = spelled.parts;
  roots.merge(conditions(test));
  std::string table = parameters(test, spelled);
  roots.insert(table.find("in_place=True") != std::string::npos ? "in_place" : "all_new");
  std::string constants;
  for (const auto& [name, value] : spelled.constants) {
    constants += name + " = ";
    gentest::lay_out(constants, value, 0);
    constants += "\n";
  }
  if (constants.find("with_fields(") != std::string::npos) roots.insert("with_fields");
  for (const char* name : {"Tensor", "run_test", "check_device_perf", "cases", "device"}) roots.insert(name);
  if (is_mesh(test)) roots.insert({"mesh_device", "on_each_chip"});
  if (!is_mesh(test)) roots.insert("one_chip");
  const auto section = [&](Section which) { return parts_for(roots, is_mesh(test), which) + "\n\n"; };
  std::string machinery = section(Section::kMachinery);
  replace_all(machinery, "FUSED", test.name);
  if (!is_mesh(test)) replace_all(machinery, "cases(single_device=False)", "cases()");
  // What a person looks for comes first: parameters, the exact result, the calls.
  std::string body = settings(test) + "\n\n" + section(Section::kValues);
  if (!constants.empty()) body += constants + "\n";
  body += table + "\n\n" + section(Section::kReferences);
  body += function(test.name + "_reference", "", test, spelled.reference_lines, spelled.reference_returns) + "\n\n";
  body += function(test.name + "_ttnn", "device", test, spelled.device_lines, spelled.device_returns) + "\n\n";
  body += machinery + tests(test);
  return header(test) + "\n" + imports(body) + "\n" + body;
}

}  // namespace opwright::fuse
