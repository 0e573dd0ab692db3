#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/visible_text.h"
#include "fuse/emit_pytest.h"
#include "model/host_tensor.h"

namespace opwright::fuse {
namespace {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string calls_text(const Match& match) {
  if (match.calls.empty()) return "";
  return fmt::format("{}–{}", match.calls.front(), match.calls.back());
}

}  // namespace

std::string emit_readme(const FusedTest& test) {
  const std::string file = fmt::format("test_{}.py", test.name);
  std::string out = fmt::format("# {}\n\n`{}`", test.name, visible(test.pattern));
  if (!test.source.empty()) out += fmt::format(", out of {}", visible(test.source));
  out += fmt::format(
      ". Written by `opwright fuse make`; the same trace gives the same files.\n\n"
      "| parameters | mode | length | matches | first calls | label | expected PCC | internal bytes |\n"
      "| --- | --- | ---: | ---: | --- | --- | ---: | ---: |\n");
  for (const ParameterSet& set : test.sets) {
    const Match first = set.matches.empty() ? Match{} : set.matches.front();
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", set.id, visible(set.mode), set.seq_len,
                       set.matches.size(), calls_text(first), visible(first.label),
                       set.expected ? fmt::format("{}", set.expected->pcc) : "not measured",
                       bytes_text(set.internal_bytes));
  }
  out += fmt::format(
      "\nInternal bytes are written and read again by the separate operations, and by none of a fused one.\n\n"
      "- `{0}`: the test. `{1}_reference` is the exact result, `{1}_ttnn` the recorded calls.\n"
      "- `{1}.params.json`: the same for machines; `opwright fuse check` compares it with a newer trace.\n\n"
      "```sh\n"
      "pytest {0}                                       # on hardware\n"
      "pytest {0} -k 'random_weights and eager'         # some of it\n"
      "pytest {0} -k device_perf -s                     # times, under the profiler\n"
      "opwright mock --board {2} -- pytest {0}       # every call checked, without hardware\n"
      "```\n\n"
      "`{3}` is set while the profiler runs a test. What cannot be run is skipped with its reason: `pytest -rs`.\n",
      file, test.name, volume(test.mesh) > 1 ? "t3k" : "n150", device_perf_variable(test));
  if (!test.findings.empty()) {
    out += "\nTo know:\n\n";
    for (const Finding& finding : test.findings) {
      out += fmt::format("- {}: {}", name_of(finding.code), visible(finding.text));
      if (!finding.at.empty()) out += fmt::format(" (call {})", fmt::join(finding.at, ", "));
      out += "\n";
    }
  }
  return out;
}

}  // namespace opwright::fuse
