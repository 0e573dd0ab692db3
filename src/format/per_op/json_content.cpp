// Nested lists of a per-op file as the bytes of a tensor.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "format/per_op/json_values.h"

namespace opwright::format {
namespace {

using json::Kind;
using json::Node;

template <class T>
bool append_integer(const Node& node, std::string& bytes) {
  T value{};
  const auto read = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  if (!node.is_integer() || read.ec != std::errc() || read.ptr != node.text.data() + node.text.size()) return false;
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return true;
}

// False unless the number is written back as the same text.
template <class T>
bool append_real(const Node& node, std::string& bytes) {
  if (!node.is(Kind::kNumber) || node.is_integer()) return false;
  double value = 0;
  if (node.text == "NaN") {
    value = std::nan("");
  } else if (node.text == "Infinity" || node.text == "-Infinity") {
    value = node.text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  } else if (std::from_chars(node.text.data(), node.text.data() + node.text.size(), value).ec != std::errc()) {
    return false;
  }
  const T narrow = static_cast<T>(value);
  if (static_cast<double>(narrow) != value && !std::isnan(value)) return false;
  bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  return true;
}

bool append_element(std::string_view dtype, const Node& node, std::string& bytes) {
  if (dtype == "float32") return append_real<float>(node, bytes);
  if (dtype == "float64") return append_real<double>(node, bytes);
  if (dtype == "int8") return append_integer<std::int8_t>(node, bytes);
  if (dtype == "int16") return append_integer<std::int16_t>(node, bytes);
  if (dtype == "int32") return append_integer<std::int32_t>(node, bytes);
  if (dtype == "int64") return append_integer<std::int64_t>(node, bytes);
  if (dtype == "uint8") return append_integer<std::uint8_t>(node, bytes);
  if (dtype == "uint16") return append_integer<std::uint16_t>(node, bytes);
  if (dtype == "uint32") return append_integer<std::uint32_t>(node, bytes);
  if (dtype != "bool" || !node.is(Kind::kBool)) return false;
  bytes += static_cast<char>(node.is_true() ? 1 : 0);
  return true;
}

bool append_level(std::string_view dtype, const std::vector<std::int64_t>& dims, std::size_t dim, const Node& node,
                  std::string& bytes) {
  if (dim == dims.size()) return append_element(dtype, node, bytes);
  if (!node.is(Kind::kArray) || static_cast<std::int64_t>(node.count) != dims[dim]) return false;
  return std::all_of(node.begin(), node.end(),
                     [&](const Node& item) { return append_level(dtype, dims, dim + 1, item, bytes); });
}

}  // namespace

bool JsonValues::content(const Node& shape, std::string_view dtype, const Node& values, Hash128& hash) {
  std::vector<std::int64_t> dims;
  if (!shape.is(Kind::kArray)) return false;
  for (const Node& dim : shape) {
    const auto number = dim.as_int64();
    if (!number || *number < 0) return false;
    dims.push_back(*number);
  }
  std::string bytes;
  if (!append_level(dtype, dims, 0, values, bytes)) return false;
  capture::Encoder description;
  description.structure("data", 2);
  description.field("dtype");
  description.string(dtype);
  description.field("shape");
  description.list(dims.size());
  for (const std::int64_t dim : dims) description.integer(dim);
  // The same bytes in another shape are another content here: the description goes with the hash.
  hash = xxh128(bytes, xxh64(description.view()));
  writer_.blob(hash, writer_.value(description.view()), bytes);
  return true;
}

}  // namespace opwright::format
