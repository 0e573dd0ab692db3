#include "format/per_op/convert.h"

#include "model/position_name.h"

namespace opwright::format {

using json::Kind;
using json::Node;

std::string convert_record(const Node& record, ArgumentTree& tree, CallArguments& converted) {
  const Node* args = record.find("args");
  const Node* kwargs = record.find("kwargs");
  if (args == nullptr || !args->is(Kind::kArray)) return "'args' is not an array";
  if (kwargs != nullptr && !kwargs->is(Kind::kObject) && !kwargs->is(Kind::kNull)) return "'kwargs' is not an object";
  tree.begin_call(record.string_field("operation_name").value_or(""));
  for (std::uint32_t i = 0; i < args->count; ++i) {
    const Node* value = args->items[i].find("value");
    const Node* position = args->items[i].find("position");
    if (value == nullptr) return "an entry of 'args' has no value";
    tree.add(position != nullptr ? position_name(position->text) : position_name(i), tree.copy(*value));
  }
  for (std::uint32_t i = 0; kwargs != nullptr && kwargs->is(Kind::kObject) && i < kwargs->count; ++i) {
    const json::Field& field = kwargs->fields[i];
    if (!tree.is_left_out(field.key)) tree.add(std::string(field.key), tree.copy(field.value));
  }
  return tree.end_call(converted);
}

}  // namespace opwright::format
