#include "exec/call_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/tensor_facts.h"

namespace opwright {
namespace {

constexpr std::array<std::string_view, 9> kTensorFacts{"rank",  "dtype", "layout",      "memory",   "buffer",
                                                       "cores", "tile",  "orientation", "placement"};

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const Value* field_of(const Value& value, std::string_view step) {
  if (step.starts_with('#')) {
    const List* list = value.as_list();
    const auto at = whole_number<std::size_t>(step.substr(1));
    return list == nullptr || !at || *at >= list->size() ? nullptr : &(*list)[*at];
  }
  const Struct* structure = value.as_struct();
  const Fields* fields = structure != nullptr ? &structure->fields : value.as_dict();
  if (fields == nullptr) return nullptr;
  const auto found = std::ranges::find(*fields, step, [](const auto& field) { return std::string_view(field.first); });
  return found == fields->end() ? nullptr : &found->second;
}

// "a.b#1" -> a, b, #1
std::vector<std::string> steps_of(std::string_view text) {
  std::vector<std::string> steps;
  std::string step;
  for (const char c : text) {
    if ((c == '.' || c == '#') && !step.empty()) steps.push_back(std::exchange(step, ""));
    if (c != '.') step += c;
  }
  if (!step.empty()) steps.push_back(step);
  return steps;
}

std::string joined(std::span<const std::string> words, char between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string tile_fact(const TensorSpec& spec) {
  if (!spec.tile) return "32x32";
  std::vector<std::string> sides;
  for (const std::int64_t side : *spec.tile) sides.push_back(std::to_string(side));
  return joined(sides, 'x');
}

std::string tensor_fact(const TensorSpec& spec, std::string_view fact) {
  if (fact == "tile") return tile_fact(spec);
  if (fact == "placement") return spec.placement ? joined(spec.placement->dims, ',') : "none";
  const MemoryConfig memory = memory_of(spec);
  if (fact == "rank") return std::to_string(spec.shape.size());
  if (fact == "dtype") return std::string(spec.dtype.name());
  if (fact == "layout") return std::string(spec.layout.name());
  if (fact == "memory") return std::string(memory.layout.name());
  if (fact == "buffer") return std::string(memory.buffer.name());
  if (fact == "orientation") return memory.shard ? std::string(memory.shard->orientation.name()) : "none";
  return std::to_string(memory.shard ? cores_of(memory.shard->grid) : 1);
}

}  // namespace

std::int64_t cores_of(const std::vector<CoreRange>& grid) {
  std::int64_t cores = 0;
  for (const CoreRange& range : grid) cores += (range.end.x - range.start.x + 1) * (range.end.y - range.start.y + 1);
  return cores;
}

const Value* value_at(std::span<const Argument> args, std::span<const std::string> steps) {
  if (steps.empty()) return nullptr;
  const auto argument = std::ranges::find(args, steps.front(), &Argument::name);
  const Value* value = argument == args.end() ? nullptr : &argument->value;
  for (const std::string& step : steps.subspan(1)) value = value == nullptr ? nullptr : field_of(*value, step);
  return value;
}

std::optional<FactName> find_fact(std::span<const Argument> args, std::string_view name) {
  FactName out;
  if (name.ends_with(']')) {
    const std::size_t open = name.rfind('[');
    if (open == std::string_view::npos) return std::nullopt;
    out.axis = whole_number<std::int64_t>(name.substr(open + 1, name.size() - open - 2));
    if (!out.axis) return std::nullopt;
    name = name.substr(0, open);
  }
  out.steps = steps_of(name);
  if (out.steps.empty()) return std::nullopt;
  if (out.axis || out.steps.size() < 2 || value_at(args, out.steps) != nullptr) return out;
  if (std::ranges::find(kTensorFacts, out.steps.back()) == kTensorFacts.end()) return out;
  const Value* value = value_at(args, std::span(out.steps).first(out.steps.size() - 1));
  if (value == nullptr || value->as_tensor() == nullptr) return out;
  out.fact = out.steps.back();
  out.steps.pop_back();
  return out;
}

std::optional<std::string> fact_of(std::span<const Argument> args, std::string_view name) {
  const auto found = find_fact(args, name);
  const Value* value = found ? value_at(args, found->steps) : nullptr;
  if (value == nullptr) return std::nullopt;
  const TensorSpec* spec = value->as_tensor();
  if (found->axis) {
    if (spec == nullptr) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(spec->shape.size());
    const std::int64_t at = *found->axis < 0 ? *found->axis + rank : *found->axis;
    // A tensor without the dimension has one of it.
    if (at < 0) return "1";
    if (at >= rank) return std::nullopt;
    return std::to_string(spec->shape[static_cast<std::size_t>(at)]);
  }
  if (spec != nullptr && !found->fact.empty()) return tensor_fact(*spec, found->fact);
  return to_text(*value);
}

std::optional<double> number_of(std::string_view text) { return whole_number<double>(text); }

}  // namespace opwright
