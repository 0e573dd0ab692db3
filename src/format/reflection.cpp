#include "format/reflection.h"

#include <cstdint>
#include <utility>

#include "base/text.h"
#include "format/reflection_lexer.h"

namespace opwright::format {
namespace {

using Name = ReflectionLexer::Name;

// Two members of these names and no others, in whichever order.
bool has_just(const Fields& fields, std::string_view a, std::string_view b) {
  return fields.size() == 2 &&
         ((fields[0].first == a && fields[1].first == b) || (fields[0].first == b && fields[1].first == a));
}

bool is_coordinate(const Value& value) {
  if (const Fields* dict = value.as_dict()) return has_just(*dict, "x", "y");
  const Struct* s = value.as_struct();
  return s != nullptr && has_just(s->fields, "x", "y");
}

bool is_name_start(char c) { return ReflectionLexer::is_word(c) && !ReflectionLexer::is_digit(c); }

// What may stand before '=': letters, digits and '_' only, so that a printed struct reads in one way.
bool is_member_name(std::string_view text) {
  if (text.empty() || !is_name_start(text.front())) return false;
  for (const char c : text) {
    if (!ReflectionLexer::is_word(c)) return false;
  }
  return true;
}

bool is_number(const Value& value) { return value.as_int() != nullptr || value.as_float() != nullptr; }

bool is_hex(char c) { return ReflectionLexer::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// `<X object at 0x7f12>` -> `<X object>`. Without an " at " only a long number is taken for an address.
std::string without_addresses(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at + 2)) {
    std::size_t end = at + 2;
    while (end < text.size() && is_hex(text[end])) ++end;
    const std::string_view before = text.substr(from, at - from);
    const bool named = before.ends_with(" at ");
    if (end - at < (named ? 3U : 8U)) continue;
    out += before.substr(0, before.size() - (named ? 4 : before.ends_with(' ') ? 1 : 0));
    from = end;
  }
  return out += text.substr(from);
}

// `<DataType.BFLOAT16: 0>` is how Python shows an enum; its parts, or nothing.
bool as_enum_repr(std::string_view text, Value& out) {
  const std::string_view inner = text.substr(1, text.size() - 2);
  const std::size_t colon = inner.find(": ");
  const std::size_t dot = inner.substr(0, colon).rfind('.');
  if (colon == std::string_view::npos || dot == std::string_view::npos || dot == 0 || dot + 1 == colon) return false;
  for (const char c : inner.substr(0, colon)) {
    if (!ReflectionLexer::is_word(c) && c != '.') return false;
  }
  std::string_view number = inner.substr(colon + 2);
  if (number.starts_with('-')) number.remove_prefix(1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const std::string_view type = last_part(inner.substr(0, dot), ".");
  out = Value(Enum{std::string(type), std::string(inner.substr(dot + 1, colon - dot - 1))});
  return true;
}

// Words that are values rather than enum names.
bool as_literal(std::string_view word, Value& out) {
  if (word.size() > 12) return false;
  if (word == "nullopt" || word == "std::nullopt" || word == "None" || word == "null")
    out = Value();
  else if (word == "true" || word == "True")
    out = Value(true);
  else if (word == "false" || word == "False")
    out = Value(false);
  else
    return false;
  return true;
}

bool is_float_word(std::string_view word) {
  return word == "inf" || word == "nan" || word == "Infinity" || word == "NaN";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  bool whole(Value& out) {
    lexer_.skip_space();
    if (!value(out)) return false;
    return lexer_.at_end() || lexer_.fail("expected the end of the text");
  }

  bool value(Value& out) { return primary(out) && range(out); }
  ReflectionLexer& lexer() { return lexer_; }

 private:
  struct Nesting {  // one level of brackets, for as long as it lives
    explicit Nesting(int& counter) : depth(counter) { ++depth; }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth;
  };

  bool primary(Value& out) {
    const char c = lexer_.peek();
    switch (c) {
      case '{':
        return group(nullptr, out);
      case '(':
        if (Name name; lexer_.take("(anonymous namespace)::")) return lexer_.name(name) && named(name, out);
        return group(nullptr, out);
      case '[':
        return bracket(out);
      case '<':
        return angle(out);
      case '"':
      case '\'': {
        std::string text;
        if (!lexer_.quoted(text)) return false;
        out = Value(std::move(text));
        return true;
      }
      case '.':
        if (!lexer_.take("...")) return lexer_.fail("expected a value");
        out = Value::opaque("", "...");
        return true;
      default:
        break;
    }
    if (ReflectionLexer::is_digit(c) || c == '-') return lexer_.number(out);
    if (ReflectionLexer::is_word(c)) {
      Name name;
      return lexer_.name(name) && named(name, out);
    }
    std::string text;
    if (!lexer_.control_character(text)) return false;
    out = Value(std::move(text));
    return true;
  }

  // `A - B` behind a first coordinate A. Also skips the space behind the value.
  bool range(Value& out) {
    was_range_ = false;
    lexer_.skip_space();
    if (lexer_.peek() != '-') return true;
    const std::size_t begin = lexer_.position();
    lexer_.take('-');
    lexer_.skip_space();
    Value end;
    if (!primary(end)) return false;
    if (!is_coordinate(out) || !is_coordinate(end)) return lexer_.fail_at(begin, "a range that is not of coordinates");
    Fields fields;
    fields.reserve(2);
    fields.emplace_back("start", std::move(out));
    fields.emplace_back("end", std::move(end));
    out = Value::structure("CoreRange", std::move(fields));
    lexer_.skip_space();
    was_range_ = true;
    return true;
  }

  // A word was read: the type of what follows in brackets, a literal, or the name of an enum value.
  bool named(const Name& name, Value& out) {
    const char next = lexer_.peek();
    if (next == '(' || next == '{') return group(&name, out);
    if (as_literal(name.text, out)) return true;
    if (is_float_word(name.text)) {
      lexer_.go_back(lexer_.position() - name.text.size());
      return lexer_.number(out);
    }
    if (lexer_.take(" with ")) return described(name, out);
    out = Value(Enum{std::string(name.qualifier), std::string(name.last)});
    return true;
  }

  // `Tile with shape: [32, 32]`
  bool described(const Name& type, Value& out) {
    Name key;
    if (!lexer_.name(key)) return false;
    if (!is_member_name(key.text) || !lexer_.take(':')) return lexer_.fail("expected a member name and ':'");
    lexer_.skip_space();
    Value member;
    const Nesting nesting(depth_);
    if (depth_ > kMaxReflectionDepth) return too_deep();
    if (!value(member)) return false;
    Fields fields;
    fields.emplace_back(std::string(key.text), std::move(member));
    out = Value::structure(std::string(type.last), std::move(fields));
    return true;
  }

  bool angle(Value& out) {
    std::string_view text;
    if (!lexer_.angled(text)) return false;
    if (text == "<nullopt>")
      out = Value();
    else if (!as_enum_repr(text, out))
      out = Value::opaque("", without_addresses(text));
    return true;
  }

  bool bracket(Value& out) {
    if (lexer_.take("[ unsupported type ,")) {
      lexer_.skip_space();
      std::string_view type;
      if (!lexer_.to_closing_bracket(type)) return false;
      out = Value::opaque("unsupported", std::string(type));
      return true;
    }
    if (lexer_.take("[any, empty]")) {
      out = Value::opaque("any", "empty");
      return true;
    }
    const Nesting nesting(depth_);
    if (depth_ > kMaxReflectionDepth) return too_deep();
    lexer_.take('[');
    List list;
    lexer_.skip_space();
    if (lexer_.take(']')) {
      out = Value(std::move(list));
      return true;
    }
    list.reserve(4);
    while (true) {
      lexer_.skip_space();
      if (!value(list.emplace_back())) return false;
      if (lexer_.take(',')) continue;
      if (!lexer_.take(']')) return lexer_.fail("expected ',' or ']'");
      break;
    }
    if (list.size() == 1 && was_range_)
      out = std::move(list.front());  // `[A - B]` is how one range is printed
    else
      out = Value(std::move(list));
    was_range_ = false;
    return true;
  }

  // `(…)` or `{…}`, with the name of a type before it or without.
  bool group(const Name* name, Value& out) {
    const Nesting nesting(depth_);
    if (depth_ > kMaxReflectionDepth) return too_deep();
    const bool brace = lexer_.take('{');
    if (!brace) lexer_.take('(');
    const char close = brace ? '}' : ')';
    const std::string_view type = name != nullptr && !name->cut_type ? name->last : std::string_view();
    for (const std::string_view hidden : {"...", "ptr"}) {  // the tool showed that there is something, not what
      if (lexer_.peek(hidden.size()) != close || !lexer_.take(hidden)) continue;
      lexer_.take(close);
      out = Value::opaque(std::string(type), "{" + std::string(hidden) + "}");
      return true;
    }
    Fields fields;
    Members state{.typed = name != nullptr || !brace, .named = false, .joined = {}};
    if (!members(close, name == nullptr, fields, state)) return false;
    finish_joined(fields, state);
    if (name != nullptr) {
      const bool cut_coordinate = name->cut_type && has_just(fields, "x", "y");
      out = Value::structure(cut_coordinate ? std::string("CoreCoord") : std::string(type), std::move(fields));
    } else if (state.named) {
      out = brace ? Value::dict(std::move(fields)) : Value::structure("", std::move(fields));
    } else {
      List list;
      list.reserve(fields.size());
      for (auto& field : fields) list.push_back(std::move(field.second));
      out = Value(std::move(list));
    }
    return true;
  }

  struct Members {
    bool typed;   // a struct may have positional members before named ones
    bool named;   // a member with a name was seen
    List joined;  // the numbers of the last member, where it is written `name=8,8`
  };

  bool members(char close, bool anonymous, Fields& fields, Members& state) {
    lexer_.skip_space();
    if (lexer_.take(close)) return true;
    fields.reserve(4);
    while (true) {
      if (!member(fields, state)) return false;
      if (lexer_.take(close)) return true;
      // Old builds forget the '}' of a core range inside a grid. It is there again where nothing else can be meant.
      const bool may_lack_close = close == '}' && anonymous && has_just(fields, "start", "end");
      if (may_lack_close && lexer_.peek() == ']') return true;
      const std::size_t comma = lexer_.position();
      if (!lexer_.take(',')) return lexer_.fail(close == '}' ? "expected ',' or '}'" : "expected ',' or ')'");
      lexer_.skip_space();
      if (may_lack_close && lexer_.peek() == '{') {
        lexer_.go_back(comma);
        return true;
      }
      if (close == ')' && anonymous && lexer_.take(close)) return true;  // the tuple `(1,)`
    }
  }

  // One member, its name if it has one, and the space behind it.
  bool member(Fields& fields, Members& state) {
    const char c = lexer_.peek();
    const std::size_t begin = lexer_.position();
    Value held;
    if (c == '"' || c == '\'') {
      std::string text;
      if (!lexer_.quoted(text)) return false;
      lexer_.skip_space();
      if (lexer_.take(':')) return entry(std::move(text), begin, fields, state);
      held = Value(std::move(text));
      if (!range(held)) return false;
    } else if (is_name_start(c)) {
      Name name;
      if (!lexer_.name(name)) return false;
      const std::size_t behind = lexer_.position();
      lexer_.skip_space();
      const char next = lexer_.peek();
      const bool is_key = next == '=' || (next == ':' && lexer_.peek(1) != ':');
      if (is_key && !name.cut_type) {
        lexer_.take(next);
        return entry(std::string(name.text), begin, fields, state);
      }
      lexer_.go_back(behind);
      if (!named(name, held) || !range(held)) return false;
    } else {
      if (!value(held)) return false;
      if (state.typed && is_name_start(lexer_.peek())) return counted(std::move(held), fields, state);
    }
    if (state.named) return join(std::move(held), begin, fields, state);
    fields.emplace_back(std::string(), std::move(held));
    return true;
  }

  bool entry(std::string key, std::size_t begin, Fields& fields, Members& state) {
    if (!state.typed && !state.named && !fields.empty()) {
      return lexer_.fail_at(begin, "a member with a name after one without");
    }
    if (state.typed && !is_member_name(key)) return lexer_.fail_at(begin, "a member whose name is no word");
    finish_joined(fields, state);
    state.named = true;
    lexer_.skip_space();
    return value(fields.emplace_back(std::move(key), Value()).second);
  }

  // `2 devices`, `1x2 grid`: the name stands behind the value.
  bool counted(Value held, Fields& fields, Members& state) {
    Name unit;
    const std::size_t begin = lexer_.position();
    if (!lexer_.name(unit)) return false;
    if (!is_member_name(unit.text)) return lexer_.fail_at(begin, "a member whose name is no word");
    finish_joined(fields, state);
    state.named = true;
    fields.emplace_back(std::string(unit.text), std::move(held));
    lexer_.skip_space();
    return true;
  }

  // `"compute_grid":8,8`: a pair that was printed without brackets.
  bool join(Value held, std::size_t begin, Fields& fields, Members& state) {
    const Value& last = fields.back().second;
    if (!is_number(held) || !is_number(last)) {
      return lexer_.fail_at(begin, "a member without a name after one with a name");
    }
    if (state.joined.empty()) state.joined.push_back(last);
    state.joined.push_back(std::move(held));
    return true;
  }

  static void finish_joined(Fields& fields, Members& state) {
    if (state.joined.empty()) return;
    fields.back().second = Value(std::move(state.joined));
    state.joined.clear();
  }

  bool too_deep() { return lexer_.fail("nested deeper than " + std::to_string(kMaxReflectionDepth) + " levels"); }

  ReflectionLexer lexer_;
  int depth_ = 0;
  bool was_range_ = false;  // the value just read was written as `A - B`
};

}  // namespace

tl::expected<Value, ReflectionError> parse_reflection(std::string_view text) {
  Parser parser(text);
  Value value;
  if (!parser.whole(value)) return tl::unexpected(parser.lexer().error());
  return value;
}

}  // namespace opwright::format
