#include "vectors/sweep_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/hash.h"
#include "base/json_write.h"

namespace opwright::vectors {
namespace {

using json::Kind;
using json::Node;

// Only what JSON must escape; letters of all languages stay.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  out += '"';
}

void append(std::string& out, const Node& node) {
  switch (node.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += node.text;
      return;
    case Kind::kNumber:
      json::append_number(out, node.text);
      return;
    case Kind::kString:
      append_string(out, node.text);
      return;
    case Kind::kArray:
      out += '[';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ',';
        append(out, node.items[i]);
      }
      out += ']';
      return;
    case Kind::kObject: {
      out += '{';
      bool first = true;
      for (const json::Field* field : json::sorted_fields(node)) {
        if (!first) out += ',';
        first = false;
        append_string(out, field->key);
        out += ':';
        append(out, field->value);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string compact_sorted(const Node& node) {
  std::string out;
  append(out, node);
  return out;
}

std::string sweep_hash(const Node& vector) {
  const std::string text = compact_sorted(vector);
  std::array<unsigned char, 28> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha224(), nullptr);
  return to_hex(digest.data(), digest.size());
}

}  // namespace opwright::vectors
