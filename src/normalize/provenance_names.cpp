#include "normalize/provenance_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json.h"
#include "dialect/ttnn/machine_info.h"

namespace opwright::normalize {
namespace {

// Folders that every model has: they name none.
constexpr std::array<std::string_view, 14> kCommonFolders{"models",
                                                          "tests",
                                                          "demos",
                                                          "experimental",
                                                          "wormhole",
                                                          "vision",
                                                          "classification",
                                                          "audio",
                                                          "nightly",
                                                          "single_card",
                                                          "demo",
                                                          "pcc",
                                                          "segmentation_evaluation",
                                                          "examples"};
// Folders of the library's own tests: what lies below them is no model, and the name of the file says most.
constexpr std::array<std::string_view, 12> kLibraryFolders{
    "ttnn",       "tt_eager",   "tt_metal",           "tt_lib",      "unit_tests",      "unit",
    "operations", "python_api", "python_api_testing", "sweep_tests", "sweep_framework", "integration_tests"};
// Programs that run tests, and what a shell gives: no name of a model.
constexpr std::array<std::string_view, 5> kRunners{"pytest", "py.test", "-c", "-m", "-"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Cuts " [KEY:value]" out of `text` and returns the value.
std::string take_tag(std::string& text, std::string_view key) {
  const std::string start = "[" + std::string(key) + ":";
  const std::size_t at = text.find(start);
  const std::size_t end = at == std::string::npos ? at : text.find(']', at);
  if (end == std::string::npos) return "";
  const std::string value = text.substr(at + start.size(), end - at - start.size());
  const std::size_t from = at > 0 && text[at - 1] == ' ' ? at - 1 : at;
  text.erase(from, end + 1 - from);
  return value;
}

std::string last_segment(std::string_view text) {
  return std::string(text.substr(text.find_last_of('/') == std::string_view::npos ? 0 : text.find_last_of('/') + 1));
}

std::string without_prefix(std::string_view segment) {
  return std::string(segment.substr(segment.starts_with("test_") ? 5 : 0));
}

// "test_MLP.py" -> "MLP"
std::string stem_of(std::string_view file) {
  std::string stem = without_prefix(file);
  if (const std::size_t dot = stem.rfind('.'); dot != std::string::npos && dot > 0) stem.erase(dot);
  return stem;
}

// The part of an absolute path that tells something: from the first folder `models` or `tests` on, else its file.
std::string_view without_home(std::string_view path) {
  if (!path.starts_with('/')) return path;
  std::size_t start = path.size();
  for (const std::string_view folder : {"/models/", "/tests/"}) start = std::min(start, path.find(folder));
  return start < path.size() ? path.substr(start + 1) : path.substr(path.rfind('/') + 1);
}

std::string model_of_path(std::string_view path) {
  path = path.substr(0, path.find("::"));
  path = path.substr(0, path.find('['));  // parameters of a test
  if (const std::size_t end = path.find(".py "); end != std::string_view::npos) path = path.substr(0, end + 3);
  if (is_one_of(kRunners, path.substr(0, path.find_first_of("/ ")))) return "unknown";
  path = without_home(path);
  const std::string file = stem_of(last_segment(path));
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const bool is_folder = slash < path.size();
    const std::string segment = is_folder ? without_prefix(path.substr(0, slash)) : file;
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (segment.empty() || segment == "." || segment == ".." || is_one_of(kCommonFolders, segment)) continue;
    if (!is_folder || !is_one_of(kLibraryFolders, segment)) return lower(segment);
    if (!file.empty() && !is_one_of(kCommonFolders, file)) return lower(file);
  }
  return "unknown";
}

}  // namespace

SourceName name_source(std::string_view source) {
  SourceName name;
  name.path = source;
  name.hf_model = take_tag(name.path, "HF_MODEL");
  const std::string llama = take_tag(name.path, "LLAMA_DIR");
  if (!name.hf_model.empty())
    name.model = lower(last_segment(name.hf_model));
  else if (!llama.empty())
    name.model = lower(last_segment(llama));
  else
    name.model = model_of_path(name.path);
  return name;
}

std::string name_machine(std::string_view machine_json) {
  json::Document document;
  const auto root = document.parse(whole_machine(machine_json));
  if (!root || !(*root)->is(json::Kind::kObject)) return "unknown";
  const auto text_of = [&](std::string_view key) -> std::string {
    const json::Node* node = (*root)->find(key);
    if (node != nullptr && node->is(json::Kind::kArray)) node = node->count > 0 ? node->items : nullptr;
    return node == nullptr || node->is(json::Kind::kNull) ? "" : std::string(node->text);
  };
  std::string label;
  const auto add = [&](const std::string& word) {
    if (word.empty()) return;
    if (!label.empty()) label += ' ';
    label += word;
  };
  if (const std::string mock = text_of("mock_board"); !mock.empty()) return mock + " (mock)";
  add(text_of("board_type"));
  add(text_of("device_series"));
  if (const std::string cards = text_of("card_count"); !cards.empty()) add("x" + cards);
  if (label.empty() && !text_of("device_count").empty())
    label = text_of("device_count") + (text_of("device_count") == "1" ? " device" : " devices");
  return label.empty() ? "unknown" : label;
}

}  // namespace opwright::normalize
