#include "perf/signature_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "perf/attributes.h"

namespace opwright::perf {
namespace {

// A field of an operation and its value; in the order in which they are shown.
using Fields = std::vector<std::pair<std::string, std::string>>;

bool says_nothing(const RowTensor& tensor) {
  return tensor.layout.empty() && tensor.dtype.empty() && tensor.memory.empty();
}

void add_tensors(std::string_view side, const std::vector<RowTensor>& tensors, Fields& out) {
  std::size_t count = tensors.size();
  while (count > 0 && says_nothing(tensors[count - 1])) --count;
  for (std::size_t i = 0; i < count; ++i) {
    const RowTensor& tensor = tensors[i];
    const std::string name = fmt::format("{} {}", side, i);
    out.emplace_back(name + " logical", extents_text(tensor.logical));
    out.emplace_back(name + " padded", extents_text(tensor.padded));
    out.emplace_back(name + " layout", tensor.layout);
    out.emplace_back(name + " dtype", tensor.dtype);
    out.emplace_back(name + " memory", tensor.memory);
  }
}

Fields fields_of(const Signature& signature) {
  Fields out{{"op", signature.name}, {"fidelity", std::string(signature.parts.fidelity)}};
  const auto attributes = attributes_of(signature.parts.attributes);
  if (attributes.empty() && !signature.parts.attributes.empty() && signature.parts.attributes != "{}")
    out.emplace_back("attributes", signature.parts.attributes);  // no dict: compared as it is
  const std::map<std::string_view, std::string_view> sorted(attributes.begin(), attributes.end());
  for (const auto& [name, value] : sorted) out.emplace_back(fmt::format("attributes.{}", name), value);
  add_tensors("input", signature.parts.inputs, out);
  add_tensors("output", signature.parts.outputs, out);
  return out;
}

// "input 0 logical" -> "input 0"; "" of other fields.
std::string_view tensor_of(std::string_view field) {
  if (!field.starts_with("input ") && !field.starts_with("output ")) return {};
  return field.substr(0, field.rfind(' '));
}

bool has_tensor(const Fields& fields, std::string_view tensor) {
  return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return tensor_of(field.first) == tensor; });
}

std::string tensor_text(const Fields& fields, std::string_view tensor) {
  std::string text;
  for (const auto& [name, value] : fields)
    if (tensor_of(name) == tensor && !name.ends_with(" padded")) text += (text.empty() ? "" : " ") + value;
  return text;
}

std::optional<std::string> value_in(const Fields& fields, std::string_view name) {
  for (const auto& [field, value] : fields)
    if (field == name) return value;
  return std::nullopt;
}

}  // namespace

std::string extents_text(const std::array<std::int64_t, 4>& extents) {
  return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]);
}

bool is_ignored(std::string_view field, const std::vector<std::string>& ignored) {
  return std::any_of(ignored.begin(), ignored.end(), [&](const std::string& name) {
    return field.starts_with(name) &&
           (field.size() == name.size() || field[name.size()] == '.' || field[name.size()] == ' ');
  });
}

std::vector<FieldDifference> differences(const Signature& a, const Signature& b) {
  const Fields left = fields_of(a), right = fields_of(b);
  std::vector<FieldDifference> out;
  std::string_view whole;  // a tensor that only one side has is one difference, not five
  const auto missing = [&](std::string_view field, const Fields& there, const Fields& other, bool in_a) {
    const std::string_view tensor = tensor_of(field);
    if (tensor.empty() || has_tensor(other, tensor)) return false;
    if (tensor != whole) {
      const std::string text = tensor_text(there, tensor);
      out.push_back({std::string(tensor), in_a ? text : "", in_a ? "" : text});
    }
    whole = tensor;
    return true;
  };
  for (const auto& [field, value] : left) {
    if (missing(field, left, right, true)) continue;
    const auto other = value_in(right, field);
    if (!other || *other != value) out.push_back({field, value, other.value_or("")});
  }
  whole = {};
  for (const auto& [field, value] : right) {
    if (missing(field, right, left, false)) continue;
    if (!value_in(left, field)) out.push_back({field, "", value});
  }
  return out;
}

std::string comparable_text(const Signature& signature, const std::vector<std::string>& ignored) {
  std::string text;
  for (const auto& [field, value] : fields_of(signature)) {
    if (is_ignored(field, ignored)) continue;
    text.append(field).append(1, '\x1f').append(value).append(1, '\x1e');
  }
  return text;
}

}  // namespace opwright::perf
