#include "model/bound_call.h"

#include <fmt/format.h>

#include <cmath>

#include "model/value_number.h"

namespace opwright {
namespace {

std::optional<std::int64_t> integer_of(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return *i;
  if (value.as_float() != nullptr) return std::nullopt;
  const auto number = number_of(value);
  if (!number || std::abs(*number) > 9e15 || *number != std::trunc(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

// The members of anything that is a row of integers: list, tuple, `Shape([…])`, `SmallVector`, CoreCoord.
const List* list_in(const Value& value) {
  if (const List* list = value.as_list()) return list;
  if (const Struct* s = value.as_struct(); s != nullptr && s->fields.size() == 1) return list_in(s->fields[0].second);
  return nullptr;
}

std::string_view word_in(const Value& value) {
  if (const Enum* e = value.as_enum()) return e->name;
  if (const std::string* text = value.as_string()) return *text;
  return {};
}

std::string kind_of(const Value& value) {
  if (value.as_tensor() != nullptr) return "tensor";
  if (value.as_memory() != nullptr) return "MemoryConfig";
  if (value.as_list() != nullptr) return "list";
  if (const Struct* s = value.as_struct()) return s->type;
  std::string text = to_text(value);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace

tl::unexpected<Refusal> type_error(std::string_view op, std::string_view param, const Value& value) {
  return refuse(fmt::format("{}(): incompatible function arguments: {} cannot be {}", op, param, kind_of(value)),
                std::string(param));
}

BoundCall::BoundCall(std::string name, Convention how, std::vector<Argument> arguments)
    : op(std::move(name)), convention(how) {
  for (Argument& argument : arguments) set(argument.name, std::move(argument.value));
}

const Value* BoundCall::find(std::string_view param) const {
  for (const Argument& argument : args)
    if (argument.name == param) return &argument.value;
  return nullptr;
}

bool BoundCall::passed(std::string_view param) const {
  const Value* value = find(param);
  return value != nullptr && !value->is_null();
}

void BoundCall::set(std::string_view param, Value value) {
  Argument* at = nullptr;
  for (Argument& argument : args)
    if (argument.name == param) at = &argument;
  if (at == nullptr) at = &args.emplace_back(Argument{std::string(param), Value()});
  at->value = std::move(value);
  tensors.clear();
  for (const Argument& argument : args) {
    std::size_t item = 0;
    for_each_tensor(argument.value, [&](const TensorSpec& spec) { tensors.push_back({argument.name, item++, spec}); });
  }
}

void BoundCall::erase(std::string_view param) {
  std::erase_if(args, [&](const Argument& argument) { return argument.name == param; });
  std::erase_if(tensors, [&](const TensorSlot& slot) { return slot.param == param; });
}

const TensorSpec* BoundCall::tensor(std::string_view param) const {
  const Value* value = find(param);
  return value == nullptr ? nullptr : value->as_tensor();
}

std::vector<const TensorSpec*> BoundCall::tensor_list(std::string_view param) const {
  std::vector<const TensorSpec*> out;
  if (const Value* value = find(param)) for_each_tensor(*value, [&](const TensorSpec& spec) { out.push_back(&spec); });
  return out;
}

const MemoryConfig* BoundCall::memory(std::string_view param) const {
  const Value* value = find(param);
  return value == nullptr ? nullptr : value->as_memory();
}

std::optional<std::size_t> BoundCall::slot(std::string_view param, std::size_t item) const {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].param == param && tensors[i].item == item) return i;
  return std::nullopt;
}

Checked<std::optional<std::int64_t>> BoundCall::integer(std::string_view param) const {
  if (!passed(param)) return std::nullopt;
  const auto read = integer_of(*find(param));
  if (!read) return type_error(op, param, *find(param));
  return *read;
}

Checked<std::int64_t> BoundCall::integer(std::string_view param, std::int64_t otherwise) const {
  OPWRIGHT_CHECK_ASSIGN(const auto read, integer(param));
  return read.value_or(otherwise);
}

Checked<double> BoundCall::number(std::string_view param, double otherwise) const {
  if (!passed(param)) return otherwise;
  const auto read = number_of(*find(param));
  if (!read) return type_error(op, param, *find(param));
  return *read;
}

Checked<bool> BoundCall::flag(std::string_view param, bool otherwise) const {
  if (!passed(param)) return otherwise;
  const Value& value = *find(param);
  if (const bool* b = value.as_bool()) return *b;
  if (convention == Convention::kCpp)
    if (const auto i = integer_of(value); i && (*i == 0 || *i == 1)) return *i == 1;
  const std::string_view word = word_in(value);
  if (word == "True" || word == "true") return true;
  if (word == "False" || word == "false") return false;
  return type_error(op, param, value);
}

Checked<DType> BoundCall::dtype(std::string_view param, DType otherwise) const {
  if (!passed(param)) return otherwise;
  const Spelled<DType> read = parse_dtype(word_in(*find(param)));
  if (read.value == DType::kAbsent) return type_error(op, param, *find(param));
  if (!computed(read.value)) return unsupported(std::string(param), fmt::format("dtype {}", read.name()));
  return read.value;
}

Checked<Layout> BoundCall::layout(std::string_view param, Layout otherwise) const {
  if (!passed(param)) return otherwise;
  const Spelled<Layout> read = parse_layout(word_in(*find(param)));
  if (read.value == Layout::kAbsent) return type_error(op, param, *find(param));
  if (read.value == Layout::kUnknown) return unsupported(std::string(param), fmt::format("layout {}", read.unknown));
  return read.value;
}

Checked<std::string> BoundCall::text(std::string_view param, std::string_view otherwise) const {
  if (!passed(param)) return std::string(otherwise);
  const Value& value = *find(param);
  if (value.as_string() == nullptr && value.as_enum() == nullptr) return type_error(op, param, value);
  return std::string(word_in(value));
}

Checked<std::optional<Shape>> BoundCall::ints(std::string_view param) const {
  if (!passed(param)) return std::nullopt;
  const Value& value = *find(param);
  if (const auto one = integer_of(value)) return Shape{*one};
  const List* list = list_in(value);
  if (list == nullptr) return type_error(op, param, value);
  Shape out;
  for (const Value& item : *list) {
    const auto read = integer_of(item);
    if (!read && item.as_opaque() != nullptr)
      return lost(std::string(param), fmt::format("the trace lost the members of {}", param));
    if (!read) return type_error(op, param, value);
    out.push_back(*read);
  }
  return out;
}

}  // namespace opwright
