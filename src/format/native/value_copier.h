// Values of one native trace written into another: ids change, what they say does not.
#pragma once

#include <string_view>
#include <unordered_map>

#include "capture/encoder.h"
#include "format/native/native_trace.h"
#include "format/native/native_writer.h"

namespace opwright {
class ByteReader;
}

namespace opwright::format {

class ValueCopier {
 public:
  ValueCopier(NativeTrace& from, NativeWriter& to) : from_(from), to_(to) {}

  // The id in the new trace, with what it refers to and its printed text; 0 when it is not whole, or 0 itself.
  ValueId copy(ValueId id);
  // Encoded bytes with their ids changed; false when they are not whole.
  bool transcode(std::string_view encoded, capture::Encoder& out);

 private:
  void transcode_one(ByteReader& in, capture::Encoder& out);

  NativeTrace& from_;
  NativeWriter& to_;
  std::unordered_map<ValueId, ValueId> copied_;
};

}  // namespace opwright::format
