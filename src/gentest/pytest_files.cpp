#include "gentest/pytest_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "base/visible_text.h"
#include "gentest/expected.h"
#include "gentest/row_names.h"
#include "gentest/spell_call.h"
#include "model/case_line.h"

namespace opwright::embedded {
extern const std::string_view kGentestConftest;
extern const std::string_view kGentestTesting;
extern const std::string_view kGentestData;
extern const std::string_view kGentestReferences;
}  // namespace opwright::embedded

namespace opwright::gentest {
namespace {

constexpr std::string_view kComment = "# ";
constexpr std::size_t kMostOfModels = 80;

struct Row {
  std::string id, text;
};

struct Group {
  std::string signature;
  std::map<std::string, std::string> rows;  // id -> text
};

struct OperationTests {
  std::string op;
  std::map<std::string, Group> groups;               // by label
  std::map<std::string, std::string> not_generated;  // id -> text of its row
};

std::string about(const Recorded& recorded, const std::vector<std::string>& remarks) {
  std::string text = fmt::format("{} call{}", recorded.calls, recorded.calls == 1 ? "" : "s");
  if (!recorded.models.empty()) {
    std::string models = visible(recorded.models);
    if (models.size() > kMostOfModels)
      models = fmt::format("{}, …", models.substr(0, models.find_last_of(',', kMostOfModels)));
    text += " of " + models;
  }
  for (const std::string& remark : remarks) text += "; " + visible(remark);
  return text;
}

Row row_of(const Recorded& recorded, const SpelledCall& call, const Understood& understood, std::string id) {
  Row row{std::move(id), ""};
  Python made = Python::call("Case");
  made.add(Python::atom(python_string(row.id))).add(call.call);
  if (volume(call.mesh) > 1) made.add(python_tuple(call.mesh), "mesh");
  for (auto& [name, value] : expectations(recorded, understood)) made.add(value, name);
  row.text = fmt::format("    # {}\n    ", about(recorded, call.remarks));
  lay_out(row.text, made, 4);
  row.text += ",\n";
  return row;
}

std::string refused_row(const std::string& id, const std::string& why, const std::string& line) {
  std::string text = fmt::format("    # {}\n    ", visible(line));
  Python made = Python::call("Skip").add(Python::atom(python_string(id))).add(Python::atom(python_string(why)));
  lay_out(text, made, 4);
  return text + ",\n";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

Block group_block(const OperationTests& tests, const std::string& label, const Group& group) {
  const std::string name = op_label(tests.op) + "__" + label;
  std::string text = fmt::format("# {}({})\n{} = [\n", tests.op, visible(group.signature), upper(name));
  for (const auto& [id, row] : group.rows) text += row;
  text += fmt::format(
      "]\n\n\n@pytest.mark.parametrize(\"case\", cases({}))\ndef test_{}(device, case):\n    check({}, case, device, "
      "reference={})\n",
      upper(name), name, tests.op, name_of(reference_of(tests.op)));
  return {"test_" + name, std::move(text)};
}

Block not_generated_block(const OperationTests& tests) {
  const std::string name = op_label(tests.op) + "__not_generated";
  std::string text = fmt::format("# Recorded, and no test could be made of them.\n{} = [\n", upper(name));
  for (const auto& [id, row] : tests.not_generated) text += row;
  text += fmt::format("]\n\n\n@pytest.mark.parametrize(\"case\", cases({}))\ndef test_{}(case):\n    pass\n",
                      upper(name), name);
  return {"test_" + name, std::move(text)};
}

// A name that a trace chose, for a text of the program: one of an operation that is called has no other characters.
std::string shown(std::string op) {
  for (char& c : op)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '_';
  return op;
}

std::string_view about(Reference reference) {
  switch (reference) {
    case Reference::kGolden:
      return "Numbers are compared with the library's golden function.";
    case Reference::kTorch:
      return "Numbers are compared with op_references.py.";
    case Reference::kNone:
      break;
  }
  return "There is no reference for its numbers: only what the call gives (shape, dtype, layout, memory) is checked.";
}

Block header_block(const OperationTests& tests, const std::vector<Block>& blocks) {
  std::string all;
  for (const Block& block : blocks) all += block.text;
  const auto uses = [&](std::string_view word) { return all.find(word) != std::string::npos; };
  std::string text = fmt::format(
      "\"\"\"{} as it was recorded, one row a configuration. {}\n\nWritten by `opwright gentest`, which renews it with "
      "--update. Run it with pytest; conftest.py says on what.\n\"\"\"\n\n",
      shown(tests.op), about(reference_of(tests.op)));
  if (uses("op_data.")) text += "import op_data\n";
  text += "import pytest\n";
  if (uses("ttnn.")) text += "import ttnn\n";
  std::vector<std::string_view> names;
  for (const std::string_view name : {"GOLDEN", "TORCH"})
    if (uses(fmt::format("reference={})", name))) names.push_back(name);
  for (const std::string_view name : {"Case", "Skip", "Spec"})
    if (uses(fmt::format("{}(", name))) names.push_back(name);
  names.emplace_back("cases");
  if (uses("check(")) names.emplace_back("check");
  if (uses("with_fields(")) names.emplace_back("with_fields");
  text += fmt::format("from op_testing import {}\n", fmt::join(names, ", "));
  return {"header", std::move(text)};
}

GeneratedFile file_of_operation(const OperationTests& tests, const std::string& name) {
  GeneratedFile file{name, std::string(kComment), {}};
  for (const auto& [label, group] : tests.groups) file.blocks.push_back(group_block(tests, label, group));
  if (!tests.not_generated.empty()) file.blocks.push_back(not_generated_block(tests));
  file.blocks.insert(file.blocks.begin(), header_block(tests, file.blocks));
  return file;
}

GeneratedFile support_file(std::string name, std::string_view text) {
  Block block{"support", std::string(text)};
  return {std::move(name), std::string(kComment), {std::move(block)}};
}

// A row more, or the reason why there is none.
void add(const Recorded& one, std::map<std::string, OperationTests>& operations, Generated& out) {
  const std::string op = dotted(one.config.op);
  OperationCounts& counts = out.operations[op];
  ++counts.configurations;
  OperationTests& tests = operations[op];
  tests.op = op;
  const Understood understood = understand(one);
  const Checked<SpelledCall> call = spell_call(one, understood);
  if (!call) {
    const Refusal& refusal = call.error();
    const std::string line = case_line(one.config);
    ++out.not_generated[refusal.message];
    out.examples.try_emplace(refusal.message, line);
    const std::string why =
        refusal.argument.empty() ? refusal.message : fmt::format("{}: {}", refusal.argument, refusal.message);
    const std::string id =
        row_id(one.config.args, one.key) + one.key.substr(std::min<std::size_t>(6, one.key.size()), 6);
    tests.not_generated[id] = refused_row(id, why, line);
    return;
  }
  ++counts.generated;
  if (!one.raised.empty()) ++counts.expected_to_fail;
  ++out.references[std::string(name_of(reference_of(op)))];
  Group& group = tests.groups[group_label(*call)];
  std::string id = row_id(call->args, one.key);
  if (group.rows.contains(id)) id += one.key.substr(id.size() - id.rfind('-') - 1);  // the first digits are not enough
  Row row = row_of(one, *call, understood, std::move(id));
  if (group.signature.empty()) group.signature = signature_text(*call);
  group.rows[row.id] = std::move(row.text);
}

}  // namespace

std::string pytest_text(const Recorded& recorded) {
  Generated out;
  std::map<std::string, OperationTests> operations;
  add(recorded, operations, out);
  std::string text;
  for (const Block& block : file_of_operation(operations.begin()->second, "").blocks) text += block.text + "\n";
  return text;
}

Generated pytest_files(std::span<const Recorded> recorded) {
  Generated out;
  std::map<std::string, OperationTests> operations;
  std::vector<const Recorded*> sorted;
  for (const Recorded& one : recorded) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, [](const Recorded* one) { return std::tie(one->config.op, one->key); });
  for (const Recorded* each : sorted) add(*each, operations, out);
  std::set<std::string> names;
  for (const auto& [op, tests] : operations) {
    std::string name = "test_" + op_label(op);
    while (!names.insert(name).second) name += "_";  // two operations that differ in what a file name cannot hold
    out.files.push_back(file_of_operation(tests, name + ".py"));
  }
  out.files.push_back(support_file("conftest.py", embedded::kGentestConftest));
  out.files.push_back(support_file("op_data.py", embedded::kGentestData));
  out.files.push_back(support_file("op_references.py", embedded::kGentestReferences));
  out.files.push_back(support_file("op_testing.py", embedded::kGentestTesting));
  return out;
}

}  // namespace opwright::gentest
