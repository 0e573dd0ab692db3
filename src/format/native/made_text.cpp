#include "format/native/made_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_write.h"

namespace opwright::format {
namespace {

using capture::Tag;

void append(std::string& out, const NativeValue& value, bool inside);

void append_float(std::string& out, double real) {
  if (std::isnan(real))
    out += "nan";
  else if (std::isinf(real))
    out += real < 0 ? "-inf" : "inf";
  else
    json::append_float(out, real);
}

void append_bytes(std::string& out, std::string_view bytes) {
  const char quote =
      bytes.find('\'') != std::string_view::npos && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  (out += 'b') += quote;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote)
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  out += quote;
}

void append_items(std::string& out, const NativeValue& value, char open, char close) {
  out += open;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, *value.items[i], true);
  }
  if (value.is(Tag::kTuple) && value.items.size() == 1) out += ',';
  out += close;
}

std::int64_t number_of(const NativeValue* value) {
  return value != nullptr && value->is(Tag::kInt) ? value->number : 0;
}

void append_coord(std::string& out, const NativeValue* coord) {
  fmt::format_to(std::back_inserter(out), "{{\"x\":{},\"y\":{}}}",
                 number_of(coord != nullptr ? coord->find("x") : nullptr),
                 number_of(coord != nullptr ? coord->find("y") : nullptr));
}

void append_shard_spec(std::string& out, const NativeValue& spec, const NativeValue& ranges) {
  out += "ShardSpec{grid=[";
  for (std::size_t i = 0; i < ranges.items.size(); ++i) {
    out += i > 0 ? ", {\"start\":" : "{\"start\":";
    append_coord(out, ranges.items[i]->find("start"));
    out += ",\"end\":";
    append_coord(out, ranges.items[i]->find("end"));
    out += '}';
  }
  out += "], shape=";
  if (const NativeValue* shape = spec.find("shape"))
    append(out, *shape, true);
  else
    out += "[]";
  out += ", orientation=ShardOrientation::";
  const NativeValue* orientation = spec.find("orientation");
  out += orientation != nullptr ? orientation->text : std::string_view("ROW_MAJOR");
  out += '}';
}

void append_mesh(std::string& out, const NativeValue& device) {
  const NativeValue* shape = device.find("shape");
  if (shape == nullptr) shape = device.find("mesh_shape");
  const NativeValue* ids = device.find("device_ids");
  out += "MeshDevice(";
  for (std::size_t i = 0; shape != nullptr && i < shape->items.size(); ++i) {
    if (i > 0) out += 'x';
    out += std::to_string(number_of(shape->items[i]));
  }
  out += fmt::format(" grid, {} devices)", ids != nullptr ? ids->items.size() : 0);
}

void append_struct(std::string& out, const NativeValue& value) {
  const NativeValue* grid = value.find("grid");
  const NativeValue* ranges = grid != nullptr ? grid->find("ranges") : nullptr;
  if (value.type == "ShardSpec" && ranges != nullptr) return append_shard_spec(out, value, *ranges);
  if (value.type == "MeshDevice") return append_mesh(out, value);
  out += value.type;
  out += '(';
  bool first = true;
  for (std::size_t i = 0; i < value.names.size(); ++i) {
    if (value.names[i].starts_with('@')) continue;
    if (!first) out += ", ";
    first = false;
    out += value.names[i];
    out += '=';
    append(out, *value.items[i], true);
  }
  out += ')';
}

void append(std::string& out, const NativeValue& value, bool inside) {
  switch (value.tag) {
    case Tag::kNull:
    case Tag::kRef:
      out += "None";
      return;
    case Tag::kTrue:
      out += "True";
      return;
    case Tag::kFalse:
      out += "False";
      return;
    case Tag::kInt:
      out += std::to_string(value.number);
      return;
    case Tag::kFloat:
      return append_float(out, value.real);
    case Tag::kString:
      if (inside) {
        json::Node node;
        node.kind = json::Kind::kString;
        node.text = value.text;
        return json::append_python_repr(out, node);
      }
      out += value.text;
      return;
    case Tag::kBigInt:
    case Tag::kOpaque:
    case Tag::kCall:
      out += value.text;
      return;
    case Tag::kBytes:
      return append_bytes(out, value.text);
    case Tag::kEnum:
      out += value.type;
      out += '.';
      out += value.text;
      return;
    case Tag::kList:
      return append_items(out, value, '[', ']');
    case Tag::kTuple:
      return append_items(out, value, '(', ')');
    case Tag::kDict:
      out += '{';
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        if (i > 0) out += ", ";
        append(out, *value.items[i], true);
        out += ": ";
        append(out, *value.items[i + 1], true);
      }
      out += '}';
      return;
    case Tag::kStruct:
      return append_struct(out, value);
    case Tag::kTensor:
      out += "ttnn.Tensor";
      return;
  }
}

}  // namespace

std::string made_text(const NativeValue& value) {
  std::string text;
  append(text, value, false);
  return text;
}

}  // namespace opwright::format
