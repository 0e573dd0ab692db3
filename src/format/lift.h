// From what a trace wrote to what it means: JSON or reflection text becomes typed Values (tensors, memory configs,
// enums, structs). One place for every spelling; nothing is guessed, what is not understood stays as
// text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "model/call.h"
#include "model/observed.h"
#include "model/value.h"

namespace opwright {
struct Dialect;
}

namespace opwright::format {

// What lifting could not fully understand; counted by the importer.
struct LiftNotes {
  std::size_t unparsed = 0;  // texts that no grammar reads, kept as opaque values
  std::string unparsed_example;
  std::size_t unknown_names = 0;  // dtypes, layouts, … outside the known sets, kept as their text
  std::string unknown_example;
  std::size_t duplicate_keys = 0;    // keys that stood twice in one object
  const Dialect* dialect = nullptr;  // of the call that is being lifted; null: of none

  void unparsed_text(std::string_view text);
  void unknown_name(std::string_view what, std::string_view text);
};

// What a reader gives, understood: the arguments of a form of that kind, as JSON. The one way to a Call, which has
// operation, convention and arguments; fails when the JSON is not of the form's shape.
Result<Call> lift_call(FormKind kind, std::string_view op, const json::Node& arguments, LiftNotes& notes);

// Gives meaning to a generic value (of parse_reflection or of JSON).
Value lift(Value value, LiftNotes& notes);
Value lift_json(const json::Node& node, LiftNotes& notes);
// Text of an argument outside JSON: parsed as reflection text and lifted; opaque when it does not parse.
Value lift_text(std::string_view text, LiftNotes& notes);

// A memory config without a call around it: fields of a dict or struct, whatever the trace called the container.
MemoryConfig read_memory(const Fields& fields, LiftNotes& notes);

// Removes ` at 0x7f…` wherever it stands: addresses never say anything about a configuration.
std::string without_addresses(std::string_view text);

}  // namespace opwright::format
