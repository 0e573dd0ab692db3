#include "normalize/provenance_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json.h"

namespace opwright::normalize {
namespace {

// Folders that every model has: they name none.
constexpr std::array<std::string_view, 13> kCommonFolders{"models",
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
                                                          "segmentation_evaluation"};

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

std::string model_of_path(std::string_view path) {
  path = path.substr(0, path.find("::"));
  path = path.substr(0, path.find('['));  // parameters of a test
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    std::string segment(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (segment.starts_with("test_")) segment.erase(0, 5);
    if (const std::size_t dot = segment.rfind('.'); dot != std::string::npos && dot > 0) segment.erase(dot);
    if (!segment.empty() && segment != "." && segment != ".." &&
        std::find(kCommonFolders.begin(), kCommonFolders.end(), segment) == kCommonFolders.end())
      return lower(segment);
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
  const auto root = document.parse(machine_json);
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
  if (const std::string mock = text_of("mock_board"); !mock.empty()) add(mock + " (mock)");
  add(text_of("board_type"));
  add(text_of("device_series"));
  if (const std::string cards = text_of("card_count"); !cards.empty()) add("x" + cards);
  if (label.empty() && !text_of("device_count").empty())
    label = text_of("device_count") + (text_of("device_count") == "1" ? " device" : " devices");
  return label.empty() ? "unknown" : label;
}

}  // namespace opwright::normalize
