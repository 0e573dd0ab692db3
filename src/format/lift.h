// From what a trace wrote to what it means: JSON or reflection text becomes typed Values (tensors, memory configs,
// enums, structs). One place for every spelling of every dialect; nothing is guessed, what is not understood stays as
// text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/observed.h"
#include "model/value.h"

namespace opwright::format {

// What lifting could not fully understand; counted by the importer.
struct LiftNotes {
  std::size_t unparsed = 0;  // texts that no grammar reads, kept as opaque values
  std::string unparsed_example;
  std::size_t unknown_names = 0;  // dtypes, layouts, … outside the known sets, kept as their text
  std::string unknown_example;
  std::size_t duplicate_keys = 0;  // keys that stood twice in one object

  void unparsed_text(std::string_view text);
  void unknown_name(std::string_view what, std::string_view text);
};

// One argument as the form names it: position for unnamed ones (name empty), else -1.
struct LiftedArgument {
  int position = -1;
  std::string name;
  Value value;
};

// The arguments of a form; fails when the JSON is not of the form's shape.
Result<std::vector<LiftedArgument>> lift_arguments(FormKind kind, const json::Node& arguments, LiftNotes& notes);

// Gives meaning to a generic value (of parse_reflection or of JSON).
Value lift(Value value, LiftNotes& notes);
Value lift_json(const json::Node& node, LiftNotes& notes);
// Text of an argument outside JSON: parsed as reflection text and lifted; opaque when it does not parse.
Value lift_text(std::string_view text, LiftNotes& notes);

// Removes ` at 0x7f…` wherever it stands: addresses never say anything about a configuration.
std::string without_addresses(std::string_view text);

}  // namespace opwright::format
