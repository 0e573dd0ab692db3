#include "model/value_parse.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/json.h"

namespace opwright {
namespace {

constexpr int kDeepest = 100;  // values of real traces nest 8 deep

// A reader of one text. The first error stays; everything after it does nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Value> whole_value() {
    Value value = read_value();
    return done(std::move(value));
  }
  Result<Fields> whole_fields() {
    Fields fields;
    if (take('('))
      read_fields(fields, ')');
    else
      complain("'('");
    return done(std::move(fields));
  }

 private:
  template <class T>
  Result<T> done(T value) {
    skip_space();
    if (error_.empty() && at_ < text_.size()) complain("the end");
    if (!error_.empty()) return fail(ErrorCode::kBadInput, error_);
    return value;
  }

  void complain(std::string_view wanted) {
    if (!error_.empty()) return;
    const std::string_view rest = text_.substr(at_, 24);
    error_ = fmt::format("character {}: {} expected, found {}", at_ + 1, wanted,
                         rest.empty() ? "the end" : fmt::format("'{}'", rest));
    at_ = text_.size();
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || !error_.empty()) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) complain(fmt::format("'{}'", c));
  }
  // A word that ends where a word ends.
  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && is_name_character(text_[end])) return false;
    at_ = end;
    return true;
  }

  static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':' || c == '<' || c == '>';
  }

  std::string quoted() {
    skip_space();
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      complain("a closing '\"'");
      return {};
    }
    json::Document document;
    const auto root = document.parse(text_.substr(at_, end + 1 - at_));
    if (!root || !(*root)->is(json::Kind::kString)) {
      complain("a quoted text");
      return {};
    }
    at_ = end + 1;
    return std::string((*root)->text);
  }

  std::string name() {
    if (peek() == '"') return quoted();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    if (at_ == start) complain("a name");
    return std::string(text_.substr(start, at_ - start));
  }

  std::int64_t whole_number() {
    skip_space();
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
    if (error != std::errc()) {
      complain("a whole number");
      return 0;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return out;
  }

  Shape shape() {
    Shape out;
    need('[');
    if (take(']')) return out;
    do out.push_back(whole_number());
    while (take(','));
    need(']');
    return out;
  }

  // `a=1,b=2` up to `close`; a member without `=` is positional.
  void read_fields(Fields& fields, char close) {
    if (take(close)) return;
    do {
      const std::size_t start = (skip_space(), at_);
      std::string field;
      if (peek() == '"' || is_name_character(peek())) field = name();
      if (!error_.empty() || !take('=')) {
        error_.clear();
        at_ = start;
        field.clear();
      }
      fields.emplace_back(std::move(field), read_value());
    } while (error_.empty() && take(','));
    need(close);
  }

  void read_more(Fields& more) {
    if (take('{')) read_fields(more, '}');
  }

  std::optional<Value> number() {
    const char first = peek();
    if (first != '-' && (first < '0' || first > '9')) return std::nullopt;
    if (text_.substr(at_).starts_with("-inf")) {
      at_ += 4;
      return Value(-double{INFINITY});
    }
    std::size_t end = at_ + 1;
    while (end < text_.size() && (is_name_character(text_[end]) || text_[end] == '+' || text_[end] == '-')) ++end;
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    const bool whole = token.size() > (first == '-' ? 1U : 0U) &&
                       token.substr(first == '-' ? 1 : 0).find_first_not_of("0123456789") == std::string_view::npos;
    if (whole) {
      std::int64_t i = 0;
      const auto read = std::from_chars(token.data(), token.data() + token.size(), i);
      if (read.ec == std::errc() && read.ptr == token.data() + token.size()) return Value(i);
      return Value(BigInt{std::string(token)});
    }
    double d = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), d);
    if (read.ec != std::errc() || read.ptr != token.data() + token.size()) {
      at_ -= token.size();
      complain("a number");
    }
    return Value(d);
  }

  Value read_value() {
    if (!error_.empty()) return {};
    if (++depth_ > kDeepest) {
      complain("less nesting");
      return {};
    }
    Value value = read_inner();
    --depth_;
    return value;
  }

  Value read_inner() {
    if (auto read = number()) return std::move(*read);
    switch (peek()) {
      case '[':
        return list();
      case '{':
        return dictionary();
      case '(': {
        ++at_;
        Fields fields;
        read_fields(fields, ')');
        return Value::structure("", std::move(fields));
      }
      case '"': {
        std::string text = quoted();
        if (peek() == '(') return structure(std::move(text));
        if (take('.')) return Value(Enum{std::move(text), word()});
        return Value(std::move(text));
      }
      default:
        return named();
    }
  }

  Value list() {
    List items;
    need('[');
    if (take(']')) return Value(std::move(items));
    do items.push_back(read_value());
    while (error_.empty() && take(','));
    need(']');
    return Value(std::move(items));
  }

  Value dictionary() {
    Fields entries;
    need('{');
    if (take('}')) return Value::dict(std::move(entries));
    do {
      if (peek() != '"') complain("a quoted key");
      std::string key = quoted();
      need(':');
      entries.emplace_back(std::move(key), read_value());
    } while (error_.empty() && take(','));
    need('}');
    return Value::dict(std::move(entries));
  }

  Value structure(std::string type) {
    need('(');
    Fields fields;
    read_fields(fields, ')');
    return Value::structure(std::move(type), std::move(fields));
  }

  // A part of an enum: quoted, or letters without a dot.
  std::string word() { return name(); }

  Value named() {
    std::string text = name();
    if (!error_.empty()) return {};
    if (peek() == '(') {
      if (text == "tensor") return tensor();
      if (text == "memory") return Value::memory(memory());
      if (text == "opaque") return opaque();
      if (text == "enum") {
        need('(');
        Enum e{"", word()};
        need(')');
        return Value(std::move(e));
      }
      return structure(std::move(text));
    }
    if (text == "none") return {};
    if (text == "true") return Value(true);
    if (text == "false") return Value(false);
    if (text == "inf") return Value(double{INFINITY});
    if (text == "nan") return Value(std::nan(""));
    const auto dot = text.find('.');
    if (dot == std::string::npos) return Value(Enum{"", std::move(text)});
    if (dot + 1 == text.size() && peek() == '"') return Value(Enum{text.substr(0, dot), quoted()});
    return Value(Enum{text.substr(0, dot), text.substr(dot + 1)});
  }

  Value opaque() {
    need('(');
    std::string type = peek() == ',' ? "" : name();
    need(',');
    if (peek() != '"') complain("a quoted text");
    std::string text = quoted();
    need(')');
    return Value::opaque(std::move(type), std::move(text));
  }

  std::vector<CoreRange> grid() {
    std::vector<CoreRange> out;
    if (peek() != '(') return out;
    do {
      CoreRange range;
      need('(');
      range.start.x = whole_number();
      need(',');
      range.start.y = whole_number();
      need(')');
      need('-');
      need('(');
      range.end.x = whole_number();
      need(',');
      range.end.y = whole_number();
      need(')');
      out.push_back(range);
    } while (error_.empty() && take('+'));
    return out;
  }

  ShardSpec shard() {
    ShardSpec out;
    out.shape = shape();
    if (!take_word("on")) complain("'on'");
    out.grid = grid();
    if (take_word("ROW_MAJOR")) out.orientation.value = Orientation::kRowMajor;
    if (take_word("COL_MAJOR")) out.orientation.value = Orientation::kColMajor;
    if (take_word("orientation")) {
      need('=');
      out.orientation = {Orientation::kUnknown, name()};
    }
    if (take_word("distribution")) {
      need('=');
      out.distribution = name();
    }
    read_more(out.more);
    return out;
  }

  // A name of a closed set as it stands in the text, or `what=NAME` for one that does not stand alone.
  template <class E>
  void spelled(std::string_view what, Spelled<E>& out, Spelled<E> (*parse)(std::string_view)) {
    const std::size_t start = at_;
    if (take_word(what)) {
      if (take('=')) {
        std::string read = name();
        const Spelled<E> known = parse(read);
        out = known.name() == read && !stands_alone(known.value) ? known : Spelled<E>{E::kUnknown, std::move(read)};
        return;
      }
      at_ = start;
      return;
    }
    const char c = peek();
    if (c < 'A' || c > 'Z') return;
    const std::size_t word_start = at_;
    const std::string read = name();
    const Spelled<E> known = parse(read);
    if (known.value != E::kUnknown && known.present() && known.name() == read)
      out = known;
    else
      at_ = word_start;
  }

  MemoryConfig memory() {
    MemoryConfig out;
    need('(');
    spelled("buffer", out.buffer, parse_buffer_type);
    spelled("layout", out.layout, parse_memory_layout);
    if (take_word("shard")) out.shard.emplace(shard());
    if (take_word("nd_shard")) out.nd_shard.emplace(shard());
    read_more(out.more);
    need(')');
    return out;
  }

  void read_placement(TensorSpec& spec) {
    Placement placement;
    need('[');
    if (!take(']')) {
      do {
        std::string dim = name();
        if (take('(')) {
          dim += '(' + name_or_number() + ')';
          need(')');
        }
        placement.dims.push_back(std::move(dim));
      } while (error_.empty() && take(','));
      need(']');
    }
    if (!take_word("over")) complain("'over'");
    placement.distribution = shape();
    if (!take_word("of") || !take_word("mesh")) complain("'of mesh'");
    placement.mesh = shape();
    spec.placement = std::move(placement);
  }

  std::string name_or_number() {
    std::string sign = take('-') ? "-" : "";
    return sign + name();
  }

  Value tensor() {
    TensorSpec spec;
    need('(');
    if (take_word("shape")) {
      if (!take_word("absent")) complain("'absent'");
    } else {
      if (peek() != '[') spec.type = name();
      if (take_word("shape")) {
        if (!take_word("absent")) complain("'absent'");
      } else {
        spec.shape = shape();
        spec.has_shape = true;
      }
    }
    spelled("dtype", spec.dtype, parse_dtype);
    spelled("layout", spec.layout, parse_layout);
    spelled("storage", spec.storage, parse_storage_type);
    if (take_word("memory")) spec.memory = memory();
    if (take_word("tile")) spec.tile = shape();
    if (take_word("on")) {
      if (!take_word("each") || !take_word("device")) complain("'on each device'");
      spec.device_shape = shape();
    }
    if (take_word("placed")) read_placement(spec);
    read_more(spec.more);
    need(')');
    return Value::tensor(std::move(spec));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

Result<Value> parse_value(std::string_view text) { return Reader(text).whole_value(); }
Result<Fields> parse_fields(std::string_view text) { return Reader(text).whole_fields(); }

}  // namespace opwright
