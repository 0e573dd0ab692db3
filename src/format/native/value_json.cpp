#include "format/native/value_json.h"

#include <algorithm>

#include "base/hash.h"
#include "base/json_write.h"
#include "format/native/made_text.h"

namespace opwright::format {
namespace {

using capture::Tag;

bool is_decimal(std::string_view digits) {
  if (digits.starts_with('-')) digits.remove_prefix(1);
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Writer {
 public:
  Writer(std::string& out, const OwnJson& own) : out_(out), own_(own) {}

  void value(const NativeValue& value_at) {
    if (own_.value && own_.value(value_at, out_)) return;
    switch (value_at.tag) {
      case Tag::kNull:
      case Tag::kRef:
        out_ += "null";
        return;
      case Tag::kTrue:
        out_ += "true";
        return;
      case Tag::kFalse:
        out_ += "false";
        return;
      case Tag::kInt:
        out_ += std::to_string(value_at.number);
        return;
      case Tag::kBigInt:
        if (is_decimal(value_at.text))
          out_ += value_at.text;
        else
          json::append_quoted(out_, value_at.text);
        return;
      case Tag::kFloat:
        json::append_float(out_, value_at.real);
        return;
      case Tag::kString:
        return json::append_quoted(out_, value_at.text);
      case Tag::kBytes:
        out_ += "{\"$bytes\": \"";
        out_ += to_hex(reinterpret_cast<const std::uint8_t*>(value_at.text.data()), value_at.text.size());
        out_ += "\"}";
        return;
      case Tag::kEnum:
        return json::append_quoted(out_, made_text(value_at));
      case Tag::kOpaque:
        out_ += "{\"$type\": ";
        json::append_quoted(out_, value_at.type);
        out_ += ", \"text\": ";
        json::append_quoted(out_, value_at.text);
        out_ += '}';
        return;
      case Tag::kTensor:
        return value(*value_at.items[0]);
      case Tag::kList:
      case Tag::kTuple:
        out_ += '[';
        for (std::size_t i = 0; i < value_at.items.size(); ++i) {
          if (i > 0) out_ += ", ";
          value(*value_at.items[i]);
        }
        out_ += ']';
        return;
      case Tag::kDict:
        out_ += '{';
        for (std::size_t i = 0; i + 1 < value_at.items.size(); i += 2) {
          if (i > 0) out_ += ", ";
          json::append_quoted(out_, own_.key ? own_.key(*value_at.items[i]) : made_text(*value_at.items[i]));
          out_ += ": ";
          value(*value_at.items[i + 1]);
        }
        out_ += '}';
        return;
      case Tag::kStruct:
        return structure(value_at);
      case Tag::kCall:
        return json::append_quoted(out_, value_at.text);
    }
  }

 private:
  void structure(const NativeValue& value_at) {
    out_ += "{\"$type\": ";
    json::append_quoted(out_, value_at.type);
    for (std::size_t i = 0; i < value_at.names.size(); ++i) {
      out_ += ", ";
      json::append_quoted(out_, value_at.names[i]);
      out_ += ": ";
      value(*value_at.items[i]);
    }
    out_ += '}';
  }

  std::string& out_;
  const OwnJson& own_;
};

}  // namespace

void append_json(const NativeValue& value, std::string& out, const OwnJson& own) { Writer(out, own).value(value); }

std::string to_json(const NativeValue& value) {
  std::string out;
  append_json(value, out);
  return out;
}

}  // namespace opwright::format
