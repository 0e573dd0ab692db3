// What the lift rules of a dialect ask of whoever lifts (format/): the meaning of a part, how numbers and texts inside
// texts are read, and a place to say what was not understood.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "model/value.h"

namespace opwright {

// How a trace wrote a thing down: it says which of its words are the type and which the members.
enum class Written : std::uint8_t {
  kTyped,   // Type(a=1) of C++, {"Type": {…}}
  kTagged,  // {"type": "Type", …} of Python tracers
  kMarked,  // {"__type__": "Type", …} of op JSONL
  kPlain,   // {…}: its members have to say what it is
};

class Lifter {
 public:
  virtual Value lift(Value value) = 0;
  virtual Fields lift_members(const Fields& fields, std::initializer_list<std::string_view> without) = 0;
  // What an object of this type printed of itself.
  virtual Value lift_printed(const std::string& type, const std::string& text) = 0;
  // A text that holds the text of a value again ("{224, 32}", "ShardSpec{…}") as what it says; else the value itself.
  virtual Value opened(const Value& value) = 0;
  virtual Spelled<DType> dtype(std::string_view text) = 0;  // as the dialect of the call spells it
  virtual std::string without_addresses(std::string_view text) = 0;
  virtual void unparsed_text(std::string_view text) = 0;
  virtual void unknown_name(std::string_view what, std::string_view text) = 0;

 protected:
  ~Lifter() = default;
};

// Small questions to values as a trace has them.
namespace lifting {

const Value* find(const Fields& fields, std::string_view name);           // the last one of that name, or null
const std::string* text_of(const Fields& fields, std::string_view name);  // of a field that is a text, or null
const Fields* members(const Value& value);                                // of a struct or dict, or null
std::string_view name_text(const Value& value);  // of an enum or string, as the trace spells it; "" for other kinds
bool is_nothing(const Value& value);             // none, or a text that says it
std::optional<Shape> read_shape(const Value& value, Lifter& lifter);  // [1, 2], "[1, 2]", "{1, 2}", Shape([1, 2])
Value numbers(const Shape& shape);

// A name of a closed set, in whatever kind of value the trace has it; one outside the set is told.
template <class Parse>
auto read_name(const Value& value, Parse parse, std::string_view what, Lifter& lifter) -> decltype(parse("")) {
  using Name = decltype(parse(""));
  if (is_nothing(value)) return {};
  std::string number;
  std::string_view text = name_text(value);
  if (const std::int64_t* i = value.as_int()) {
    number = std::to_string(*i);
    text = number;
  }
  if (text.empty()) {
    const std::string all = to_text(value);
    lifter.unknown_name(what, all);
    return {decltype(Name::value)::kUnknown, all};
  }
  Name name = parse(text);
  if (name.value == decltype(Name::value)::kUnknown) lifter.unknown_name(what, text);
  return name;
}

}  // namespace lifting
}  // namespace opwright
