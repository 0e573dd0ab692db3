// N.params.json, written and read. The fields are those of docs/formats/fuse.md.
#include <fmt/format.h>

#include <array>

#include "base/input.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/json_write.h"
#include "fuse/fused_test.h"
#include "model/call_json.h"

namespace opwright::fuse {
namespace {

template <class Range, class Text>
std::string list_of(const Range& range, Text&& text, std::string_view between = ", ") {
  std::string out = "[";
  for (const auto& item : range) {
    if (out.size() > 1) out += between;
    out += text(item);
  }
  return out + "]";
}
template <class Range>
std::string numbers(const Range& range) {
  return list_of(range, [](auto number) { return std::to_string(number); });
}

// A long list: an item a line, so that people and `git diff` can read it.
template <class Range, class Text>
std::string lines_of(const Range& range, Text&& text, int indent) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  std::string out = "[";
  bool first = true;
  for (const auto& item : range) {
    out += fmt::format("{}\n{}  {}", first ? "" : ",", pad, text(item));
    first = false;
  }
  return first ? "[]" : out + "\n" + pad + "]";
}

std::string source_json(const Source& source) {
  if (source.from == Source::From::kInput) return JsonObject().add("input", std::int64_t{source.input}).text();
  return JsonObject().add("call", std::int64_t{source.call}).add("result", std::int64_t{source.result}).text();
}

std::string call_json(const FusedCall& call) {
  JsonObject out;
  out.add("op", call.op)
      .add_raw("tensors", list_of(call.tensors, source_json))
      .add("results", std::int64_t{call.results})
      .add_raw("shares", numbers(call.shares))
      .add_raw("writes", numbers(call.writes))
      .add_raw("frees", numbers(call.frees));
  if (call.is_transparent) out.add_bool("transparent", true);
  return out.text();
}

std::string input_json(const FusedInput& input) {
  JsonObject out;
  out.add("name", input.name).add("role", name_of(input.role));
  if (input.is_freed) out.add_bool("freed", true);
  return out.text();
}

std::string output_json(const FusedOutput& output) {
  return JsonObject()
      .add("name", output.name)
      .add_raw("source", source_json(output.source))
      .add_bool("read_later", output.is_read_later)
      .text();
}

std::string tensor_json(const TensorSpec& spec) { return encode_value(Value::tensor(spec)); }

std::string parameters_json(const CallParameters& call) {
  const auto argument = [](const Argument& one) {
    return fmt::format("[{}, {}]", json_string(one.name), encode_value(one.value));
  };
  JsonObject out;
  out.add("op", call.config.op).add("convention", name_of(call.config.convention));
  out.add("key", to_hex(call.config.key));
  out.add_raw("arguments", list_of(call.config.args, argument));
  out.add_raw("results", list_of(call.results, tensor_json));
  return out.text();
}

std::string match_json(const Match& match) {
  JsonObject out;
  out.add_raw("calls", numbers(match.calls));
  if (!match.phase.empty()) out.add("phase", match.phase);
  if (!match.label.empty()) out.add("label", match.label);
  if (!match.test.empty()) out.add("test", match.test);
  return out.text();
}

std::string expected_json(const Expected& expected) {
  return JsonObject()
      .add_raw("pcc", json::figure_text(expected.pcc))
      .add_raw("atol", json::figure_text(expected.atol))
      .add_raw("rtol", json::figure_text(expected.rtol))
      .add_raw("measured_pcc", json::figure_text(expected.measured_pcc))
      .add("seeds", std::int64_t{expected.seeds})
      .text();
}

std::string targets_json(const Targets& targets) {
  return JsonObject()
      .add("source", targets.source)
      .add_raw("kernel_ns", json::figure_text(targets.kernel_ns))
      .add_raw("op_to_op_ns", json::figure_text(targets.op_to_op_ns))
      .add_raw("roofline_ns", json::figure_text(targets.roofline_ns))
      .add("unmodelled", targets.unmodelled)
      .text();
}

std::string set_json(const ParameterSet& set) {
  std::string out = "{";
  const auto line = [&](std::string_view name, const std::string& json) {
    out += fmt::format("{}\n      {}: {}", out.size() > 1 ? "," : "", json_string(name), json);
  };
  line("id", json_string(set.id));
  line("mode", json_string(set.mode));
  line("seq_len", std::to_string(set.seq_len));
  line("signature", json_string(set.signature));
  line("calls", lines_of(set.calls, parameters_json, 6));
  line("inputs", lines_of(set.inputs, tensor_json, 6));
  line("outputs", lines_of(set.outputs, tensor_json, 6));
  line("contents", json_array(set.contents, false));
  line("matches", lines_of(set.matches, match_json, 6));
  line("internal_bytes", std::to_string(set.internal_bytes));
  line("internal_peak_bytes", std::to_string(set.internal_peak_bytes));
  if (set.expected) line("expected", expected_json(*set.expected));
  if (set.targets) line("targets", targets_json(*set.targets));
  line("no_single_device", json_string(set.no_single_device));
  return out + "\n    }";
}

std::string finding_json(const Finding& finding) {
  return JsonObject()
      .add("code", name_of(finding.code))
      .add_raw("at", numbers(finding.at))
      .add("text", finding.text)
      .text();
}

// Reads fields of one object; the first thing wrong is kept, with its place.
class Reader {
 public:
  Reader(const json::Node& node, std::string where) : node_(node), where_(std::move(where)) {}

  const json::Node* field(std::string_view name, json::Kind kind) {
    const json::Node* found = node_.find(name);
    if (found == nullptr || !found->is(kind)) {
      miss(name);
      return nullptr;
    }
    return found;
  }
  void text(std::string_view name, std::string& out) {
    if (const json::Node* found = field(name, json::Kind::kString)) out = found->text;
  }
  void optional_text(std::string_view name, std::string& out) {
    if (const json::Node* found = node_.find(name)) out = found->text;
  }
  template <class T>
  void number(std::string_view name, T& out) {
    if (const json::Node* found = field(name, json::Kind::kNumber)) {
      const auto value = found->as_int64();
      if (!value || *value < 0 || !std::in_range<T>(*value))
        miss(name);
      else
        out = static_cast<T>(*value);
    }
  }
  void figure(std::string_view name, double& out) {
    const json::Node* found = node_.find(name);
    const auto value = found == nullptr ? std::nullopt : json::figure_of(*found);
    if (!value)
      miss(name);
    else
      out = *value;
  }
  void flag(std::string_view name, bool& out) {
    if (const json::Node* found = node_.find(name)) out = found->is_true();
  }
  template <class T>
  void numbers(std::string_view name, std::vector<T>& out) {
    const json::Node* found = field(name, json::Kind::kArray);
    for (std::size_t i = 0; found != nullptr && i < found->count; ++i) {
      const auto value = found->items[i].as_int64();
      if (!value || !std::in_range<T>(*value)) return miss(name);
      out.push_back(static_cast<T>(*value));
    }
  }
  // `read(node, where)` -> Result<T> for each item.
  template <class T, class Read>
  void list(std::string_view name, std::vector<T>& out, Read&& read) {
    const json::Node* found = field(name, json::Kind::kArray);
    for (std::size_t i = 0; found != nullptr && i < found->count; ++i) {
      auto item = read(found->items[i], fmt::format("{}{}[{}]", where_.empty() ? "" : where_ + ".", name, i));
      if (!item) {
        if (problem_.empty()) problem_ = item.error().message;
        return;
      }
      out.push_back(std::move(*item));
    }
  }
  void miss(std::string_view name) {
    if (problem_.empty())
      problem_ = fmt::format("{}{} is not there, or not what it should be", where_.empty() ? "" : where_ + ".", name);
  }
  Status done() const { return problem_.empty() ? Status{} : fail(ErrorCode::kBadInput, problem_); }

 private:
  const json::Node& node_;
  std::string where_;
  std::string problem_;
};

Result<Source> read_source(const json::Node& node, const std::string& where) {
  Source out;
  Reader reader(node, where);
  if (node.find("input") != nullptr) {
    reader.number("input", out.input);
  } else {
    out.from = Source::From::kResult;
    reader.number("call", out.call);
    reader.number("result", out.result);
  }
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<FusedCall> read_call(const json::Node& node, const std::string& where) {
  FusedCall out;
  Reader reader(node, where);
  reader.text("op", out.op);
  reader.list("tensors", out.tensors, read_source);
  reader.number("results", out.results);
  reader.numbers("shares", out.shares);
  reader.numbers("writes", out.writes);
  reader.numbers("frees", out.frees);
  reader.flag("transparent", out.is_transparent);
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<FusedInput> read_input(const json::Node& node, const std::string& where) {
  FusedInput out;
  Reader reader(node, where);
  reader.text("name", out.name);
  std::string role;
  reader.text("role", role);
  bool known = false;
  for (const Role one : {Role::kActivation, Role::kWeight, Role::kConstant, Role::kState})
    if (name_of(one) == role) {
      out.role = one;
      known = true;
    }
  if (!known) reader.miss("role");
  reader.flag("freed", out.is_freed);
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<FusedOutput> read_output(const json::Node& node, const std::string& where) {
  FusedOutput out;
  Reader reader(node, where);
  reader.text("name", out.name);
  reader.flag("read_later", out.is_read_later);
  OPWRIGHT_TRY(reader.done());
  const json::Node* source = reader.field("source", json::Kind::kObject);
  OPWRIGHT_TRY(reader.done());
  OPWRIGHT_TRY_ASSIGN(out.source, read_source(*source, where + ".source"));
  return out;
}

Result<TensorSpec> read_tensor(const json::Node& node, const std::string& where) {
  auto value = decode_value(node);
  const TensorSpec* spec = value ? value->as_tensor() : nullptr;
  if (spec == nullptr)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} is no tensor{}", where, value ? "" : ": " + value.error().message));
  return *spec;
}

Result<Argument> read_argument(const json::Node& node, const std::string& where) {
  if (!node.is(json::Kind::kArray) || node.count != 2 || !node.items[0].is(json::Kind::kString))
    return fail(ErrorCode::kBadInput, where + " is no pair of a name and a value");
  auto value = decode_value(node.items[1]);
  if (!value) return fail(ErrorCode::kBadInput, fmt::format("{}: {}", where, value.error().message));
  return Argument{std::string(node.items[0].text), std::move(*value)};
}

Result<CallParameters> read_parameters(const json::Node& node, const std::string& where) {
  CallParameters out;
  Reader reader(node, where);
  std::string convention, key;
  reader.text("op", out.config.op);
  reader.text("convention", convention);
  reader.text("key", key);
  reader.list("arguments", out.config.args, read_argument);
  reader.list("results", out.results, read_tensor);
  if (convention == name_of(Convention::kCpp))
    out.config.convention = Convention::kCpp;
  else if (convention != name_of(Convention::kPython))
    reader.miss("convention");
  if (!from_hex(key, out.config.key)) reader.miss("key");
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<Match> read_match(const json::Node& node, const std::string& where) {
  Match out;
  Reader reader(node, where);
  reader.numbers("calls", out.calls);
  reader.optional_text("phase", out.phase);
  reader.optional_text("label", out.label);
  reader.optional_text("test", out.test);
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<Expected> read_expected(const json::Node& node, const std::string& where) {
  Expected out;
  Reader reader(node, where);
  reader.figure("pcc", out.pcc);
  reader.figure("atol", out.atol);
  reader.figure("rtol", out.rtol);
  reader.figure("measured_pcc", out.measured_pcc);
  reader.number("seeds", out.seeds);
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<Targets> read_targets(const json::Node& node, const std::string& where) {
  Targets out;
  Reader reader(node, where);
  reader.text("source", out.source);
  reader.figure("kernel_ns", out.kernel_ns);
  reader.figure("op_to_op_ns", out.op_to_op_ns);
  reader.figure("roofline_ns", out.roofline_ns);
  reader.number("unmodelled", out.unmodelled);
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<std::string> read_text(const json::Node& node, const std::string& where) {
  if (!node.is(json::Kind::kString)) return fail(ErrorCode::kBadInput, where + " is no text");
  return std::string(node.text);
}

Result<ParameterSet> read_set(const json::Node& node, const std::string& where) {
  ParameterSet out;
  Reader reader(node, where);
  reader.text("id", out.id);
  reader.text("mode", out.mode);
  reader.number("seq_len", out.seq_len);
  reader.text("signature", out.signature);
  reader.list("calls", out.calls, read_parameters);
  reader.list("inputs", out.inputs, read_tensor);
  reader.list("outputs", out.outputs, read_tensor);
  reader.list("contents", out.contents, read_text);
  reader.list("matches", out.matches, read_match);
  reader.number("internal_bytes", out.internal_bytes);
  reader.number("internal_peak_bytes", out.internal_peak_bytes);
  reader.text("no_single_device", out.no_single_device);
  OPWRIGHT_TRY(reader.done());
  if (const json::Node* expected = node.find("expected")) {
    OPWRIGHT_TRY_ASSIGN(out.expected, read_expected(*expected, where + ".expected"));
  }
  if (const json::Node* targets = node.find("targets")) {
    OPWRIGHT_TRY_ASSIGN(out.targets, read_targets(*targets, where + ".targets"));
  }
  return out;
}

Result<Finding> read_finding(const json::Node& node, const std::string& where) {
  Finding out;
  Reader reader(node, where);
  std::string code;
  reader.text("code", code);
  reader.numbers("at", out.at);
  reader.text("text", out.text);
  if (const auto known = parse_finding_code(code))
    out.code = *known;
  else
    reader.miss("code");
  OPWRIGHT_TRY(reader.done());
  return out;
}

Result<FusedTest> read_test(const json::Node& root) {
  FusedTest out;
  Reader reader(root, "");
  std::int64_t version = 0;
  reader.number("fused_test", version);
  if (const Status read = reader.done(); !read)
    return fail(ErrorCode::kBadInput, "it is no description of a fused test");
  if (version > kParamsVersion)
    return fail(ErrorCode::kUnsupported,
                fmt::format("version {} of the format, this build reads up to {}; read it with "
                            "a newer opwright, or make the test again",
                            version, kParamsVersion));
  reader.text("name", out.name);
  reader.text("trace", out.trace);
  reader.text("source", out.source);
  reader.text("machine", out.machine);
  reader.numbers("mesh", out.mesh);
  reader.text("pattern", out.pattern);
  reader.list("calls", out.calls, read_call);
  reader.list("inputs", out.inputs, read_input);
  reader.list("outputs", out.outputs, read_output);
  reader.list("sets", out.sets, read_set);
  reader.list("findings", out.findings, read_finding);
  OPWRIGHT_TRY(reader.done());
  OPWRIGHT_TRY(check(out));
  return out;
}

}  // namespace

std::string to_json(const FusedTest& test) {
  std::string out = "{";
  const auto line = [&](std::string_view name, const std::string& json) {
    out += fmt::format("{}\n  {}: {}", out.size() > 1 ? "," : "", json_string(name), json);
  };
  line("fused_test", std::to_string(kParamsVersion));
  line("name", json_string(test.name));
  line("trace", json_string(test.trace));
  line("source", json_string(test.source));
  line("machine", json_string(test.machine));
  line("mesh", numbers(test.mesh));
  line("pattern", json_string(test.pattern));
  line("calls", lines_of(test.calls, call_json, 2));
  line("inputs", lines_of(test.inputs, input_json, 2));
  line("outputs", lines_of(test.outputs, output_json, 2));
  line("sets", lines_of(test.sets, set_json, 2));
  line("findings", lines_of(test.findings, finding_json, 2));
  return out + "\n}\n";
}

Result<FusedTest> parse_fused_test(std::string_view text, std::string_view shown) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root)
    return fail(ErrorCode::kBadInput, fmt::format("{}: {}; make the test again, or take it from its repository", shown,
                                                  json::describe(text, root.error())));
  auto test = read_test(**root);
  if (!test) return fail(test.error().code, fmt::format("{}: {}", shown, test.error().message));
  return test;
}

Result<FusedTest> read_fused_test(const std::string& path) {
  std::string text;
  OPWRIGHT_TRY(read_file(path, text));
  return parse_fused_test(text, path);
}

}  // namespace opwright::fuse
