#include "vectors/vector_line.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json_object.h"
#include "base/text.h"
#include "model/case_line.h"
#include "normalize/normalize.h"
#include "vectors/one_line.h"

namespace opwright::vectors {
namespace {

tl::unexpected<Error> bad(std::string_view what) { return fail(ErrorCode::kBadInput, std::string(what)); }

}  // namespace

std::string to_line(const TestVector& vector) {
  JsonObject object;
  object.add("id", vector.id)
      .add("suite", vector.suite)
      .add("operation", vector.config.op)
      .add("key", vector.key)
      .add("case", case_line(vector.config))
      .add("data", flag_of(vector.recipe.distribution))
      .add_raw("seed", std::to_string(vector.recipe.seed));
  if (vector.pcc) object.add_number("pcc", *vector.pcc);
  if (vector.seconds) object.add_number("seconds", *vector.seconds);
  object.add("calls", vector.calls)
      .add("models", vector.models)
      .add("sources", vector.sources)
      .add("machine", vector.machine)
      .add("mesh", vector.mesh)
      .add("group", vector.group)
      .add("config_hash", vector.config_hash)
      .add("invalid", vector.invalid);
  if (!vector.traced_source.empty()) object.add_raw("traced_source", vector.traced_source);
  if (!vector.machine_info.empty()) object.add_raw("machine_info", vector.machine_info);
  return object.text();
}

bool looks_like_line(std::string_view start) {
  start = trimmed(start);
  if (!start.starts_with('{')) return false;
  start = trimmed(start.substr(1));
  if (!start.starts_with("\"id\"")) return false;
  start = trimmed(start.substr(4));
  return start.starts_with(':') && trimmed(start.substr(1)).starts_with('"');
}

Result<TestVector> parse_line(std::string_view line, json::Document& document) {
  const auto root = document.parse(line);
  if (!root) return bad(json::describe(line, root.error()));
  const json::Node& object = **root;
  if (!object.is(json::Kind::kObject)) return bad("a vector is an object");
  TestVector vector;
  const auto text = [&](std::string_view name, std::string& out) {
    if (const auto found = object.string_field(name)) out = *found;
  };
  text("suite", vector.suite);
  std::string line_of_case, key;
  text("case", line_of_case);
  text("key", key);
  if (vector.suite.empty() || line_of_case.empty()) return bad("a vector needs 'suite' and 'case'");
  auto config = parse_case(line_of_case);
  if (!config) return bad("'case': " + config.error().message);
  vector.config = *std::move(config);
  normalize::settle(vector.config);
  if (!key.empty() && key != to_hex(vector.config.key)) return bad("'key' is not the key of 'case'");
  if (const auto name = object.string_field("data")) {
    const auto distribution = parse_distribution(*name);
    if (!distribution) return bad("'data': " + no_distribution(*name));
    vector.recipe.distribution = *distribution;
  }
  if (const json::Node* seed = object.find("seed")) {
    const std::string_view token = seed->text;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), vector.recipe.seed);
    if (!seed->is(json::Kind::kNumber) || error != std::errc() || end != token.data() + token.size())
      return bad("'seed' is no whole number");
  }
  const auto number = [&](std::string_view name, std::optional<double>& out) -> Status {
    const json::Node* node = object.find(name);
    if (node == nullptr || node->is(json::Kind::kNull)) return {};
    double value = 0;
    const auto [end, error] = std::from_chars(node->text.data(), node->text.data() + node->text.size(), value);
    if (!node->is(json::Kind::kNumber) || error != std::errc() || end != node->text.data() + node->text.size())
      return bad(fmt::format("'{}' is no number", name));
    out = value;
    return {};
  };
  OPWRIGHT_TRY(number("pcc", vector.pcc));
  OPWRIGHT_TRY(number("seconds", vector.seconds));
  if (const json::Node* calls = object.find("calls")) {
    if (!calls->as_int64()) return bad("'calls' is no whole number");
    vector.calls = *calls->as_int64();
  }
  text("models", vector.models);
  text("sources", vector.sources);
  text("machine", vector.machine);
  text("mesh", vector.mesh);
  text("group", vector.group);
  text("config_hash", vector.config_hash);
  text("invalid", vector.invalid);
  if (const json::Node* sources = object.find("traced_source")) vector.traced_source = one_line(*sources);
  if (const json::Node* machine = object.find("machine_info")) vector.machine_info = one_line(*machine);
  name_vector(vector);
  return vector;
}

}  // namespace opwright::vectors
