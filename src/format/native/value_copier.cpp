#include "format/native/value_copier.h"

#include "base/bytes.h"

namespace opwright::format {

using capture::Tag;

ValueId ValueCopier::copy(ValueId id) {
  if (id == 0 || !from_.values().is_whole(id)) return 0;
  if (const auto known = copied_.find(id); known != copied_.end()) return known->second;
  capture::Encoder encoded;
  ByteReader in(from_.values().encoded(id));
  transcode_one(in, encoded);
  const ValueId copied = to_.value(encoded.view());
  copied_.emplace(id, copied);
  if (const PrintedText* printed = from_.values().printed(id)) to_.text(copied, printed->has_dict, printed->text);
  return copied;
}

bool ValueCopier::transcode(std::string_view encoded, capture::Encoder& out) {
  if (from_.values().decode(encoded) == nullptr) return false;
  ByteReader in(encoded);
  transcode_one(in, out);
  return true;
}

// Of checked bytes only.
void ValueCopier::transcode_one(ByteReader& in, capture::Encoder& out) {
  const auto tag = static_cast<Tag>(in.byte());
  out.tag(tag);
  const auto count = [&](std::size_t least) {
    const std::uint64_t value = in.count(least);
    out.varint(value);
    return value;
  };
  switch (tag) {
    case Tag::kNull:
    case Tag::kTrue:
    case Tag::kFalse:
      return;
    case Tag::kInt:
      return out.varint(in.varint());
    case Tag::kFloat:
      return out.raw(in.raw(8));
    case Tag::kBigInt:
    case Tag::kString:
    case Tag::kBytes:
      return out.text(in.text());
    case Tag::kEnum:
    case Tag::kOpaque:
      out.text(in.text());
      return out.text(in.text());
    case Tag::kList:
    case Tag::kTuple:
      for (std::uint64_t left = count(1); left > 0; --left) transcode_one(in, out);
      return;
    case Tag::kDict:
      for (std::uint64_t left = 2 * count(2); left > 0; --left) transcode_one(in, out);
      return;
    case Tag::kStruct:
      out.text(in.text());
      for (std::uint64_t left = count(2); left > 0; --left) {
        out.text(in.text());
        transcode_one(in, out);
      }
      return;
    case Tag::kTensor:
    case Tag::kRef:
      return out.varint(copy(in.id()));
    case Tag::kCall:
      out.varint(copy(in.id()));
      for (std::uint64_t left = count(1); left > 0; --left) transcode_one(in, out);
      for (std::uint64_t left = count(2); left > 0; --left) {
        out.text(in.text());
        transcode_one(in, out);
      }
      return;
  }
}

}  // namespace opwright::format
