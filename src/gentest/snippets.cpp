#include "gentest/snippets.h"

#include <fmt/format.h>

#include <algorithm>

#include "gentest/pytest_files.h"
#include "gentest/spell_call.h"

namespace opwright::gentest {
namespace {

constexpr std::string_view kMaker =
    "def tensor(shape, dtype, layout, memory_config=None, to=None, below=64, values=None, shift=None, tile=None):\n"
    "    if values is not None:\n"
    "        made = torch.tensor(values).reshape(shape)\n"
    "    elif dtype in (ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8):\n"
    "        made = torch.randint(0, below, shape, dtype=torch.int32)\n"
    "    else:\n"
    "        made = torch.randn(shape) if shift is None else torch.randn(shape).abs() + shift\n"
    "    more = {} if tile is None else {\"tile\": ttnn.Tile(tile)}\n"
    "    return ttnn.from_torch(made, dtype=dtype, layout=layout, device=to, memory_config=memory_config, **more)\n";

// As op_testing.py has it: for what a constructor does not take.
constexpr std::string_view kWithFields =
    "def with_fields(made, **fields):\n"
    "    for name, value in fields.items():\n"
    "        setattr(made, name, value)\n"
    "    return made\n";

// The fill of a generated test, as a word that the maker above takes; nothing: plain data. What is simpler than in the
// run is told.
void add_fill(Python& made, const Python& fill, std::vector<std::string>& remarks) {
  const std::string& name = fill.text;
  if (name == "op_data.values") {
    Python values = Python::list();
    for (const auto& [key, item] : fill.items) values.add(item);
    made.add(std::move(values), "values");
  } else if (name == "op_data.positive" || name == "op_data.non_zero") {
    made.add(Python::atom("0.125"), "shift");
  } else if (fill.items.size() == 1) {  // pages(64), token_ids(50), positions(8)
    made.add(fill.items.front().second, "below");
  } else {
    const std::string remark = fmt::format("the run has other data here than random numbers: {}", name);
    if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(remark);
  }
}

// `t.tensor(…)` of a generated row as a call of the maker; false: it needs more than the script has.
bool without_maker(Python& expression, std::vector<std::string>& remarks) {
  if (expression.text == "t.tensor" || expression.text == "t.host_tensor") {
    const bool on_device = expression.text == "t.tensor";
    Python made = Python::call("tensor");
    for (const auto& [name, item] : expression.items) {
      if (name == "freed") return false;
      if (name == "placements" || name == "distribution") continue;  // on one chip they change nothing
      if (name == "fill")
        add_fill(made, item, remarks);
      else
        made.add(item, name);
    }
    if (on_device) made.add(Python::atom("device"), "to");
    expression = std::move(made);
    return true;
  }
  if (expression.text == "t.device") expression.text = "device";
  if (expression.text.starts_with("t.")) return false;
  return std::ranges::all_of(expression.items, [&](auto& item) { return without_maker(item.second, remarks); });
}

std::string script_of(const SpelledCall& spelled) {
  std::vector<std::string> remarks = spelled.remarks;
  Python call = spelled.call;
  call.text = spelled.op;
  if (volume(spelled.mesh) > 1 || !without_maker(call, remarks)) return "";
  std::string text =
      "import torch\nimport ttnn\n\ntorch.manual_seed(1)\ndevice = ttnn.open_device(device_id=0, "
      "l1_small_size=32768)\n\n\n";
  text += fmt::format("{}\n\n", kMaker);
  if (on_one_line(call).find("with_fields(") != std::string::npos) text += fmt::format("{}\n\n", kWithFields);
  for (const std::string& remark : remarks) text += fmt::format("# {}\n", remark);
  text += "result = ";
  lay_out(text, call, 0);
  return text + "\nprint(result)\nttnn.close_device(device)\n";
}

}  // namespace

Snippets snippets_of(const Recorded& recorded) {
  const Checked<SpelledCall> spelled = spell_call(recorded, understand(recorded));
  if (!spelled) {
    const Refusal& why = spelled.error();
    return {"", "", why.argument.empty() ? why.message : fmt::format("{}: {}", why.argument, why.message)};
  }
  Snippets out;
  out.pytest = "# Lies beside op_testing.py and op_data.py, which `opwright gentest -o DIR` writes into DIR.\n";
  out.pytest += pytest_text(recorded);
  out.ttnn = script_of(*spelled);
  if (out.ttnn.empty()) out.refused = "a script of one chip cannot make its arguments; the pytest form does";
  return out;
}

}  // namespace opwright::gentest
