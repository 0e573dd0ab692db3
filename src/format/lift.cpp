#include "format/lift.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/json_write.h"
#include "base/text.h"
#include "dialect/dialect.h"
#include "dialect/ttnn/lift_tensor.h"
#include "format/reflection.h"
#include "model/position_name.h"

namespace opwright::format {
namespace {

using lifting::find;
using lifting::text_of;

// Names of special floats that JSON cannot write as numbers.
bool special_float(std::string_view text, double& value) {
  if (text == "inf" || text == "Infinity")
    value = std::numeric_limits<double>::infinity();
  else if (text == "-inf" || text == "-Infinity")
    value = -std::numeric_limits<double>::infinity();
  else if (text == "nan" || text == "NaN")
    value = std::numeric_limits<double>::quiet_NaN();
  else
    return false;
  return true;
}

// `Word.WORD` or `Word::WORD`, both starting with a capital letter: an enum written by str().
bool enum_text(std::string_view text, Enum& out) {
  const std::size_t at = text.find_last_of(".:");
  if (at == std::string_view::npos || at == 0 || at + 1 >= text.size()) return false;
  const std::string_view type = last_part(text.substr(0, text[at] == ':' && text[at - 1] == ':' ? at - 1 : at));
  const std::string_view name = text.substr(at + 1);
  const auto is_name = [](std::string_view word) {
    return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' &&
           std::all_of(word.begin(), word.end(),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  };
  if (!is_name(type) || !is_name(name)) return false;
  out = Enum{std::string(type), std::string(name)};
  return true;
}

// A string inside a config object: Python's tracers write enums, booleans and None there by str().
Value lift_member(Value value, LiftNotes& notes) {
  const std::string* text = value.as_string();
  if (text == nullptr) return lift(std::move(value), notes);
  if (*text == "None" || *text == "std::nullopt" || *text == "nullopt") return Value();
  if (*text == "True" || *text == "False") return Value(*text == "True");
  if (Enum name; enum_text(*text, name)) return Value(std::move(name));
  const char first = text->empty() ? ' ' : text->front();
  const char last = text->empty() ? ' ' : text->back();
  if ((first == '{' && last == '}') || (first == '[' && last == ']') || last == ')') return lift_text(*text, notes);
  return lift(std::move(value), notes);
}

// `typed`: members of a struct; JSON writes positional ones under their numbers.
Fields lift_members(const Fields& fields, LiftNotes& notes, std::initializer_list<std::string_view> without = {},
                    bool typed = true) {
  Fields lifted;
  lifted.reserve(fields.size());
  for (const auto& [name, value] : fields) {
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    const bool position = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    lifted.emplace_back(typed && position ? std::string() : name, lift_member(value, notes));
  }
  return lifted;
}

bool is_type_word(std::string_view name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' && name.find(' ') == std::string_view::npos;
}

Value lift_printed(const std::string& type, const std::string& text, LiftNotes& notes);

class NotingLifter final : public Lifter {
 public:
  explicit NotingLifter(LiftNotes& notes) : notes_(notes) {}

  Value lift(Value value) override { return format::lift(std::move(value), notes_); }
  Fields lift_members(const Fields& fields, std::initializer_list<std::string_view> without) override {
    return format::lift_members(fields, notes_, without);
  }
  Value lift_printed(const std::string& type, const std::string& text) override {
    return format::lift_printed(type, text, notes_);
  }
  Value opened(const Value& value) override {
    const std::string* text = value.as_string();
    if (text == nullptr) return value;
    auto parsed = parse_reflection(*text);
    return parsed ? *std::move(parsed) : value;
  }
  Spelled<DType> dtype(std::string_view text) override {
    const bool own = notes_.dialect != nullptr && notes_.dialect->dtype != nullptr;
    return own ? notes_.dialect->dtype(text) : parse_dtype(text);
  }
  std::string without_addresses(std::string_view text) override { return format::without_addresses(text); }
  void unparsed_text(std::string_view text) override { notes_.unparsed_text(text); }
  void unknown_name(std::string_view what, std::string_view text) override { notes_.unknown_name(what, text); }

 private:
  LiftNotes& notes_;
};

// What the thing is in the words of a dialect; the first that knows it has it.
std::optional<Value> lift_by_dialect(Written how, const std::string& type, const Value& content, LiftNotes& notes) {
  NotingLifter lifter(notes);
  for (const Dialect* dialect : dialects()) {
    if (dialect->lift == nullptr) continue;
    if (auto value = dialect->lift(how, type, content, lifter)) return value;
  }
  return std::nullopt;
}

Value lift_set(Value list, LiftNotes& notes) {
  Value lifted = lift(std::move(list), notes);
  const List* items = lifted.as_list();
  if (items == nullptr) return lifted;
  List sorted = *items;  // a set has no order: two prints of it must be one value
  std::sort(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) { return to_text(a) < to_text(b); });
  Fields fields;
  fields.emplace_back("", Value(std::move(sorted)));
  return Value::structure("set", std::move(fields));
}

// Struct of reflection text, or {"Type": {…}} of era-1 JSON: what the type name means.
Value lift_typed(const std::string& type, const Value& content, LiftNotes& notes) {
  const Fields* fields = lifting::members(content);
  if (content.is_null()) return Value::opaque(type, "...");  // the writer had nothing to show
  if (const Opaque* opaque = content.as_opaque()) {
    return Value::opaque(type, opaque->text == "{...}" ? "..." : opaque->text);
  }
  if (auto value = lift_by_dialect(Written::kTyped, type, content, notes)) return *std::move(value);
  if (fields != nullptr) return Value::structure(type, lift_members(*fields, notes));
  Fields one;
  one.emplace_back("", lift(content, notes));
  return Value::structure(type, std::move(one));
}

// {"type": T, "repr": text} and {"type": T, "value": text}
Value lift_printed(const std::string& type, const std::string& text, LiftNotes& notes) {
  if (type.ends_with("Path") || type == "path") {
    Fields path;
    path.emplace_back("", Value(text));
    return Value::structure(type, std::move(path));
  }
  if (Enum name; enum_text(text, name)) return Value(std::move(name));
  auto parsed = parse_reflection(text);
  if (!parsed) {
    notes.unparsed_text(text);
    return Value::opaque(type, without_addresses(text));
  }
  if (type == "set" || type == "frozenset") return lift_set(*std::move(parsed), notes);
  if (const Opaque* opaque = parsed->as_opaque()) return Value::opaque(type, without_addresses(opaque->text));
  if (const Enum* word = parsed->as_enum(); word != nullptr && word->type.empty()) return Value(Enum{type, word->name});
  Value lifted = lift(*std::move(parsed), notes);
  if (lifted.as_struct() != nullptr && lifted.as_struct()->type.empty())
    return Value::structure(type, lifted.as_struct()->fields);
  return lifted;
}

// op JSONL: {"__type__": …} and {"__enum__": …, "name": …}
Value lift_marked(const std::string& type, const Value& value, LiftNotes& notes) {
  if (auto known = lift_by_dialect(Written::kMarked, type, value, notes)) return *std::move(known);
  const Fields& fields = *value.as_dict();
  if (const std::string* text = text_of(fields, "value"); text != nullptr && fields.size() == 2) {
    return type == "repr" ? lift_text(*text, notes) : lift_printed(type, *text, notes);
  }
  const Value* inner = find(fields, "fields");
  const Fields* members = inner != nullptr ? inner->as_dict() : nullptr;
  return Value::structure(std::string(last_part(type)),
                          lift_members(members != nullptr ? *members : fields, notes, {"__type__"}));
}

Value lift_dict(const Value& value, LiftNotes& notes) {
  const Fields& fields = *value.as_dict();
  if (const std::string* type = text_of(fields, "__type__")) return lift_marked(*type, value, notes);
  if (const std::string* type = text_of(fields, "__enum__")) {
    if (const std::string* name = text_of(fields, "name")) return Value(Enum{std::string(last_part(*type)), *name});
  }
  if (const std::string* type = text_of(fields, "type")) {
    if (auto known = lift_by_dialect(Written::kTagged, *type, value, notes)) return *std::move(known);
    if (fields.size() == 2) {
      if (const std::string* text = text_of(fields, "repr")) return lift_printed(*type, *text, notes);
      if (const std::string* text = text_of(fields, "value")) return lift_printed(*type, *text, notes);
    }
    return Value::structure(*type, lift_members(fields, notes, {"type"}));
  }
  if (auto known = lift_by_dialect(Written::kPlain, "", value, notes)) return *std::move(known);
  if (fields.size() == 1 && is_type_word(fields.front().first))
    return lift_typed(fields.front().first, fields.front().second, notes);
  if (fields.size() == 1 && fields.front().first == "unsupported type" &&
      fields.front().second.as_string() != nullptr) {
    return Value::opaque("unsupported", *fields.front().second.as_string());
  }
  return Value::dict(lift_members(fields, notes, {}, false));
}

Value number_value(std::string_view token) {
  if (double special = 0; special_float(token, special)) return Value(special);
  if (token.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole = 0;
    const auto result = std::from_chars(token.data(), token.data() + token.size(), whole);
    if (result.ec == std::errc()) return Value(whole);
    return Value(BigInt{std::string(token)});
  }
  double real = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), real);
  if (result.ec == std::errc::result_out_of_range) real = std::strtod(std::string(token).c_str(), nullptr);
  return Value(real);
}

Value generic(const json::Node& node) {
  switch (node.kind) {
    case json::Kind::kNull:
      return Value();
    case json::Kind::kBool:
      return Value(node.is_true());
    case json::Kind::kNumber:
      return number_value(node.text);
    case json::Kind::kString:
      return Value(std::string(node.text));
    case json::Kind::kArray: {
      List items;
      items.reserve(node.count);
      for (const json::Node& item : node) items.push_back(generic(item));
      return Value(std::move(items));
    }
    case json::Kind::kObject: {
      Fields fields;
      fields.reserve(node.count);
      for (std::uint32_t i = 0; i < node.count; ++i)
        fields.emplace_back(std::string(node.fields[i].key), generic(node.fields[i].value));
      return Value::dict(std::move(fields));
    }
  }
  return Value();
}

using Arguments = std::vector<CallArgument>;

Value lift_unparsed_element(const json::Node& element, int& position, LiftNotes& notes) {
  const auto text = element.string_field("element_info");
  if (!text) {
    notes.unparsed_text("UnparsedElement without element_info");
    return Value::opaque("UnparsedElement", "");
  }
  auto parsed = parse_element_info(*text);
  if (!parsed) {
    notes.unparsed_text(*text);
    return Value::opaque("UnparsedElement", without_addresses(*text));
  }
  if (parsed->index >= 0) position = parsed->index;
  Value lifted = lift(std::move(parsed->value), notes);
  // A bare pointer is all the trace ever had: kept, and counted as what could not be recovered.
  if (const Opaque* opaque = lifted.as_opaque(); opaque != nullptr && opaque->text == "{ptr}")
    notes.unparsed_text(*text);
  return lifted;
}

Result<Arguments> lift_era1(const json::Node& arguments, LiftNotes& notes) {
  if (!arguments.is(json::Kind::kArray)) return fail(ErrorCode::kUnsupported, "the arguments are not an array");
  Arguments lifted;
  lifted.reserve(arguments.count);
  for (const json::Node& item : arguments) {
    CallArgument argument;
    argument.position = static_cast<int>(lifted.size());
    if (!item.is(json::Kind::kObject) || item.count != 1) {
      return fail(ErrorCode::kUnsupported, "an argument is not an object with one key such as {\"arg0\": …}");
    }
    const json::Field& field = item.fields[0];
    if (field.key == "UnparsedElement") {
      argument.value = lift_unparsed_element(field.value, argument.position, notes);
    } else {
      if (const int position = position_of_name(field.key); position >= 0)
        argument.position = position;
      else
        argument.name = field.key;
      argument.value =
          field.value.is(json::Kind::kString) ? lift_text(field.value.text, notes) : lift_json(field.value, notes);
    }
    lifted.push_back(std::move(argument));
  }
  return lifted;
}

Result<Arguments> lift_object(const json::Node& arguments, bool as_text, LiftNotes& notes) {
  if (!arguments.is(json::Kind::kObject)) return fail(ErrorCode::kUnsupported, "the arguments are not an object");
  Arguments lifted;
  lifted.reserve(arguments.count);
  for (const json::Field* field : json::sorted_fields(arguments)) {
    CallArgument argument;
    argument.position = position_of_name(field->key);
    if (as_text) argument.position = position_of_number(field->key);
    if (argument.position < 0) argument.name = field->key;
    argument.value = as_text && field->value.is(json::Kind::kString) ? lift_text(field->value.text, notes)
                                                                     : lift_json(field->value, notes);
    lifted.push_back(std::move(argument));
  }
  return lifted;
}

Result<Arguments> lift_op_jsonl(const json::Node& arguments, LiftNotes& notes) {
  const json::Node* inputs = arguments.find("inputs");
  const json::Node* kwargs = arguments.find("kwargs");
  if (inputs == nullptr || !inputs->is(json::Kind::kArray))
    return fail(ErrorCode::kUnsupported, "'inputs' is not an array");
  Arguments lifted;
  for (const json::Node& item : *inputs)
    lifted.push_back({static_cast<int>(lifted.size()), "", lift_json(item, notes)});
  if (kwargs != nullptr && !kwargs->is(json::Kind::kObject) && !kwargs->is(json::Kind::kNull))
    return fail(ErrorCode::kUnsupported, "'kwargs' is not an object");
  if (kwargs != nullptr && kwargs->is(json::Kind::kObject)) {
    for (const json::Field* field : json::sorted_fields(*kwargs)) {
      lifted.push_back({-1, std::string(field->key), lift_json(field->value, notes)});
    }
  }
  return lifted;
}

Result<Arguments> lift_graph(const json::Node& arguments, LiftNotes& notes) {
  if (!arguments.is(json::Kind::kArray)) return fail(ErrorCode::kUnsupported, "the arguments are not an array");
  Arguments lifted;
  for (const json::Node& item : arguments) {
    Value value = item.is(json::Kind::kString) ? lift_text(item.text, notes) : lift_json(item, notes);
    lifted.push_back({static_cast<int>(lifted.size()), "", std::move(value)});
  }
  return lifted;
}

Result<Arguments> lift_arguments(FormKind kind, const json::Node& arguments, LiftNotes& notes) {
  switch (kind) {
    case FormKind::kEra1:
      return lift_era1(arguments, notes);
    case FormKind::kEra2:
    case FormKind::kNative:
      return lift_object(arguments, false, notes);
    case FormKind::kOpJsonl:
      return lift_op_jsonl(arguments, notes);
    case FormKind::kGraph:
      return lift_graph(arguments, notes);
    case FormKind::kPythonIo:
      return lift_object(arguments, true, notes);
  }
  return fail(ErrorCode::kUnsupported, "a form of unknown kind");
}

Convention convention_of(FormKind kind) {
  return kind == FormKind::kEra1 || kind == FormKind::kGraph ? Convention::kCpp : Convention::kPython;
}

}  // namespace

void LiftNotes::unparsed_text(std::string_view text) {
  if (unparsed++ == 0) unparsed_example = text.substr(0, 200);
}

void LiftNotes::unknown_name(std::string_view what, std::string_view text) {
  if (unknown_names++ == 0) unknown_example = std::string(what) + " '" + std::string(text.substr(0, 80)) + "'";
}

std::string without_addresses(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(" at 0x", from)) != std::string_view::npos;) {
    std::size_t end = at + 6;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end]))) ++end;
    if (end == at + 6) end = at + 1;  // no digits: not an address, keep it
    out += text.substr(from, (end == at + 1 ? end : at) - from);
    from = end;
  }
  out += text.substr(from);
  return out;
}

Value lift(Value value, LiftNotes& notes) {
  if (value.as_dict() != nullptr) return lift_dict(value, notes);
  if (const Struct* s = value.as_struct()) return lift_typed(s->type, value, notes);
  if (const List* list = value.as_list()) {
    if (std::all_of(list->begin(), list->end(), [](const Value& item) { return item.as_int() != nullptr; }))
      return value;
    List items;
    items.reserve(list->size());
    for (const Value& item : *list) items.push_back(lift(item, notes));
    return Value(std::move(items));
  }
  if (const std::string* text = value.as_string()) {
    if (double special = 0; special_float(*text, special)) return Value(special);
    if (text->find(" at 0x") != std::string::npos) return Value(without_addresses(*text));
  }
  if (const Opaque* opaque = value.as_opaque()) {
    if (opaque->text == "{...}") return Value::opaque(opaque->type, "...");  // one spelling of "nothing shown"
    if (opaque->text.find(" at 0x") != std::string::npos)
      return Value::opaque(opaque->type, without_addresses(opaque->text));
  }
  return value;
}

MemoryConfig read_memory(const Fields& fields, LiftNotes& notes) {
  NotingLifter lifter(notes);
  return opwright::read_memory(fields, lifter);
}

Value lift_json(const json::Node& node, LiftNotes& notes) { return lift(generic(node), notes); }

Value lift_text(std::string_view text, LiftNotes& notes) {
  auto parsed = parse_reflection(trimmed(text));
  if (!parsed) {
    notes.unparsed_text(text);
    return Value::opaque("text", without_addresses(text));
  }
  return lift(*std::move(parsed), notes);
}

Result<Call> lift_call(FormKind kind, std::string_view op, const json::Node& arguments, LiftNotes& notes) {
  Call call;
  call.op = op;
  call.convention = convention_of(kind);
  notes.dialect = &dialect_of(op);
  OPWRIGHT_TRY_ASSIGN(call.arguments, lift_arguments(kind, arguments, notes));
  return call;
}

}  // namespace opwright::format
