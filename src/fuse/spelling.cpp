#include "fuse/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "dialect/dialect.h"
#include "dialect/ttnn/collective_calls.h"
#include "dialect/ttnn/python_api.h"
#include "fuse/named_constants.h"
#include "fuse/python_parts.h"
#include "fuse/spelled_tensor.h"
#include "gentest/spell_call.h"

namespace opwright::fuse {
namespace {

using gentest::Python;

constexpr std::string_view kMethods = "ttnn.Tensor.";

// Arguments that say how, where or in which format, and never what: a reference does without them.
constexpr auto kNoNumbers = std::to_array<std::string_view>({"barrier_semaphore",
                                                             "compute_kernel_config",
                                                             "core_grid",
                                                             "device",
                                                             "dtype",
                                                             "global_cb",
                                                             "is_fp32",
                                                             "layout",
                                                             "memory_config",
                                                             "memory_config_mm",
                                                             "mesh_device",
                                                             "multi_device_global_semaphore",
                                                             "num_links",
                                                             "optional_output_tensor",
                                                             "output",
                                                             "output_dtype",
                                                             "output_mem_config",
                                                             "program_config",
                                                             "queue_id",
                                                             "sub_core_grids",
                                                             "sub_device_id",
                                                             "subdevice_id",
                                                             "topology",
                                                             "use_multicore",
                                                             "use_legacy"});

// Names that the emitted file has a meaning for.
constexpr auto kTaken = std::to_array<std::string_view>(
    {"p",      "device",   "ttnn",       "torch",     "pytest", "logger", "time",     "os",      "re",    "csv",
     "sys",    "math",     "functional", "itertools", "and",    "as",     "assert",   "async",   "await", "break",
     "class",  "continue", "def",        "del",       "elif",   "else",   "except",   "finally", "for",   "from",
     "global", "if",       "import",     "in",        "is",     "lambda", "nonlocal", "not",     "or",    "pass",
     "raise",  "return",   "try",        "while",     "with",   "yield",  "sum",      "max",     "min",   "range",
     "list",   "tuple",    "dict",       "slice",     "zip",    "abs",    "pow",      "all"});

// Operations whose exact result is that of another one.
std::string reference_name(const std::string& op) {
  static const std::map<std::string_view, std::string_view> same = {{"mul", "multiply"},
                                                                    {"div", "divide"},
                                                                    {"sub", "subtract"},
                                                                    {"swish", "silu"},
                                                                    {"add_", "add"},
                                                                    {"mul_", "multiply"},
                                                                    {"multiply_", "multiply"},
                                                                    {"subtract_", "subtract"},
                                                                    {"div_", "divide"},
                                                                    {"softmax_in_place", "softmax"},
                                                                    {"typecast", "same"},
                                                                    {"to_memory_config", "same"},
                                                                    {"to_layout", "same"},
                                                                    {"clone", "same"},
                                                                    {"interleaved_to_sharded", "same"},
                                                                    {"sharded_to_interleaved", "same"},
                                                                    {"reshard", "same"},
                                                                    {"tilize", "same"},
                                                                    {"untilize", "same"},
                                                                    {"to_dtype", "same"},
                                                                    {"all_gather_async", "all_gather"},
                                                                    {"reduce_scatter_minimal_async", "reduce_scatter"},
                                                                    {"all_reduce_async", "all_reduce"},
                                                                    {"view", "reshape"}};
  const std::string_view name = short_name(op);
  const auto found = same.find(name);
  return "ref_" + std::string(found == same.end() ? name : found->second);
}

class Speller {
 public:
  explicit Speller(const FusedTest& test) : test_(test) {}

  Result<SpelledTest> run() {
    name_variables();
    OPWRIGHT_TRY(spell_sets());
    for (std::size_t c = 0; c < test_.calls.size(); ++c) OPWRIGHT_TRY(write_call(c));
    write_returns();
    out_.constants = constants_.list();
    return std::move(out_);
  }

 private:
  const FusedTest& test_;
  SpelledTest out_;
  NamedConstants constants_;
  std::vector<std::vector<std::string>> variables_;       // of the results of each call
  std::vector<std::vector<gentest::SpelledCall>> calls_;  // by set, then call

  const std::string& variable(const Source& source) const {
    return source.from == Source::From::kInput ? test_.inputs[source.input].name
                                               : variables_[source.call][source.result];
  }

  void name_variables() {
    std::set<std::string> taken(kTaken.begin(), kTaken.end());
    for (const FusedInput& input : test_.inputs) taken.insert(input.name);
    for (const FusedOutput& output : test_.outputs) taken.insert(output.name);
    variables_.resize(test_.calls.size());
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      for (std::size_t r = 0; r < test_.calls[c].results; ++r) {
        const auto output = std::ranges::find(test_.outputs, Source::of_result(c, r), &FusedOutput::source);
        if (output != test_.outputs.end()) {
          variables_[c].push_back(output->name);
          continue;
        }
        const std::string base(short_name(test_.calls[c].op));
        std::string name = base.ends_with('_') ? base.substr(0, base.size() - 1) : base;
        for (int n = 2; taken.contains(name); ++n)
          name = fmt::format("{}{}{}", base, base.ends_with('_') ? "" : "_", n);
        taken.insert(name);
        variables_[c].push_back(std::move(name));
      }
    }
  }

  Status spell_sets() {
    for (const ParameterSet& set : test_.sets) {
      SpelledSet spelled;
      for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
        OPWRIGHT_TRY_ASSIGN(SpelledTensor tensor, spell_input(test_, set, i));
        if (!tensor.fill.empty()) out_.parts.insert(tensor.fill);
        spelled.inputs.emplace_back(test_.inputs[i].name, constants_.named(std::move(tensor.text)));
      }
      for (std::size_t i = 0; i < test_.outputs.size(); ++i) {
        OPWRIGHT_TRY_ASSIGN(SpelledTensor tensor, spell_output(test_, set, i));
        spelled.outputs.emplace_back(test_.outputs[i].name, constants_.named(std::move(tensor.text)));
      }
      out_.sets.push_back(std::move(spelled));
      std::vector<gentest::SpelledCall> calls;
      for (std::size_t c = 0; c < test_.calls.size(); ++c) {
        gentest::Recorded recorded;
        recorded.config = set.calls[c].config;
        recorded.machine = test_.machine;
        const FusedCall& call = test_.calls[c];
        const auto tensor = [&](std::size_t t) {
          return Python::atom(t < call.tensors.size() ? variable(call.tensors[t]) : "None");
        };
        auto made = gentest::spell_call(recorded, gentest::understand(recorded), tensor);
        if (!made) {
          const Refusal& refusal = made.error();
          return fail(ErrorCode::kUnsupported,
                      fmt::format("{} of {}{}{}: {}", call.op, set.id, refusal.argument.empty() ? "" : ", ",
                                  refusal.argument, refusal.message));
        }
        for (auto& [name, item] : made->call.items) item = constants_.named(with_handles(std::move(item), c));
        calls.push_back(*std::move(made));
      }
      calls_.push_back(std::move(calls));
    }
    return {};
  }

  // The names of the emitted file for handles.
  Python with_handles(Python item, std::size_t call) {
    if (item.text == "t.device") item.text = "device";
    if (item.text == "t.mesh_mapper") {
      item.text = "ttnn.create_mesh_mapper";
      item.items.insert(item.items.begin(), {"", Python::atom("device")});
    }
    if (item.text == "t.semaphore" || item.text == "t.semaphores") {
      const bool one = item.text == "t.semaphore";
      const std::string of = variables_[call].empty() ? fmt::format("call {}", call) : variables_[call][0];
      Python made =
          Python::call("semaphores").add(Python::atom("device")).add(Python::atom(gentest::python_string(of)));
      made.add(one ? Python::atom("1") : item.items[0].second);
      out_.parts.insert("semaphores");
      return one ? Python::atom(gentest::on_one_line(made) + "[0]") : made;
    }
    for (auto& [name, inner] : item.items) inner = with_handles(std::move(inner), call);
    return item;
  }

  // An argument that is not the same in all sets gets a name in the parameter table; one name where several calls have
  // the same in every set.
  std::string differing(const std::string& name, std::size_t call, std::vector<Python> values) {
    const auto same_in_set = [&](std::size_t s, const Python& a) {
      return gentest::on_one_line(a) == gentest::on_one_line(values[s]);
    };
    const auto is_taken = [&](const std::string& wanted, bool& same) {
      const auto& first = out_.sets[0].differing;
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i].first != wanted) continue;
        same = true;
        for (std::size_t s = 0; s < out_.sets.size(); ++s) same &= same_in_set(s, out_.sets[s].differing[i].second);
        return true;
      }
      return false;
    };
    const std::string own =
        variables_[call].empty() ? std::string(short_name(test_.calls[call].op)) : variables_[call][0];
    std::string wanted = name;
    for (int n = 1;; ++n) {
      bool same = false;
      if (!is_taken(wanted, same)) break;
      if (same) return "p." + wanted;
      wanted = n == 1 ? fmt::format("{}_{}", own, name) : fmt::format("{}_{}_{}", own, name, n);
    }
    for (std::size_t s = 0; s < out_.sets.size(); ++s)
      out_.sets[s].differing.emplace_back(wanted, std::move(values[s]));
    return "p." + wanted;
  }

  // The arguments of a call as all sets write them.
  Result<Python> arguments_of(std::size_t c) {
    const gentest::SpelledCall& first = calls_[0][c];
    Python out = Python::call("");
    std::vector<std::string> names;  // in the order in which sets have them
    for (std::size_t i = 0; i < first.positional; ++i) {
      std::vector<Python> values;
      for (const auto& calls : calls_) {
        if (calls[c].positional != first.positional)
          return fail(
              ErrorCode::kUnsupported,
              fmt::format("{}: {} arguments by position in {}, {} in {}; make a test of "
                          "one phase",
                          test_.calls[c].op, first.positional, test_.sets[0].id, calls[c].positional, "another set"));
        values.push_back(calls[c].call.items[i].second);
      }
      add(out, "", fmt::format("arg{}", i), c, std::move(values));
    }
    std::vector<std::string> partial;
    for (const auto& calls : calls_)
      for (std::size_t i = calls[c].positional; i < calls[c].call.items.size(); ++i)
        if (const std::string& name = calls[c].call.items[i].first; std::ranges::find(names, name) == names.end())
          names.push_back(name);
    for (const std::string& name : names) {
      std::vector<Python> values;
      for (const auto& calls : calls_)
        for (const auto& [own, item] : calls[c].call.items)
          if (own == name) values.push_back(item);
      if (values.size() == calls_.size())
        add(out, name, name, c, std::move(values));
      else
        partial.push_back(name);
    }
    if (!partial.empty()) {  // some sets pass them, others do not
      std::vector<Python> values;
      for (const auto& calls : calls_) {
        Python more = Python::call("dict");
        for (const auto& [own, item] : calls[c].call.items)
          if (std::ranges::find(partial, own) != partial.end()) more.add(item, own);
        values.push_back(std::move(more));
      }
      out.add(Python::atom("**" + differing("more", c, std::move(values))));
    }
    return out;
  }

  void add(Python& call, const std::string& name, const std::string& wanted, std::size_t c,
           std::vector<Python> values) {
    const std::string first = gentest::on_one_line(values[0]);
    const bool same = std::ranges::all_of(values, [&](const Python& v) { return gentest::on_one_line(v) == first; });
    if (same)
      call.add(std::move(values[0]), name);
    else
      call.add(Python::atom(differing(wanted, c, std::move(values))), name);
  }

  Status write_call(std::size_t c) {
    const FusedCall& call = test_.calls[c];
    OPWRIGHT_TRY_ASSIGN(Python arguments, arguments_of(c));
    simplify(arguments, c);
    Python device = arguments;
    device.text = calls_[0][c].op;
    if (device.text.starts_with(kMethods) && !device.items.empty() && device.items[0].first.empty()) {
      device.text = fmt::format("{}.{}", device.items[0].second.text, device.text.substr(kMethods.size()));
      device.items.erase(device.items.begin());
    }
    out_.device_lines.push_back(assigned(read_results(c), device));
    return write_reference(c, std::move(arguments), call);
  }

  // Leading tensors go by position, as people write calls, where their names are those that the library's signature has
  // there.
  void simplify(Python& arguments, std::size_t c) const {
    const std::vector<Argument>& args = calls_[0][c].args;
    for (std::size_t i = 0; i < arguments.items.size() && i < args.size(); ++i) {
      auto& [name, item] = arguments.items[i];
      if (name.empty()) continue;
      if (args[i].value.as_tensor() == nullptr || !is_position_of(test_.calls[c].op, i, name)) break;
      name.clear();
    }
  }

  static bool is_position_of(const std::string& op, std::size_t position, const std::string& name) {
    const auto names = signature_of(op);
    return position < names.size() && names[position] == name;
  }

  bool is_read(const Source& source) const {
    const auto takes = [&](const FusedCall& call) {
      return std::ranges::find(call.tensors, source) != call.tensors.end();
    };
    return std::ranges::any_of(test_.calls, takes) ||
           std::ranges::find(test_.outputs, source, &FusedOutput::source) != test_.outputs.end();
  }

  // Variables for the results of a call: none where nobody reads any.
  std::vector<std::string> read_results(std::size_t c) const {
    std::vector<std::string> out = variables_[c];
    bool any = false;
    for (std::size_t r = 0; r < out.size(); ++r) {
      const bool read = is_read(Source::of_result(c, r));
      any |= read;
      if (!read) out[r] = "_";
    }
    return any ? out : std::vector<std::string>{};
  }

  static std::string assigned(const std::vector<std::string>& variables, const Python& call) {
    std::string out = variables.empty() ? "" : fmt::format("{} = ", fmt::join(variables, ", "));
    gentest::lay_out(out, call, 0, gentest::kColumns - 4);
    return out;
  }

  Status write_reference(std::size_t c, Python arguments, const FusedCall& call) {
    if (short_name(call.op) == "deallocate") return {};
    std::erase_if(arguments.items,
                  [](const auto& item) { return std::ranges::find(kNoNumbers, item.first) != kNoNumbers.end(); });
    const std::string name = reference_name(call.op);
    if (has_part(name)) {
      out_.parts.insert(name);
    } else if (!has_golden_function(call.op)) {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("{}: nobody here knows its exact result in torch, and the library has no golden function; "
                      "leave it out of the sequence",
                      call.op));
    }
    if (name == "ref_same" && arguments.items.size() > 1) arguments.items.resize(1);
    if (name == "ref_same" && !arguments.items.empty()) arguments.items[0].first.clear();
    const std::string function = has_part(name) ? name : fmt::format("ttnn.get_golden_function({})", call.op);
    if (volume(test_.mesh) > 1 && collective_of(call.op) == Collective::kNone) {
      out_.parts.insert("on_each_chip");
      arguments.items.insert(arguments.items.begin(), {"", Python::atom(function)});
      arguments.text = "on_each_chip";
    } else {
      arguments.text = function;
    }
    std::vector<std::string> results = read_results(c);
    // What is written in place has the new value from here on.
    const bool none_read = results.empty();
    for (std::size_t w = 0; w < call.writes.size(); ++w) {
      const std::string& written = variable(call.tensors[call.writes[w]]);
      if (none_read)
        results.push_back(written);
      else if (w < results.size() && results.size() == 1)
        results[w] = results[w] == "_" ? written : fmt::format("{} = {}", results[w], written);
    }
    if (results.empty()) return {};
    out_.reference_lines.push_back(assigned(results, arguments));
    return {};
  }

  void write_returns() {
    std::vector<std::string> names;
    for (const FusedOutput& output : test_.outputs) names.push_back(variable(output.source));
    out_.device_returns = out_.reference_returns = fmt::format("[{}]", fmt::join(names, ", "));
  }
};

}  // namespace

Result<SpelledTest> spell(const FusedTest& test) { return Speller(test).run(); }

}  // namespace opwright::fuse
