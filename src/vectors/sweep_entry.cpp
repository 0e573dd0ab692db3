#include "vectors/sweep_entry.h"

#include <algorithm>

#include "base/json_object.h"
#include "base/json_write.h"
#include "model/case_line.h"
#include "vectors/existing_form.h"
#include "vectors/module_names.h"
#include "vectors/sweep_file.h"

namespace opwright::vectors {
namespace {

constexpr std::string_view kNoPlace = "the existing form has no place for all it says";
constexpr int kCellLevel = 3;  // {suite: {hash: {name: value}}}

std::string styled(const json::Node& node) {
  std::string out;
  json::append_python(out, node, {.indent = 2}, kCellLevel);
  return out;
}

}  // namespace

std::string EntryMaker::try_existing_form(const TestVector& vector, SweepEntry& entry) {
  if (vector.config.convention != Convention::kPython)
    return "recorded at the C++ level: the existing files hold Python's arguments";
  entry.module = module_of_traced(vector.config.op);
  if (entry.module.empty()) return "no module name that leads back to its operation";
  const std::string made = vector.arguments.empty() ? era2_arguments_of(vector.config) : "";
  const auto arguments = arguments_.parse(vector.arguments.empty() ? made : vector.arguments);
  if (!arguments) return "its recorded arguments are no JSON";
  const auto text = existing_fields(vector.config, **arguments);
  if (!text) return text.error().message;
  const auto fields = fields_.parse(*text);
  if (!fields) return "its fields are no JSON";
  const auto again = era2_arguments_from(**fields);
  if (!again) return std::string(kNoPlace);
  format::LiftNotes notes;
  const auto config = normalizer_.normalize(FormKind::kEra2, vector.config.op, *again, notes);
  if (!config || config->key != vector.config.key) return std::string(kNoPlace);
  for (std::uint32_t i = 0; i < (*fields)->count; ++i) {
    const json::Field& field = (*fields)->fields[i];
    entry.cells.push_back({field_order(field.key), std::string(field.key), styled(field.value)});
  }
  std::sort(entry.cells.begin(), entry.cells.end(),
            [](const SweepCell& a, const SweepCell& b) { return a.order < b.order; });
  return "";
}

SweepEntry EntryMaker::make(const TestVector& vector) {
  SweepEntry entry;
  entry.suite = vector.suite;
  entry.group = vector.group;
  entry.key = vector.key;
  entry.has_recipe = vector.pcc || vector.seconds || vector.recipe.distribution != Distribution::kNormal;
  entry.as_case_line = try_existing_form(vector, entry);
  if (!entry.as_case_line.empty()) {
    entry.module = module_of_case_lines(vector.config.op);
    entry.cells = {{"", std::string(kCaseLineField), json_string(case_line(vector.config))}};
  }
  const auto describe = [&](std::string name, std::string text) {
    entry.descriptions.push_back({"", std::move(name), std::move(text)});
  };
  const auto describe_json = [&](std::string name, const std::string& json) {
    if (json.empty()) return;
    if (const auto node = arguments_.parse(json)) describe(std::move(name), styled(**node));
  };
  describe_json("traced_source", vector.traced_source);
  describe_json("traced_machine_info", vector.machine_info);
  if (entry.as_case_line.empty()) entry.config_hash = vector.config_hash;
  if (!entry.config_hash.empty()) describe("config_hash", json_string(entry.config_hash));
  describe("suite_name", json_string(vector.suite));
  describe("validity", vector.invalid.empty() ? "\"VALID\"" : "\"INVALID\"");
  describe("invalid_reason", json_string(vector.invalid));
  describe("status", "\"VectorStatus.CURRENT\"");
  describe("sweep_name", json_string(entry.module));
  return entry;
}

}  // namespace opwright::vectors
