#include "vectors/sweep_entry.h"

#include <algorithm>

#include "base/json_object.h"
#include "base/json_write.h"
#include "dialect/ttnn/sweep_modules.h"
#include "format/lift.h"
#include "model/case_line.h"
#include "normalize/normalize.h"
#include "vectors/field_names.h"
#include "vectors/sweep_file.h"

namespace opwright::vectors {
namespace {

constexpr std::string_view kNoPlace = "the existing form has no place for all it says";
constexpr int kCellLevel = 3;                 // {suite: {hash: {name: value}}}
constexpr std::size_t kMostKept = 16 * 1024;  // texts that are remembered; then it begins anew

template <class Map>
void keep_small(Map& map) {
  if (map.size() >= kMostKept) map.clear();
}

std::string label_of(std::string_view name) { return json_string(name) + ": "; }

}  // namespace

const Value* EntryMaker::value_of(const std::string& json) {
  if (const auto known = values_.find(json); known != values_.end()) return &known->second;
  const auto node = text_.parse(json);
  if (!node) return nullptr;
  keep_small(values_);
  format::LiftNotes ignored;
  return &values_.emplace(json, format::lift_json(**node, ignored)).first->second;
}

const SharedText& EntryMaker::styled(const std::string& json) {
  if (const auto known = styled_.find(json); known != styled_.end()) return known->second;
  std::string text = json;
  if (json.starts_with('{') || json.starts_with('[')) {
    const auto node = text_.parse(json);
    text.clear();
    if (node) json::append_python(text, **node, {.indent = 2}, kCellLevel);
  }
  keep_small(styled_);
  return styled_.emplace(json, std::make_shared<const std::string>(std::move(text))).first->second;
}

const std::shared_ptr<const SweepColumn>& EntryMaker::column(const std::string& name) {
  auto& known = columns_[name];
  if (known == nullptr) known = std::make_shared<const SweepColumn>(field_order(name), label_of(name));
  return known;
}

bool EntryMaker::is_same(const TestVector& vector, std::vector<NamedJson> arguments) {
  std::sort(arguments.begin(), arguments.end(),
            [](const NamedJson& a, const NamedJson& b) { return a.name < b.name; });  // as an object is read
  OpConfig config;
  config.op = vector.config.op;
  config.convention = Convention::kPython;
  for (NamedJson& argument : arguments) {
    const Value* value = value_of(argument.json);
    if (value == nullptr) return false;
    config.args.push_back({std::move(argument.name), *value});
  }
  normalize::settle(config);
  return config.key == vector.config.key;
}

std::string EntryMaker::try_existing_form(const TestVector& vector, SweepEntry& entry) {
  if (vector.config.convention != Convention::kPython)
    return "recorded at the C++ level: the existing files hold Python's arguments";
  entry.module = module_of_traced(vector.config.op);
  if (entry.module.empty()) return "no module name that leads back to its operation";
  const std::string made = vector.arguments.empty() ? era2_arguments_of(vector.config) : "";
  const auto arguments = arguments_.parse(vector.arguments.empty() ? made : vector.arguments);
  if (!arguments) return "its recorded arguments are no JSON";
  const auto made_fields = existing_fields(vector.config, **arguments);
  if (!made_fields) return made_fields.error().message;
  const auto fields = fields_.parse(object_of(*made_fields));
  if (!fields) return "its fields are no JSON";
  if ((*fields)->count != made_fields->size()) return std::string(kNoPlace);  // two of one name
  auto again = era2_arguments_from(**fields);
  if (!again || !is_same(vector, *std::move(again))) return std::string(kNoPlace);
  entry.cells.reserve(made_fields->size());
  for (const NamedJson& field : *made_fields) entry.cells.push_back({column(field.name), styled(field.json)});
  std::sort(entry.cells.begin(), entry.cells.end(),
            [](const SweepCell& a, const SweepCell& b) { return a.column->order < b.column->order; });
  return "";
}

SweepEntry EntryMaker::make(const TestVector& vector) {
  SweepEntry entry;
  entry.suite = vector.suite;
  entry.group = vector.group;
  entry.has_recipe = vector.pcc || vector.seconds || vector.recipe.distribution != Distribution::kNormal;
  entry.as_case_line = try_existing_form(vector, entry);
  if (!entry.as_case_line.empty()) {
    entry.module = module_of_case_lines(vector.config.op);
    entry.cells = {{std::make_shared<const SweepColumn>("", label_of(kCaseLineField)),
                    std::make_shared<const std::string>(json_string(case_line(vector.config)))}};
  }
  entry.descriptions.reserve(8);
  const auto describe = [&](std::string_view label, const std::string& json) {
    entry.descriptions.push_back({label, styled(json)});
  };
  const auto describe_json = [&](std::string_view label, const std::string& json) {
    if (json.empty()) return;
    if (styled(json)->empty())
      entry.lost_origin = true;
    else
      describe(label, json);
  };
  describe_json("\"traced_source\": ", vector.traced_source);
  describe_json("\"traced_machine_info\": ", vector.machine_info);
  if (entry.as_case_line.empty()) entry.config_hash = vector.config_hash;
  if (!entry.config_hash.empty())
    entry.descriptions.push_back(
        {"\"config_hash\": ", std::make_shared<const std::string>(json_string(entry.config_hash))});
  describe("\"suite_name\": ", json_string(vector.suite));
  describe("\"validity\": ", vector.invalid.empty() ? "\"VALID\"" : "\"INVALID\"");
  describe("\"invalid_reason\": ", json_string(vector.invalid));
  describe("\"status\": ", "\"VectorStatus.CURRENT\"");
  describe("\"sweep_name\": ", json_string(entry.module));
  return entry;
}

}  // namespace opwright::vectors
