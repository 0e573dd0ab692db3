#include "base/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory_resource>
#include <numeric>

#include "base/json_memory.h"
#include "base/limits.h"
#include "base/text.h"

namespace opwright::json {
namespace ondemand = simdjson::ondemand;
namespace {

constexpr std::size_t kMostSpare = std::size_t{1} << 20;

bool is_number_token(std::string_view token) {
  std::size_t i = token.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < token.size() && token[i] >= '0' && token[i] <= '9') ++i;
    return i - first;
  };
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[first] == '0')) return false;
  if (i < token.size() && token[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == token.size();
}

}  // namespace

bool is_scalar_token(std::string_view token) {
  token = trimmed(token);
  return token == "null" || token == "true" || token == "false" || token == "Infinity" || token == "-Infinity" ||
         token == "NaN" || is_number_token(token) || (token.size() >= 2 && token.front() == '"' && token.back() == '"');
}

std::string_view error_text(int simdjson_code) {
  switch (simdjson_code) {
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::UTF8_ERROR:
      return "a byte is not UTF-8";
    case simdjson::UNESCAPED_CHARS:
      return "a control character stands unescaped in a string";
    case simdjson::STRING_ERROR:
      return "a string has a wrong escape";
    case simdjson::EMPTY:
      return "the text is empty";
    case simdjson::DEPTH_ERROR:
      return "nested too deep";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "an array or object is not closed";
    case simdjson::TAPE_ERROR:
      return "a comma, colon, key or bracket is missing or too much";
    case simdjson::CAPACITY:
      return "the document is too large for the parser";
    case simdjson::MEMALLOC:
      return "there is not enough memory to parse it";
    default:
      return "the structure is wrong here";
  }
}

const Node* Node::find(std::string_view key) const {
  if (kind != Kind::kObject) return nullptr;
  for (std::uint32_t i = count; i-- > 0;) {
    if (fields[i].key == key) return &fields[i].value;
  }
  return nullptr;
}

std::optional<std::string_view> Node::string_field(std::string_view key) const {
  const Node* node = find(key);
  if (node == nullptr || node->kind != Kind::kString) return std::nullopt;
  return node->text;
}

bool Node::is_integer() const { return kind == Kind::kNumber && text.find_first_of(".eEIN") == std::string_view::npos; }

std::optional<std::int64_t> Node::as_int64() const {
  std::int64_t value = 0;
  if (!is_integer()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Document::State {
  ondemand::parser parser;
  std::vector<char> buffer;
  std::size_t length = 0;
  std::vector<std::byte> first_block = std::vector<std::byte>(16 * 1024);
  std::optional<std::pmr::monotonic_buffer_resource> arena;
  std::vector<Node> nodes;    // children of open arrays, innermost last
  std::vector<Field> fields;  // children of open objects, innermost last
  std::size_t duplicates = 0;
  std::size_t kept_bytes = 0;  // of the tree
  std::size_t tree_limit = 0;
  ParseError error;

  // Room of one large text is not held against the next.
  template <class T>
  static void release(std::vector<T>& stack) {
    if (stack.capacity() * sizeof(T) > kMostSpare) stack = std::vector<T>();
    stack.clear();
  }

  // Takes a copy of the text, with the room behind it that the parser needs; `in_brackets`: as [text].
  void load(std::string_view text, bool in_brackets) {
    release(nodes);
    release(fields);
    duplicates = 0;
    kept_bytes = 0;
    arena.emplace(first_block.data(), first_block.size());
    length = text.size() + (in_brackets ? 2 : 0);
    if (buffer.size() < length + simdjson::SIMDJSON_PADDING) {
      buffer = std::vector<char>();  // not both at once
      buffer.resize(length + std::min(length / 4, kMostSpare) + simdjson::SIMDJSON_PADDING);
    }
    std::memcpy(buffer.data() + (in_brackets ? 1 : 0), text.data(), text.size());
    if (in_brackets) {
      buffer.front() = '[';
      buffer[length - 1] = ']';
    }
    std::memset(buffer.data() + length, ' ', simdjson::SIMDJSON_PADDING);
  }

  bool stop(const char* at, std::string what) {
    const char* begin = buffer.data();
    const std::size_t offset = at >= begin ? static_cast<std::size_t>(at - begin) : 0;
    error = {std::min(offset, length), std::move(what), false};
    return false;
  }

  bool stop(ondemand::value value, simdjson::error_code code) {
    const char* at = buffer.data() + length;
    if (auto location = value.current_location(); location.error() == simdjson::SUCCESS) at = location.value_unsafe();
    return stop(at, std::string(error_text(code)));
  }

  bool stop_at_limit(const char* at, Limit limit, std::string_view seen) {
    stop(at, limit_words(limit, seen));
    error.too_deep = true;
    return false;
  }

  // What the text, its index and its unescaped strings take is not there for the tree. False when it is too much alone.
  bool plan_memory(std::string_view text) {
    const std::uint64_t most = limits().document;
    std::uint64_t taken = 6 * static_cast<std::uint64_t>(text.size());
    if (taken > most / 2) taken = 2 * text.size() + index_bytes(text);
    tree_limit = taken < most ? most - taken : 0;
    if (taken <= most) return true;
    error = {0, limit_words(&Limits::document, fmt::format("{} of JSON in one piece", size_words(text.size()))), true};
    return false;
  }

  template <class T>
  const T* keep(const std::vector<T>& stack, std::size_t base) {
    const std::size_t count = stack.size() - base;
    if (count == 0) return nullptr;
    kept_bytes += count * sizeof(T);
    auto* kept = static_cast<T*>(arena->allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_copy(stack.begin() + static_cast<std::ptrdiff_t>(base), stack.end(), kept);
    return kept;
  }

  bool read_scalar(std::string_view token, const char* at, Node& node) {
    token = trimmed(token);
    if (token == "null") {
      node.kind = Kind::kNull;
    } else if (token == "true" || token == "false") {
      node.kind = Kind::kBool;
    } else if (token == "Infinity" || token == "-Infinity" || token == "NaN" || is_number_token(token)) {
      node.kind = Kind::kNumber;
    } else {
      return stop(at, fmt::format("'{}' is not a JSON value", token.substr(0, 40)));
    }
    node.text = token;
    return true;
  }

  bool read_array(ondemand::array array, Node& node, ondemand::value self, int depth) {
    const std::size_t base = nodes.size();
    for (auto element : array) {
      ondemand::value value;
      if (const auto code = std::move(element).get(value)) return stop(self, code);
      Node child;
      if (!read(value, child, depth + 1)) return false;
      nodes.push_back(child);
    }
    node.kind = Kind::kArray;
    node.count = static_cast<std::uint32_t>(nodes.size() - base);
    node.items = keep(nodes, base);
    nodes.resize(base);
    return true;
  }

  // Objects of traces are small: comparing all pairs is cheaper than a table, up to a point.
  void drop_duplicates(std::size_t base) {
    constexpr std::size_t kSmall = 48;
    const auto earlier = [&](std::size_t i) {
      for (std::size_t k = base; k < i; ++k) {
        if (fields[k].key == fields[i].key) return true;
      }
      return false;
    };
    if (fields.size() - base <= kSmall) {
      bool any = false;
      for (std::size_t i = base + 1; i < fields.size() && !any; ++i) any = earlier(i);
      if (!any) return;
    }
    // By key, then by place: numbers take little room, whatever the size of the object.
    std::vector<std::uint32_t> order(fields.size() - base);
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](std::uint32_t i) { return fields[base + i].key; };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
    std::vector<std::uint32_t> gone;
    for (std::size_t i = 0, next = 0; i < order.size(); i = next) {
      for (next = i + 1; next < order.size() && key(order[next]) == key(order[i]); ++next) gone.push_back(order[next]);
      // As Python's dict: the last value in the place of the first.
      if (next > i + 1) fields[base + order[i]].value = fields[base + order[next - 1]].value;
    }
    if (gone.empty()) return;
    duplicates += gone.size();
    std::sort(gone.begin(), gone.end());
    std::size_t kept = base, skipped = 0;
    for (std::size_t i = base; i < fields.size(); ++i) {
      if (skipped < gone.size() && gone[skipped] == i - base)
        ++skipped;
      else
        fields[kept++] = fields[i];
    }
    fields.resize(kept);
  }

  bool read_object(ondemand::object object, Node& node, ondemand::value self, int depth) {
    const std::size_t base = fields.size();
    for (auto entry : object) {
      ondemand::field field;
      if (const auto code = std::move(entry).get(field)) return stop(self, code);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return stop(self, code);
      Field child;
      child.key = key;
      if (!read(field.value(), child.value, depth + 1)) return false;
      fields.push_back(child);
    }
    drop_duplicates(base);
    node.kind = Kind::kObject;
    node.count = static_cast<std::uint32_t>(fields.size() - base);
    node.fields = keep(fields, base);
    fields.resize(base);
    return true;
  }

  bool read(ondemand::value value, Node& node, int depth) {
    const std::string_view token = value.raw_json_token();
    if (token.empty()) return stop(buffer.data() + length, "a value is missing");
    if (static_cast<std::uint64_t>(depth) > limits().depth)
      return stop_at_limit(token.data(), &Limits::depth, fmt::format("nested more than {} levels deep", depth - 1));
    if (kept_bytes + nodes.capacity() * sizeof(Node) + fields.capacity() * sizeof(Field) > tree_limit)
      return stop_at_limit(token.data(), &Limits::document, "it has more values than memory is meant for");
    switch (token.front()) {
      case '[': {
        ondemand::array array;
        if (const auto code = value.get_array().get(array)) return stop(value, code);
        return read_array(array, node, value, depth);
      }
      case '{': {
        ondemand::object object;
        if (const auto code = value.get_object().get(object)) return stop(value, code);
        return read_object(object, node, value, depth);
      }
      case '"': {
        node.kind = Kind::kString;
        if (const auto code = value.get_string().get(node.text))
          return stop(token.data(), std::string(error_text(code)));
        return true;
      }
      default:
        return read_scalar(token, token.data(), node);
    }
  }
};

Document::Document() : state_(std::make_unique<State>()) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

std::size_t Document::duplicate_keys() const { return state_->duplicates; }

tl::expected<const Node*, ParseError> Document::parse(std::string_view text) {
  State& state = *state_;
  const auto failed = [&]() { return tl::unexpected<ParseError>(std::move(state.error)); };
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) {
    state.error = {0, "the text is empty"};
    return failed();
  }
  if (!state.plan_memory(text)) return failed();
  const char first = text[start];
  const bool scalar =
      first != '[' && first != '{';  // read as the one element of an array: On-Demand has no end check there
  state.load(text, scalar);
  ondemand::document document;
  if (const auto code = state.parser.iterate(state.buffer.data(), state.length, state.buffer.size()).get(document)) {
    state.error = explain(text, code);
    return failed();
  }
  // The parser looks at the last character first, so a document that does not end with its bracket fails at once.
  const char last = text[text.find_last_not_of(" \t\r\n")];
  ondemand::value value;
  auto code = document.get_value().get(value);
  if (!code && !scalar && last != (first == '[' ? ']' : '}')) code = simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
  if (code) {
    state.error = explain(text, code);
    return failed();
  }
  auto* root = new (state.arena->allocate(sizeof(Node), alignof(Node))) Node();
  bool read = state.read(value, *root, 0);
  if (auto rest = document.current_location(); read && rest.error() == simdjson::SUCCESS) {
    read = state.stop(rest.value_unsafe(), "there is more text after the end of the document");
  }
  if (read && scalar && root->count != 1) read = state.stop(state.buffer.data(), "more than one value");
  if (!read) {
    if (scalar && state.error.offset > 0) --state.error.offset;  // the bracket we put before it
    state.error.offset = std::min(state.error.offset, text.size());
    return failed();
  }
  return scalar ? root->items : root;
}

std::optional<std::string_view> minify(std::string_view text, std::vector<char>& buffer) {
  if (buffer.size() < text.size() + simdjson::SIMDJSON_PADDING)
    buffer.resize(text.size() * 2 + simdjson::SIMDJSON_PADDING);
  std::size_t length = 0;
  if (simdjson::minify(text.data(), text.size(), buffer.data(), length) != simdjson::SUCCESS) return std::nullopt;
  return std::string_view(buffer.data(), length);
}

namespace {

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size > 1 && (i + size > text.size() || !simdjson::validate_utf8(text.data() + i, size))) return i;
    i += size;
  }
  return text.size();
}

// Walks over brackets and strings without understanding them.
struct Outline {
  std::size_t end = std::string_view::npos;      // behind the outermost closing bracket
  std::size_t control = std::string_view::npos;  // first control character inside a string
  std::size_t open_string = std::string_view::npos;
};

Outline outline_of(std::string_view text) {
  Outline outline;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t start = i++;
      for (; i < text.size() && text[i] != '"'; ++i) {
        if (static_cast<unsigned char>(text[i]) < 0x20 && outline.control == std::string_view::npos)
          outline.control = i;
        if (text[i] == '\\') ++i;
      }
      if (i >= text.size()) outline.open_string = start;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
      if (depth > 0) continue;
      outline.end = i + 1;
      break;
    }
  }
  return outline;
}

}  // namespace

ParseError explain(std::string_view text, int simdjson_code) {
  const std::string what(error_text(simdjson_code));
  if (simdjson_code == simdjson::UTF8_ERROR) return {first_invalid_utf8(text), what};
  const Outline outline = outline_of(text);
  if (simdjson_code == simdjson::UNESCAPED_CHARS && outline.control < text.size()) return {outline.control, what};
  if (simdjson_code == simdjson::UNCLOSED_STRING && outline.open_string < text.size())
    return {outline.open_string, what + "; is the text cut?"};
  if (outline.end < text.size()) {
    const std::size_t more = text.find_first_not_of(" \t\r\n", outline.end);
    if (more != std::string_view::npos) return {more, "there is more text after the end of the document"};
  }
  if (simdjson_code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) return {text.size(), what + "; is the text cut?"};
  return {text.size(), what};
}

Position position_of(std::string_view text, std::size_t offset) {
  Position position;
  const std::string_view before = text.substr(0, offset);
  position.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_start = before.rfind('\n');
  position.column = line_start == std::string_view::npos ? before.size() + 1 : before.size() - line_start;
  return position;
}

std::string describe(std::string_view text, const ParseError& error) {
  const Position position = position_of(text, error.offset);
  return fmt::format("byte {} (line {}, column {}): {}", error.offset, position.line, position.column, error.what);
}

}  // namespace opwright::json
