#include "exec/output_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/value.h"

namespace opwright {
namespace {

std::string memory_text(const TensorSpec& spec) {
  if (!spec.memory || spec.storage.value == StorageType::kHost) return "none";
  MemoryConfig config = *spec.memory;
  if (config.shard) config.nd_shard.reset();  // the same thing said twice
  if (config.shard) config.shard->distribution.clear();
  return to_text(config);
}

// What the library lays out for itself it pads as it likes.
bool not_promised(const FieldTexts& field, const OutputSpec& first, const OutputSpec& second) {
  return field.name == "padded_shape" && (has_own_form(first) || has_own_form(second));
}

// Era-1 traces do not say where a tensor lies, and a tensor written in place lies where it lay: no contradiction.
bool unsaid(const FieldTexts& field) {
  const std::string_view absent = name_of(StorageType::kAbsent);
  return field.name == "storage" && (field.first == absent || field.second == absent);
}

}  // namespace

bool has_own_form(const OutputSpec& output) {
  return std::ranges::any_of(output.spec.more, [](const auto& field) { return field.first == "own_form"; });
}

std::vector<FieldTexts> output_fields(const OutputSpec& first, const OutputSpec& second) {
  return {{"shape", to_text(first.spec.shape), to_text(second.spec.shape)},
          {"padded_shape", to_text(first.padded), to_text(second.padded)},
          {"dtype", std::string(first.spec.dtype.name()), std::string(second.spec.dtype.name())},
          {"layout", std::string(first.spec.layout.name()), std::string(second.spec.layout.name())},
          {"storage", std::string(first.spec.storage.name()), std::string(second.spec.storage.name())},
          {"memory", memory_text(first.spec), memory_text(second.spec)}};
}

std::vector<std::string> output_differences(const std::vector<OutputSpec>& first, const std::vector<OutputSpec>& second,
                                            std::string_view first_name, std::string_view second_name) {
  std::vector<std::string> out;
  if (first.size() != second.size())
    out.push_back(fmt::format("outputs: {} {}, {} {}", first_name, first.size(), second_name, second.size()));
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    for (const FieldTexts& field : output_fields(first[i], second[i]))
      if (field.first != field.second && !unsaid(field) && !not_promised(field, first[i], second[i]))
        out.push_back(fmt::format("output {} {}: {} {}, {} {}", i, field.name, first_name, field.first, second_name,
                                  field.second));
  return out;
}

}  // namespace opwright
