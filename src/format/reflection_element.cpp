// The element_info of an UnparsedElement: one argument in a wrapping that is no longer JSON.
#include <utility>

#include "base/text.h"
#include "format/reflection.h"
#include "format/reflection_lexer.h"
#include "model/position_name.h"

namespace opwright::format {
namespace {

// Reads `{"arg12":` from the front of `text`; the number, or -1 with `text` as it was.
int take_element_head(std::string_view& text) {
  std::string_view rest = trimmed(text);
  const auto take = [&rest](std::string_view literal) {
    rest = trimmed(rest);
    if (!rest.starts_with(literal)) return false;
    rest.remove_prefix(literal.size());
    return true;
  };
  if (!take("{") || !take("\"")) return -1;
  const std::size_t end = rest.find('"');
  const int index = end == std::string_view::npos ? -1 : position_of_name(rest.substr(0, end));
  if (index < 0) return -1;
  rest.remove_prefix(end + 1);
  if (!take(":")) return -1;
  text = trimmed(rest);
  return index;
}

// Does a quoted text end at its first closing quote, as JSON demands?
bool is_one_string(std::string_view quoted) {
  std::size_t i = 1;
  while (i < quoted.size() && quoted[i] != '"') i += quoted[i] == '\\' ? 2 : 1;
  return i + 1 == quoted.size();
}

// An argument in quotes that JSON accepts: unescaped, it is reflection text.
tl::expected<ParsedElement, ReflectionError> parse_string(int index, std::string_view quoted, std::size_t offset) {
  ReflectionLexer lexer(quoted);
  std::string text;
  if (!lexer.quoted(text)) {
    return tl::unexpected(ReflectionError{offset + lexer.error().offset, lexer.error().what});
  }
  auto value = parse_reflection(text);
  if (!value) {
    return tl::unexpected(ReflectionError{
        offset, value.error().what + " (byte " + std::to_string(value.error().offset) + " of the unescaped string)"});
  }
  return ParsedElement{index, *std::move(value)};
}

}  // namespace

tl::expected<ParsedElement, ReflectionError> parse_element_info(std::string_view text) {
  std::string_view body = text;
  const auto offset_of = [text](std::string_view part) { return static_cast<std::size_t>(part.data() - text.data()); };
  ParsedElement element;
  element.index = take_element_head(body);
  if (element.index >= 0) {
    if (!body.ends_with('}')) return tl::unexpected(ReflectionError{text.size(), "expected '}'"});
    body.remove_suffix(1);
    body = trimmed(body);
    if (body.size() >= 2 && body.front() == '"' && body.back() == '"') {
      if (is_one_string(body)) return parse_string(element.index, body, offset_of(body));
      body = body.substr(1, body.size() - 2);  // the inner quotes were never escaped
    }
  }
  auto value = parse_reflection(body);
  if (!value) {
    return tl::unexpected(ReflectionError{offset_of(body) + value.error().offset, std::move(value.error().what)});
  }
  element.value = *std::move(value);
  return element;
}

}  // namespace opwright::format
