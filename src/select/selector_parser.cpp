#include <charconv>
#include <limits>
#include <utility>

#include "base/broken.h"
#include "base/near_names.h"
#include "model/op_config.h"
#include "select/argument_key.h"
#include "select/fields.h"
#include "select/fold.h"
#include "select/selector.h"

namespace opwright::select {
namespace {

constexpr std::size_t kDeepest = 100;  // of parentheses and `not`s: more is no question of a person

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() <= kLongest) return std::string(text);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return std::string(text.substr(0, end)) + "...";
}

std::string joined(std::span<const std::string_view> words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

template <class Int>
bool parse_whole(std::string_view text, Int& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

struct RawValue {
  std::size_t at = 0;
  std::variant<std::string, ShapePattern> value;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Selector> parse() {
    skip_space();
    if (at_end()) return Selector{};
    OPWRIGHT_TRY_ASSIGN(Selector selector, parse_or());
    if (at_end()) return selector;
    if (text_[at_] == ')') return error(at_, "')' closes nothing");
    return error(at_, "expected 'and', 'or' or the end, found '" + found() + "'");
  }

 private:
  tl::unexpected<Error> error(std::size_t at, std::string_view what) const {
    std::size_t column = 1;
    for (std::size_t i = 0; i < at && i < text_.size(); ++i) {
      if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
    }
    return fail(ErrorCode::kUsage, "selector, column " + std::to_string(column) + ": " + std::string(what));
  }

  tl::unexpected<Error> too_deep(std::size_t at) const {
    return error(at, "nested deeper than " + std::to_string(kDeepest) + " levels");
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view symbol) {
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  std::string_view peek_word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_keyword(std::string_view keyword) {
    const std::string_view word = peek_word();
    if (!equals_folded(word, keyword)) return false;
    at_ += word.size();
    skip_space();
    return true;
  }
  // What stands here, for a message.
  std::string found() const {
    if (at_end()) return "end";
    if (const std::string_view word = peek_word(); !word.empty()) return shown(word);
    std::size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return std::string(text_.substr(at_, end - at_));
  }
  std::string found_phrase() const { return at_end() ? "the text ends here" : "found '" + found() + "'"; }

  Result<Selector> parse_or() { return parse_chain(Selector::Kind::kOr, "or", &Parser::parse_and); }
  Result<Selector> parse_and() { return parse_chain(Selector::Kind::kAnd, "and", &Parser::parse_not); }

  Result<Selector> parse_chain(Selector::Kind kind, std::string_view keyword,
                               Result<Selector> (Parser::*parse_part)()) {
    OPWRIGHT_TRY_ASSIGN(Selector first, (this->*parse_part)());
    if (!take_keyword(keyword)) return first;
    Selector chain{.kind = kind, .predicate = {}, .parts = {}};
    const auto add = [&](Selector part) {  // `a and (b and c)` is `a and b and c`
      if (part.kind != kind) return chain.parts.push_back(std::move(part));
      for (Selector& inner : part.parts) chain.parts.push_back(std::move(inner));
    };
    add(std::move(first));
    do {
      OPWRIGHT_TRY_ASSIGN(Selector part, (this->*parse_part)());
      add(std::move(part));
    } while (take_keyword(keyword));
    return chain;
  }

  Result<Selector> parse_not() {
    skip_space();
    const std::size_t start = at_;
    const bool negated = take_keyword("not");
    if (!negated && peek() != '(') return parse_predicate();
    if (++depth_ > kDeepest) return too_deep(start);
    Result<Selector> inner = negated ? parse_not() : parse_group();
    --depth_;
    if (!inner || !negated) return inner;
    return negation(std::move(*inner));
  }

  static Selector negation(Selector inner) {
    Selector result{.kind = Selector::Kind::kNot, .predicate = {}, .parts = {}};
    result.parts.push_back(std::move(inner));
    return result;
  }

  Result<Selector> parse_group() {
    const std::size_t open = at_++;
    OPWRIGHT_TRY_ASSIGN(Selector inner, parse_or());
    if (at_end()) return error(open, "'(' is never closed");
    if (!take(")")) return error(at_, "expected 'and', 'or' or ')', found '" + found() + "'");
    skip_space();
    return inner;
  }

  Result<Selector> parse_predicate() {
    const std::size_t start = at_;
    Selector result{.kind = Selector::Kind::kPredicate, .predicate = {}, .parts = {}};
    Predicate& predicate = result.predicate;
    OPWRIGHT_TRY(parse_field(predicate));
    const std::string_view written = text_.substr(start, at_ - start);
    skip_space();
    const std::size_t relation_at = at_;
    bool negated = false;
    predicate.relation = parse_relation(negated);
    // `x not in (…)` is `not x in (…)`, and what we print must be read again.
    if (negated && depth_ + 1 > kDeepest) return too_deep(start);

    const FieldInfo& field = info_of(predicate.field);
    const auto allowed = relations_of(field.type);
    if (std::find(allowed.begin(), allowed.end(), predicate.relation) == allowed.end()) {
      if (field.type == FieldType::kFlag) {
        return error(relation_at, "'" + std::string(written) + "' is not compared with anything; write '" +
                                      std::string(written) + "' or 'not " + std::string(written) + "'");
      }
      std::vector<std::string_view> symbols;
      for (const Relation relation : allowed) symbols.push_back(symbol_of(relation));
      const std::string choice = joined(symbols, " ") + ", such as " + std::string(field.example);
      if (predicate.relation == Relation::kHolds) {
        return error(relation_at, "'" + shown(written) + "' wants one of " + choice + "; " + found_phrase());
      }
      return error(relation_at, "'" + shown(written) + "' cannot be compared with '" +
                                    std::string(symbol_of(predicate.relation)) + "'; it takes " + choice);
    }

    if (predicate.relation == Relation::kIn) {
      OPWRIGHT_TRY(parse_list(predicate));
      if (predicate.operands.size() == 1) predicate.relation = Relation::kEqual;
    } else if (predicate.relation != Relation::kHolds) {
      OPWRIGHT_TRY_ASSIGN(RawValue raw, parse_value(symbol_of(predicate.relation)));
      OPWRIGHT_TRY(add_operand(predicate, std::move(raw)));
    }
    skip_space();
    return negated ? negation(std::move(result)) : std::move(result);
  }

  Status parse_field(Predicate& predicate) {
    const std::size_t start = at_;
    std::string_view word = peek_word();
    const std::string folded = fold(word);
    if (word.empty() || !is_word_start(word.front()) || folded == "and" || folded == "or" || folded == "in") {
      return error(start, "expected a field, such as " + std::string(fields().front().example) + "; " + found_phrase());
    }
    at_ += word.size();
    if (folded == "arg") return parse_argument(predicate);

    const bool prefixed =
        folded.size() > 2 && folded.starts_with("in") && all(std::string_view(folded).substr(2), is_digit);
    std::size_t field_at = start;
    if (prefixed) {
      if (!parse_whole(std::string_view(folded).substr(2), predicate.tensor)) {
        return error(start, "'" + shown(word) + "' is no number of a tensor");
      }
      if (peek() != '.') {
        return error(at_, "'" + std::string(word) + "' wants a field of that tensor, such as " + std::string(word) +
                              ".dtype=BFLOAT16");
      }
      field_at = ++at_;
      word = peek_word();
      at_ += word.size();
    }
    const auto field = std::find_if(fields().begin(), fields().end(),
                                    [&](const FieldInfo& info) { return equals_folded(word, info.name); });
    if (field == fields().end()) {
      std::vector<std::string_view> known;
      for (const FieldInfo& info : fields()) {
        if (!prefixed || info.of_tensor) known.push_back(info.name);
      }
      const auto near = near_names(word, known);
      return error(field_at, "unknown field '" + shown(word) + "'" + did_you_mean(near) +
                                 (near.empty() ? "; fields are " + joined(known, ", ") : ""));
    }
    if (prefixed && !field->of_tensor) {
      return error(field_at, "'" + std::string(field->name) + "' is no field of a tensor; write it without '" +
                                 std::string(text_.substr(start, field_at - start)) + "'");
    }
    predicate.field = field->field;
    if (field->field == Field::kDim) return parse_dim_index(predicate);
    if (peek() == '[') return error(at_, "only 'dim' has an index, such as dim[-1]>1024");
    return {};
  }

  Status parse_dim_index(Predicate& predicate) {
    skip_space();
    if (!take("[")) return error(at_, "'dim' wants the number of a dimension, such as dim[0] or dim[-1]");
    skip_space();
    const std::size_t start = at_;
    while (is_digit(peek()) || peek() == '-' || peek() == '+') ++at_;
    if (!parse_whole(text_.substr(start, at_ - start), predicate.dim)) {
      return error(start, "'dim' wants the number of a dimension, such as dim[0] or dim[-1]");
    }
    skip_space();
    if (!take("]")) return error(at_, "expected ']' behind the number of a dimension; " + found_phrase());
    return {};
  }

  Status parse_argument(Predicate& predicate) {
    predicate.field = Field::kArgument;
    if (peek() != '.') return error(at_, "'arg' wants the name of an argument, such as arg.dim=3");
    while (take(".")) {
      const std::size_t start = at_;
      std::string name;
      if (peek() == '"' || peek() == '\'') {
        OPWRIGHT_TRY_ASSIGN(name, parse_quoted());
        name = fold(name);
      } else {
        const std::string_view word = peek_word();
        at_ += word.size();
        // `arg.0` is the argument that has no name but its position.
        name = (predicate.path.empty() && !word.empty() && all(word, is_digit) ? "arg" : "") + fold(word);
      }
      if (name.empty()) return error(start, "expected the name of an argument; " + found_phrase());
      predicate.path.push_back(std::move(name));
    }
    return {};
  }

  Relation parse_relation(bool& negated) {
    using enum Relation;
    static constexpr std::array<std::pair<std::string_view, Relation>, 8> kSymbols{{{"==", kEqual},
                                                                                    {"!=", kNotEqual},
                                                                                    {"<=", kLessEqual},
                                                                                    {">=", kGreaterEqual},
                                                                                    {"=", kEqual},
                                                                                    {"~", kContains},
                                                                                    {"<", kLess},
                                                                                    {">", kGreater}}};
    for (const auto& [symbol, relation] : kSymbols) {
      if (take(symbol)) return relation;
    }
    if (take_keyword("in")) return kIn;
    const std::size_t start = at_;
    if (take_keyword("not")) {
      if (take_keyword("in")) {
        negated = true;
        return kIn;
      }
      at_ = start;
    }
    return kHolds;
  }

  Status parse_list(Predicate& predicate) {
    skip_space();
    const std::size_t open = at_;
    if (!take("(")) return error(at_, "'in' wants a list, such as (a, b); " + found_phrase());
    do {
      OPWRIGHT_TRY_ASSIGN(RawValue raw, parse_value(predicate.operands.empty() ? "(" : ","));
      OPWRIGHT_TRY(add_operand(predicate, std::move(raw)));
      skip_space();
    } while (take(","));
    if (at_end()) return error(open, "'(' is never closed");
    if (!take(")")) return error(at_, "expected ',' or ')', found '" + found() + "'");
    return {};
  }

  Result<RawValue> parse_value(std::string_view behind) {
    skip_space();
    RawValue raw{at_, {}};
    if (peek() == '"' || peek() == '\'') {
      OPWRIGHT_TRY_ASSIGN(raw.value, parse_quoted());
      return raw;
    }
    if (peek() == '[') {
      OPWRIGHT_TRY_ASSIGN(raw.value, parse_shape());
      return raw;
    }
    while (!at_end() && is_bare(text_[at_])) ++at_;
    if (at_ == raw.at) {
      return error(at_, "expected a value behind '" + std::string(behind) + "'; " + found_phrase() +
                            (at_end() ? "" : " (a text with such a character is written in quotes)"));
    }
    raw.value = std::string(text_.substr(raw.at, at_ - raw.at));
    return raw;
  }

  Result<std::string> parse_quoted() {
    const std::size_t open = at_;
    const char quote = text_[at_++];
    std::string text;
    while (!at_end() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_++];
    }
    if (at_end()) return error(open, std::string("the quote ") + quote + " is never closed");
    ++at_;
    return text;
  }

  Result<ShapePattern> parse_shape() {
    const std::size_t open = at_++;
    ShapePattern pattern;
    skip_space();
    if (take("]")) return pattern;
    do {
      skip_space();
      const std::size_t start = at_;
      DimPattern dim;
      if (take("...")) {
        dim.kind = DimPattern::Kind::kAnyNumber;
      } else if (take("*")) {
        dim.kind = DimPattern::Kind::kAny;
      } else {
        while (is_digit(peek()) || peek() == '-' || peek() == '+') ++at_;
        if (at_end()) return error(open, "'[' is never closed");
        if (!parse_whole(text_.substr(start, at_ - start), dim.size)) {
          at_ = start;
          return error(start, "a shape holds whole numbers, '*' and '...'; " + found_phrase() +
                                  " (other lists are written in quotes)");
        }
      }
      pattern.push_back(dim);
      skip_space();
    } while (take(","));
    if (at_end()) return error(open, "'[' is never closed");
    if (!take("]")) return error(at_, "expected ',' or ']', found '" + found() + "'");
    return pattern;
  }

  Status add_operand(Predicate& predicate, RawValue raw) {
    const FieldInfo& field = info_of(predicate.field);
    const std::string name(field.name);
    if (auto* shape = std::get_if<ShapePattern>(&raw.value)) {
      const bool argument = field.type == FieldType::kValue &&
                            (predicate.relation == Relation::kEqual || predicate.relation == Relation::kNotEqual ||
                             predicate.relation == Relation::kIn);
      if (field.type != FieldType::kShape && !argument)
        return error(raw.at, "'" + name + "' is not compared with a shape here");
      predicate.operands.emplace_back(std::move(*shape));
      return {};
    }
    const std::string& text = std::get<std::string>(raw.value);
    if (predicate.relation == Relation::kContains && text.empty()) {
      return error(raw.at, "'~' wants a text that is not empty: every text contains the empty one");
    }
    switch (field.type) {
      case FieldType::kText:
        if (text.empty() && predicate.field == Field::kOp) return error(raw.at, "the name of an operator is not empty");
        predicate.operands.emplace_back(predicate.field == Field::kOp ? fold_name(text) : fold(text));
        return {};
      case FieldType::kName:
        return add_name(predicate, raw.at, text);
      case FieldType::kWhole: {
        std::string number;
        std::int64_t whole = 0;
        if (!append_number_key(number, text) || !parse_whole(number, whole)) {
          return error(raw.at, "'" + name + "' wants a whole number of at most 64 bits, not '" + shown(text) + "'");
        }
        predicate.operands.emplace_back(whole);
        return {};
      }
      case FieldType::kKey: {
        std::string digits = fold(text);
        const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
        if (digits.empty() || digits.size() > 2 * sizeof(ConfigKey) || !all(digits, is_hex)) {
          return error(raw.at,
                       "'key' wants the first hex digits of a key (1 to 64 of them), not '" + shown(text) + "'");
        }
        predicate.operands.emplace_back(std::move(digits));
        return {};
      }
      case FieldType::kValue:
        return add_argument(predicate, raw.at, text);
      case FieldType::kShape:
        return error(raw.at, "'" + name + "' wants a shape in brackets, such as [1,1,32,*], not '" + shown(text) + "'");
      case FieldType::kFlag:
        break;  // has no operand
    }
    broken("every type of field takes an operand here", name);
  }

  Status add_name(Predicate& predicate, std::size_t at, const std::string& text) {
    if (predicate.relation == Relation::kContains) {
      predicate.operands.emplace_back(fold(text));
      return {};
    }
    const NameSet& set = names_of(predicate.field);
    if (const auto canonical = set.canonical(text)) {
      predicate.operands.emplace_back(std::string(*canonical));
      return {};
    }
    std::string message = "unknown " + std::string(set.what) + " '" + shown(text) + "'";
    for (const FieldInfo& other : fields()) {  // the right word at the wrong field
      if (other.type != FieldType::kName || (text.size() == 1 && is_digit(text.front()))) continue;
      if (const auto canonical = names_of(other.field).canonical(text)) {
        return error(at, message + ", but it is a " + std::string(names_of(other.field).what) + ": write " +
                             std::string(other.name) + "=" + std::string(*canonical));
      }
    }
    const auto near = near_names(text, set.names);
    return error(at, message + did_you_mean(near) + (near.empty() ? "; known are " + joined(set.names, ", ") : ""));
  }

  Status add_argument(Predicate& predicate, std::size_t at, const std::string& text) {
    std::string operand;
    if (predicate.relation == Relation::kContains) {
      operand = fold_name(text);
    } else if (is_order(predicate.relation)) {
      if (!append_number_key(operand, text)) {
        return error(at,
                     "'" + std::string(symbol_of(predicate.relation)) + "' wants a number, not '" + shown(text) + "'");
      }
    } else {
      append_key(operand, text);
    }
    predicate.operands.emplace_back(std::move(operand));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<Selector> parse_selector(std::string_view text) { return Parser(text).parse(); }

}  // namespace opwright::select
