// Any bytes as JSON. What is accepted and written as Python writes it is read as the same values, and written the same;
// sorted, indented and minified texts hold the same; what is not accepted has a place and a reason.
#include <string>

#include "base/json.h"
#include "base/json_write.h"
#include "laws.h"

namespace {

using opwright::fuzz::require;
namespace json = opwright::json;

// Numbers may be spelled otherwise (1e5, 100000.0); all else is the same.
bool same(const json::Node& a, const json::Node& b) {
  if (a.kind != b.kind || a.count != b.count) return false;
  if (a.kind != json::Kind::kNumber && a.text != b.text) return false;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    if (a.kind == json::Kind::kArray && !same(a.items[i], b.items[i])) return false;
    if (a.kind == json::Kind::kObject &&
        (a.fields[i].key != b.fields[i].key || !same(a.fields[i].value, b.fields[i].value)))
      return false;
  }
  return true;
}

std::string python(const json::Node& node, json::Style style) {
  std::string text;
  json::append_python(text, node, style);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = opwright::fuzz::text_of(data, size);
  static json::Document document;  // reused, as readers do
  json::Document second;
  const auto root = document.parse(text);
  if (!root) {
    require(root.error().offset <= size, "the place of an error is inside the text");
    require(!root.error().what.empty() && !json::describe(text, root.error()).empty(), "an error says what is wrong");
    return 0;
  }
  const std::string written = python(**root, {});
  for (const char c : written) require(c >= ' ' && c < 0x7f, "Python's text is printable ASCII", written);
  const auto again = second.parse(written);
  require(again.has_value(), "what is written can be read", written);
  require(same(**root, **again), "what is written is read as the same", written);
  require(python(**again, {}) == written, "writing is stable", written);

  const auto inside = second.parse("[" + std::string(text) + "]");
  require(inside || inside.error().what.find("nested") != std::string::npos, "a document is also an element", text);
  require(!inside || ((*inside)->count == 1 && same(**root, (*inside)->items[0])), "a document is one value", text);

  const std::string indented = python(**root, {.indent = 2});
  const auto from_indented = second.parse(indented);
  require(from_indented.has_value() && python(**from_indented, {}) == written, "indenting changes nothing", indented);

  const std::string sorted = python(**root, {.sort_keys = true});
  const auto from_sorted = second.parse(sorted);
  require(from_sorted.has_value() && python(**from_sorted, {}) == sorted, "sorting is stable", sorted);

  static std::vector<char> buffer;
  const auto minified = json::minify(text, buffer);
  require(minified.has_value(), "JSON can be minified", text);
  const auto from_minified = second.parse(*minified);
  require(from_minified.has_value() && python(**from_minified, {}) == written, "minifying changes nothing", written);

  std::string repr;
  json::append_python_repr(repr, **root);
  require(repr.find('\n') == std::string::npos, "a repr is one line", repr);
  return 0;
}
