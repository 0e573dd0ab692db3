#include "gentest/case_files.h"

#include <fmt/format.h>

#include <set>

#include "base/visible_text.h"
#include "exec/traced_board.h"
#include "gentest/row_names.h"
#include "model/case_line.h"
#include "ops/all_ops.h"
#include "vectors/validity.h"

namespace opwright::embedded {
extern const std::string_view kGentestCasesMain;
extern const std::string_view kGentestCasesCmake;
}  // namespace opwright::embedded

namespace opwright::gentest {
namespace {

// Why the library cannot judge it; "" it can.
std::string why_not(const Recorded& recorded) {
  if (find_op(dotted(recorded.config.op)) == nullptr) return "an operation that opwright does not describe";
  std::string invalid = vectors::why_invalid({recorded.config, !recorded.raised.empty(), recorded.raised});
  if (invalid.empty()) return "";
  const std::string_view rule = std::string_view(invalid).substr(0, invalid.find(':'));
  for (const vectors::ValidityRule& known : vectors::validity_rules())
    if (known.name == rule) return std::string(known.summary);
  return invalid;
}

}  // namespace

Generated case_files(std::span<const Recorded> recorded) {
  Generated out;
  // By board, so that a device is opened once; then by operation and key.
  std::map<std::string, std::map<std::string, std::set<std::string>>> lines;
  std::map<std::string, std::set<std::string>> refused;  // operation -> lines
  for (const Recorded& one : recorded) {
    const std::string op = dotted(one.config.op);
    const std::string line = case_line(one.config);
    OperationCounts& counts = out.operations[op];
    ++counts.configurations;
    if (const std::string reason = why_not(one); !reason.empty()) {
      ++out.not_generated[reason];
      out.examples.try_emplace(reason, line);
      refused[op].insert(fmt::format("# not generated ({}): {}\n", visible(reason), visible(line)));
      continue;
    }
    ++counts.generated;
    const auto board = traced_board(one.machine);
    lines[board ? fmt::format("sim:{}", board->name) : "sim"][op].insert(line);
  }
  GeneratedFile cases{"cases.txt", "# ", {}};
  for (const auto& [device, operations] : lines) {
    for (const auto& [op, own] : operations) {
      std::string text = fmt::format("# device {}\n", device);
      for (const std::string& line : own) text += line + "\n";
      cases.blocks.push_back({fmt::format("{}__{}", op_label(op), op_label(device)), std::move(text)});
    }
  }
  for (const auto& [op, own] : refused) {
    std::string text;
    for (const std::string& line : own) text += line;
    cases.blocks.push_back({op_label(op) + "__not_generated", std::move(text)});
  }
  out.files.push_back(std::move(cases));
  out.files.push_back({"run_cases.cpp", "// ", {{"main", std::string(embedded::kGentestCasesMain)}}});
  out.files.push_back({"CMakeLists.txt", "# ", {{"build", std::string(embedded::kGentestCasesCmake)}}});
  return out;
}

}  // namespace opwright::gentest
