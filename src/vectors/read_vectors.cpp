#include "vectors/read_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "base/input.h"
#include "base/json_object.h"
#include "dialect/ttnn/sweep_modules.h"
#include "model/case_line.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "vectors/existing_form.h"
#include "vectors/field_names.h"
#include "vectors/one_line.h"
#include "vectors/sweep_file.h"
#include "vectors/vector_line.h"

namespace opwright::vectors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMakeAgain = "make it again with 'opwright vectors --export', or leave the file out";

tl::unexpected<Error> bad(std::string_view where, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{}: {}; {}", where, what, kMakeAgain));
}

class FileReader {
 public:
  explicit FileReader(const UseVector& use) : use_(use) {}

  Status read(const std::string& path) {
    OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path, Input::Take::kRegular));  // it is read twice
    OPWRIGHT_TRY_ASSIGN(const std::string_view start, input.peek(4096));
    if (looks_like_line(start)) return read_lines(path, input);
    OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
    const auto root = document_.parse(text.view());
    if (!root) return bad(path, json::describe(text.view(), root.error()));
    if (!(*root)->is(json::Kind::kObject)) return bad(path, "no vector file: {suite: {input_hash: vector}} is wanted");
    if (document_.duplicate_keys() > 0) return bad(path, "a key stands twice in one object");
    for (std::uint32_t i = 0; i < (*root)->count; ++i) {
      const json::Field& suite = (*root)->fields[i];
      const std::string where = fmt::format("{}: suite '{}'", path, suite.key);
      if (!suite.value.is(json::Kind::kObject)) return bad(where, "not an object {input_hash: vector}");
      for (std::uint32_t n = 0; n < suite.value.count; ++n)
        OPWRIGHT_TRY(read_vector(path, suite.key, suite.value.fields[n]));
    }
    return {};
  }

 private:
  Status read_lines(const std::string& path, Input& input) {
    for (std::size_t number = 1;; ++number) {
      OPWRIGHT_TRY_ASSIGN(const auto line, input.next_line());
      if (!line) return {};
      if (line->empty()) continue;
      auto vector = parse_line(*line, document_);
      if (!vector) return bad(fmt::format("{}, line {}", path, number), vector.error().message);
      OPWRIGHT_TRY(use_(*std::move(vector)));
    }
  }

  Status read_vector(const std::string& path, std::string_view suite, const json::Field& field) {
    const json::Node& node = field.value;
    const std::string where = fmt::format("{}: suite '{}', vector {}", path, suite, field.key.substr(0, 16));
    if (!node.is(json::Kind::kObject)) return bad(where, "not an object");
    if (const auto hash = node.string_field("input_hash"); hash && *hash != field.key)
      return bad(where, fmt::format("its input_hash is {}", hash->substr(0, 16)));
    TestVector vector;
    vector.suite = suite;
    const std::string file = fs::path(path).filename().string();
    const std::string module(node.string_field("sweep_name").value_or(file.substr(0, file.rfind(".json"))));
    if (const auto line = node.string_field(kCaseLineField)) {
      auto config = parse_case(*line);
      if (!config) return bad(where, fmt::format("{}: {}", kCaseLineField, config.error().message));
      vector.config = *std::move(config);
      normalize::settle(vector.config);
    } else {
      const std::string op = op_of_module(module);
      if (op.empty())
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{}: module '{}' does not name its operation; only vectors of recorded calls "
                                "(model_traced.OP_model_traced) can be read",
                                where, module));
      const auto arguments = era2_arguments_from(node);
      if (!arguments) return fail(arguments.error().code, fmt::format("{}: {}", where, arguments.error().message));
      format::LiftNotes notes;
      vector.arguments = object_of(*arguments);
      auto config = normalizer_.normalize(FormKind::kEra2, op, vector.arguments, notes);
      if (!config) return bad(where, config.error().message);
      vector.config = *std::move(config);
    }
    if (file.starts_with(module + ".") && file.size() > module.size() + 6)
      vector.group = file.substr(module.size() + 1, file.size() - module.size() - 6);
    if (const auto hash = node.string_field("config_hash"); hash && *hash != kAbsentCell) vector.config_hash = *hash;
    const auto validity = node.string_field("validity");
    if (validity && validity->ends_with("INVALID")) {
      vector.invalid = node.string_field("invalid_reason").value_or("");
      if (vector.invalid.empty()) vector.invalid = "invalid: the file gives no reason";
    }
    read_provenance(node, vector);
    name_vector(vector);
    return use_(std::move(vector));
  }

  void read_provenance(const json::Node& node, TestVector& vector) {
    std::set<std::string> sources, models;
    if (const json::Node* traced = node.find("traced_source")) {
      if (traced->is(json::Kind::kString) && traced->text != kAbsentCell) sources.emplace(traced->text);
      for (const json::Node& source : *traced)
        if (source.is(json::Kind::kString)) sources.emplace(source.text);
    }
    for (const std::string& source : sources) models.insert(normalize::name_source(source).model);
    if (models.size() > 1) models.erase("unknown");
    vector.sources = fmt::format("{}", fmt::join(sources, ","));
    vector.models = fmt::format("{}", fmt::join(models, ","));
    if (!sources.empty()) vector.traced_source = json_array({sources.begin(), sources.end()}, false);
    const json::Node* machine = node.find("traced_machine_info");
    if (machine != nullptr && (machine->is(json::Kind::kObject) || machine->is(json::Kind::kArray)))
      vector.machine_info = one_line(*machine);
    const MachineFacts& facts = machines_.of(vector.machine_info);
    vector.machine = facts.label;
    vector.mesh = placement_mesh(vector.config);
    if (vector.mesh.empty()) vector.mesh = facts.mesh;
    if (vector.mesh == "1x1") vector.mesh.clear();
  }

  const UseVector& use_;
  json::Document document_;
  normalize::Normalizer normalizer_;
  Machines machines_;
};

Result<std::vector<std::string>> files_of_manifest(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kManifestName);
  std::error_code error;
  if (!fs::exists(path, error))
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: no {} in this folder, which says what vectors belong together; name a "
                            "file of it, or export again with 'opwright vectors --export'",
                            folder, kManifestName));
  std::string text;
  OPWRIGHT_TRY(read_file(path, text));
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return bad(path, json::describe(text, root.error()));
  const json::Node* listed = (*root)->is(json::Kind::kObject) ? (*root)->find("vector_files") : nullptr;
  if (listed == nullptr || !listed->is(json::Kind::kArray)) return bad(path, "no list 'vector_files'");
  std::vector<std::string> files;
  for (const json::Node& item : *listed) {
    const std::string name(item.text);
    if (!item.is(json::Kind::kString) || name.empty() || name.find('/') != std::string::npos)
      return bad(path, fmt::format("'{}' of vector_files is no name of a file beside it", name));
    files.push_back(folder + "/" + name + (name.ends_with(".json") ? "" : ".json"));
    if (!fs::exists(files.back(), error)) return bad(path, fmt::format("it names {}, which is not there", name));
  }
  return files;
}

Status read_files(const std::vector<std::string>& files, const UseVector& use) {
  FileReader reader(use);
  for (const std::string& file : files) OPWRIGHT_TRY(reader.read(file));
  return {};
}

}  // namespace

Status read_vectors(const std::string& path, const UseVector& use) {
  std::error_code error;
  std::vector<std::string> files{path};
  if (fs::is_directory(path, error)) {
    OPWRIGHT_TRY_ASSIGN(files, files_of_manifest(path));
  }
  OPWRIGHT_TRY(read_files(files, [](TestVector&&) -> Status { return {}; }));
  return read_files(files, use);
}

}  // namespace opwright::vectors
