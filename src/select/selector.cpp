#include "select/selector.h"

#include <algorithm>

#include "select/fields.h"

namespace opwright::select {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append(std::string& out, const Operand& operand) {
  if (const auto* number = std::get_if<std::int64_t>(&operand)) {
    out += std::to_string(*number);
  } else if (const auto* shape = std::get_if<ShapePattern>(&operand)) {
    out += to_text(*shape);
  } else if (const auto& text = std::get<std::string>(operand); !text.empty() && all(text, is_bare)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append(std::string& out, const Predicate& predicate) {
  if (predicate.tensor != kAnyTensor) out += "in" + std::to_string(predicate.tensor) + ".";
  out += info_of(predicate.field).name;
  if (predicate.field == Field::kDim) out += "[" + std::to_string(predicate.dim) + "]";
  for (std::size_t i = 0; i < predicate.path.size(); ++i) {
    const std::string& name = predicate.path[i];
    out += '.';
    if (is_identifier(name) || (i > 0 && !name.empty() && all(name, is_word)))
      out += name;
    else
      append_quoted(out, name);
  }
  if (predicate.relation == Relation::kHolds) return;
  if (predicate.relation != Relation::kIn) {
    out += symbol_of(predicate.relation);
    append(out, predicate.operands.at(0));
    return;
  }
  out += " in (";
  for (std::size_t i = 0; i < predicate.operands.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, predicate.operands[i]);
  }
  out += ')';
}

void append(std::string& out, const Selector& selector);

void append_part(std::string& out, const Selector& part, bool in_parentheses) {
  if (in_parentheses) out += '(';
  append(out, part);
  if (in_parentheses) out += ')';
}

void append(std::string& out, const Selector& selector) {
  using enum Selector::Kind;
  switch (selector.kind) {
    case kEverything:
      return;
    case kPredicate:
      return append(out, selector.predicate);
    case kNot: {
      const auto inner = selector.parts.at(0).kind;
      out += "not ";
      return append_part(out, selector.parts[0], inner == kAnd || inner == kOr);
    }
    case kAnd:
    case kOr:
      for (std::size_t i = 0; i < selector.parts.size(); ++i) {
        if (i > 0) out += selector.kind == kAnd ? " and " : " or ";
        append_part(out, selector.parts[i], selector.kind == kAnd && selector.parts[i].kind == kOr);
      }
      return;
  }
}

}  // namespace

bool matches(const ShapePattern& pattern, std::span<const std::int64_t> shape) {
  // As in a file glob: go on greedily, and on a miss let the last `...` take one dimension more.
  std::size_t p = 0, s = 0;
  std::size_t after_last = std::string::npos, taken_to = 0;
  while (s < shape.size()) {
    if (p < pattern.size() && pattern[p].kind == DimPattern::Kind::kAnyNumber) {
      after_last = ++p;
      taken_to = s;
    } else if (p < pattern.size() && (pattern[p].kind == DimPattern::Kind::kAny || pattern[p].size == shape[s])) {
      ++p;
      ++s;
    } else if (after_last != std::string::npos) {
      p = after_last;
      s = ++taken_to;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p].kind == DimPattern::Kind::kAnyNumber) ++p;
  return p == pattern.size();
}

bool has_wildcards(const ShapePattern& pattern) {
  return std::any_of(pattern.begin(), pattern.end(),
                     [](const DimPattern& dim) { return dim.kind != DimPattern::Kind::kExactly; });
}

std::string to_text(const Selector& selector) {
  std::string text;
  append(text, selector);
  return text;
}

std::string to_text(const Predicate& predicate) {
  std::string text;
  append(text, predicate);
  return text;
}

std::string to_text(const ShapePattern& pattern) {
  std::string text = "[";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i > 0) text += ',';
    switch (pattern[i].kind) {
      case DimPattern::Kind::kExactly:
        text += std::to_string(pattern[i].size);
        break;
      case DimPattern::Kind::kAny:
        text += '*';
        break;
      case DimPattern::Kind::kAnyNumber:
        text += "...";
        break;
    }
  }
  return text += ']';
}

bool needs_provenance(const Selector& selector) {
  if (selector.kind == Selector::Kind::kPredicate) {
    const Field field = selector.predicate.field;
    return field >= Field::kModel && field <= Field::kError;
  }
  return std::any_of(selector.parts.begin(), selector.parts.end(), needs_provenance);
}

}  // namespace opwright::select
