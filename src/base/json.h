// JSON as we need it: read by simdjson's On-Demand parser, with every number kept as its text (real traces hold
// integers beyond 64 bits) and the tokens Infinity, -Infinity and NaN accepted, because Python's writers produce them.
//
//   json::Document document;                       // reusable: the next parse() takes the memory back
//   auto root = document.parse(text);
//   if (!root) … root.error().offset, root.error().what …
//   if (const json::Node* shape = (*root)->find("shape")) …
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace opwright::json {

enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct Field;

// One value of a document. Valid until the document parses again or ends.
struct Node {
  Kind kind = Kind::kNull;
  std::uint32_t count = 0;        // elements or fields
  std::string_view text;          // scalars: the token; strings: the unescaped text
  const Node* items = nullptr;    // arrays
  const Field* fields = nullptr;  // objects, in the order of the text

  bool is(Kind k) const { return kind == k; }
  bool is_true() const { return kind == Kind::kBool && text == "true"; }
  // The field of that name, or null.
  const Node* find(std::string_view key) const;
  // The text of a string field, or nothing.
  std::optional<std::string_view> string_field(std::string_view key) const;
  std::optional<std::int64_t> as_int64() const;
  bool is_integer() const;  // a number without fraction, exponent or name
  const Node* begin() const { return items; }
  const Node* end() const { return items + (kind == Kind::kArray ? count : 0); }
};

struct Field {
  std::string_view key;  // unescaped
  Node value;
};

// Whether a token is a number, a name such as null or NaN, or a string as far as its quotes tell.
bool is_scalar_token(std::string_view token);
// What a parser's error code means, in a few words.
std::string_view error_text(int simdjson_code);

struct ParseError {
  std::size_t offset = 0;  // byte in the parsed text
  std::string what;
  bool too_deep = false;  // sound as far as it was read, but nested beyond our limit
};

class Document {
 public:
  Document();
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  // Copies `text` (the parser needs room behind it) and builds the tree. Depth is limited to 256.
  tl::expected<const Node*, ParseError> parse(std::string_view text);

  // Keys that stood twice in one object of the last text; of each the last field was taken, as Python does.
  std::size_t duplicate_keys() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `text` without the white space outside strings; nothing when a string is not closed. The view points into `buffer`,
// which only grows, so that it can be used again without being cleared.
std::optional<std::string_view> minify(std::string_view text, std::vector<char>& buffer);

// Where and what an error is that the parser finds before it has a place for it: bytes that are not UTF-8, control
// characters, a document that is cut or goes on after its end.
ParseError explain(std::string_view text, int simdjson_code);

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};
Position position_of(std::string_view text, std::size_t offset);
// "byte 12 (line 2, column 3): what"
std::string describe(std::string_view text, const ParseError& error);

}  // namespace opwright::json
