#include "shrink/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "exec/call_facts.h"
#include "model/value_parse.h"

namespace opwright::shrink {
namespace {

using Change = std::function<std::optional<Value>(const Value&)>;
using Steps = std::span<const std::string>;

std::optional<Value> changed_in(const Value& value, Steps steps, const Change& change);

std::optional<Fields> changed_in(const Fields& fields, Steps steps, const Change& change) {
  Fields out = fields;
  for (auto& [name, item] : out) {
    if (name != steps.front()) continue;
    auto made = changed_in(item, steps.subspan(1), change);
    if (!made) return std::nullopt;
    item = *std::move(made);
    return out;
  }
  return std::nullopt;
}

std::optional<Value> changed_in(const Value& value, Steps steps, const Change& change) {
  if (steps.empty()) return change(value);
  if (const List* list = value.as_list()) {
    List out = *list;
    const auto at = number_of(std::string_view(steps.front()).substr(1));
    if (!at || *at >= static_cast<double>(out.size())) return std::nullopt;
    Value& item = out[static_cast<std::size_t>(*at)];
    auto made = changed_in(item, steps.subspan(1), change);
    if (!made) return std::nullopt;
    item = *std::move(made);
    return Value(std::move(out));
  }
  if (const Struct* structure = value.as_struct()) {
    auto fields = changed_in(structure->fields, steps, change);
    if (!fields) return std::nullopt;
    return Value::structure(structure->type, *std::move(fields));
  }
  if (const Fields* dict = value.as_dict()) {
    auto fields = changed_in(*dict, steps, change);
    if (!fields) return std::nullopt;
    return Value::dict(*std::move(fields));
  }
  return std::nullopt;
}

std::optional<OpConfig> changed(const OpConfig& config, Steps steps, const Change& change) {
  OpConfig out = config;
  const auto argument = std::ranges::find(out.args, steps.front(), &Argument::name);
  if (argument == out.args.end()) return std::nullopt;
  auto made = changed_in(argument->value, steps.subspan(1), change);
  if (!made) return std::nullopt;
  argument->value = *std::move(made);
  return out;
}

bool set_axis(Shape& shape, std::int64_t axis, std::int64_t value) {
  const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis;
  if (at < 0 || at >= static_cast<std::int64_t>(shape.size())) return false;
  shape[static_cast<std::size_t>(at)] = value;
  return true;
}

bool set_rank(Shape& shape, std::size_t rank) {
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  while (shape.size() < rank) shape.insert(shape.begin(), 1);
  return shape.size() == rank;
}

template <class E>
bool set_name(Spelled<E>& place, Spelled<E> parsed) {
  if (!parsed.present() || parsed.value == E::kUnknown) return false;
  place = std::move(parsed);
  return true;
}

bool set_memory(TensorSpec& spec, std::string_view text) {
  const auto value = parse_value(text);
  const MemoryConfig* memory = value ? value->as_memory() : nullptr;
  if (memory == nullptr) return false;
  spec.memory = *memory;
  return true;
}

bool set_tile(TensorSpec& spec, std::string_view text) {
  const std::size_t by = text.find('x');
  if (by == std::string_view::npos) return false;
  const auto height = number_of(text.substr(0, by)), width = number_of(text.substr(by + 1));
  if (!height || !width || *height < 1 || *width < 1) return false;
  spec.tile = Shape{static_cast<std::int64_t>(*height), static_cast<std::int64_t>(*width)};
  if (*spec.tile == Shape{32, 32}) spec.tile.reset();  // which needs no word
  return true;
}

bool set_orientation(TensorSpec& spec, std::string_view text) {
  if (!spec.memory || !spec.memory->shard) return false;
  return set_name(spec.memory->shard->orientation, parse_orientation(text));
}

// The tensor of one device: what it holds there is its shape.
bool take_placement(TensorSpec& spec, std::string_view text) {
  if (text != "none" || !spec.placement) return false;
  spec.placement.reset();
  if (spec.device_shape) spec.shape = *std::move(spec.device_shape);
  spec.device_shape.reset();
  return true;
}

bool set_in_tensor(TensorSpec& spec, const FactName& name, std::string_view value) {
  const auto number = number_of(value);
  if (name.axis) {
    if (!number) return false;
    const auto whole = static_cast<std::int64_t>(*number);
    if (spec.device_shape && *spec.device_shape == spec.shape && !set_axis(*spec.device_shape, *name.axis, whole))
      return false;
    return set_axis(spec.shape, *name.axis, whole);
  }
  if (name.fact == "rank") {
    if (!number || (spec.device_shape && !set_rank(*spec.device_shape, static_cast<std::size_t>(*number))))
      return false;
    return set_rank(spec.shape, static_cast<std::size_t>(*number));
  }
  if (name.fact == "dtype") return set_name(spec.dtype, parse_dtype(value));
  if (name.fact == "layout") return set_name(spec.layout, parse_layout(value));
  if (name.fact == "memory") return set_memory(spec, value);
  if (name.fact == "tile") return set_tile(spec, value);
  if (name.fact == "orientation") return set_orientation(spec, value);
  if (name.fact == "placement") return take_placement(spec, value);
  return false;
}

void visit_values(const std::string& name, const Value& value,
                  const std::function<void(const std::string&, const Value&)>& visit) {
  visit(name, value);
  if (const List* list = value.as_list())
    for (std::size_t i = 0; i < list->size(); ++i) visit_values(fmt::format("{}#{}", name, i), (*list)[i], visit);
  const Struct* structure = value.as_struct();
  if (const Fields* fields = structure != nullptr ? &structure->fields : value.as_dict())
    for (const auto& [field, item] : *fields)
      if (!field.empty()) visit_values(name + '.' + field, item, visit);
}

}  // namespace

std::optional<OpConfig> with(const OpConfig& config, std::string_view fact, std::string_view value) {
  const auto name = find_fact(config.args, fact);
  if (!name) return std::nullopt;
  return changed(config, name->steps, [&](const Value& old) -> std::optional<Value> {
    if (const TensorSpec* tensor = old.as_tensor(); tensor != nullptr && (name->axis || !name->fact.empty())) {
      TensorSpec spec = *tensor;
      if (!set_in_tensor(spec, *name, value)) return std::nullopt;
      return Value::tensor(std::move(spec));
    }
    if (name->axis || !name->fact.empty()) return std::nullopt;
    auto parsed = parse_value(value);
    if (!parsed) return std::nullopt;
    return *std::move(parsed);
  });
}

std::optional<OpConfig> without(const OpConfig& config, std::string_view fact) {
  const auto name = find_fact(config.args, fact);
  if (!name || name->axis || !name->fact.empty() || value_at(config.args, name->steps) == nullptr) return std::nullopt;
  if (name->steps.size() == 1) {
    OpConfig out = config;
    std::erase_if(out.args, [&](const Argument& argument) { return argument.name == name->steps.front(); });
    return out;
  }
  const Steps around = std::span(name->steps).first(name->steps.size() - 1);
  return changed(config, around, [&](const Value& old) -> std::optional<Value> {
    if (const List* list = old.as_list()) {
      List out = *list;
      const auto at = number_of(std::string_view(name->steps.back()).substr(1));
      if (!at || *at >= static_cast<double>(out.size())) return std::nullopt;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(*at));
      return Value(std::move(out));
    }
    const Struct* structure = old.as_struct();
    if (structure == nullptr) return std::nullopt;
    Fields fields = structure->fields;
    std::erase_if(fields, [&](const auto& field) { return field.first == name->steps.back(); });
    return Value::structure(structure->type, std::move(fields));
  });
}

void for_each_value_fact(const OpConfig& config, const std::function<void(const std::string&, const Value&)>& visit) {
  for (const Argument& argument : config.args) visit_values(argument.name, argument.value, visit);
}

void for_each_tensor_fact(const OpConfig& config,
                          const std::function<void(const std::string&, const TensorSpec&)>& visit) {
  for_each_value_fact(config, [&](const std::string& name, const Value& value) {
    if (const TensorSpec* spec = value.as_tensor()) visit(name, *spec);
  });
}

}  // namespace opwright::shrink
